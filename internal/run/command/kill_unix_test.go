//go:build linux || darwin

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// Whenever the command is killed, the destination holds the old file or the complete new one. The moments are spread
// over the time that a run takes.
func TestKilled(t *testing.T) {
	in := trace(t, "cpu-env")
	dir := t.TempDir()
	out := filepath.Join(dir, "out.nettrace")
	args := []string{"to", "nettrace", "-q", "-f", "-o", out, in}
	start := time.Now()
	succeed(t, dir, args...)
	whole := time.Since(start)
	complete := contentAt(t, out)
	old := []byte("the old file")
	const runs = 25
	for i := range runs {
		write(t, dir, "out.nettrace", old)
		cmd := command(t, dir, args...)
		must(t, cmd.Start())
		time.Sleep(whole * time.Duration(i) / runs)
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
		got, err := os.ReadFile(out)
		if err != nil || !bytes.Equal(got, old) && !bytes.Equal(got, complete) {
			t.Fatalf("killed after %v of %v: %d bytes, neither the old %d nor the new %d: %v", whole*time.Duration(i)/runs, whole,
				len(got), len(old), len(complete), err)
		}
	}
	left := regexp.MustCompile(`^\.ntconv-out\.nettrace\.[0-9a-f]{16}\.tmp$`) // as the README says
	for _, name := range files(t, dir) {
		if name != "out.nettrace" && !left.MatchString(name) {
			t.Errorf("left behind: %s", name)
		}
	}
}
