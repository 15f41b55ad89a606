package fileio

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// child runs this test binary as a process that writes to dest; see childMain.
func child(mode, dest string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "IOX_CHILD="+mode, "IOX_CHILD_DEST="+dest)
	cmd.Stderr = os.Stderr
	return cmd
}

// A process that is killed leaves the old file and a temporary one that the next run recognizes and, an hour
// later, removes.
func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	dest := filepath.Join(dir, "out.parquet")
	os.WriteFile(dest, []byte("old"), 0o600)
	cmd := child("hang", dest)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if live := temps(t, dir); len(live) == 1 && RemovesOpenFiles {
		makeOld(t, live[0])
		if err := create(t, dest, OutputOptions{Force: true}).Abort(); err != nil || len(temps(t, dir)) != 1 {
			t.Errorf("the temporary file of a live process was removed; %v", err)
		}
		os.Chtimes(live[0], time.Now(), time.Now())
	}
	killed := cmd.Process.Kill()
	cmd.Wait()
	if strings.TrimSpace(line) != "ready <nil>" || killed != nil {
		t.Fatalf("child said %q; killed: %v", line, killed)
	}
	left := temps(t, dir)
	if content(t, dest) != "old" || len(left) != 1 || !isTemp(filepath.Base(left[0]), "out.parquet") {
		t.Fatalf("destination %q, left %q", content(t, dest), left)
	}

	// Fresh, it may belong to a run in progress.
	if err := create(t, dest, OutputOptions{Force: true}).Abort(); err != nil {
		t.Fatal(err)
	}
	if len(temps(t, dir)) != 1 {
		t.Error("a fresh temporary file was removed")
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left[0], old, old); err != nil {
		t.Fatal(err)
	}
	o := create(t, dest, OutputOptions{Force: true})
	o.Write([]byte("new"))
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if rest := temps(t, dir); content(t, dest) != "new" || len(rest) != 0 {
		t.Errorf("destination %q, left %q", content(t, dest), rest)
	}
}

// The kernel stops the file in the middle of a buffer: the old file stays and the message says how far it got.
func TestFileSizeLimit(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("file size limits are set on linux and darwin only")
	}
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	os.WriteFile(dest, []byte("old"), 0o600)
	got, err := child("fsize", dest).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "commit: " + dest + ": write after 307200 bytes: file too large\n"
	if left := temps(t, dir); string(got) != want || content(t, dest) != "old" || len(left) != 0 {
		t.Errorf("child said %q, want %q; destination %q, left %q", got, want, content(t, dest), left)
	}
}
