package command

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// An interruption in the last moments of the command reports the state of the output.
func TestInterruptedAtTheEnd(t *testing.T) {
	in, dir := trace(t, "cpu-env"), t.TempDir()
	for _, out := range []string{filepath.Join(dir, "x.nettrace"), os.DevNull} {
		a := newApp(io.Discard, io.Discard)
		root := a.command(nil)
		root.SetArgs([]string{"to", "nettrace", in, "-f", "-o", out})
		must(t, root.Execute())
		a.memory.Stop()
		say := a.interruptMessage.Load()
		if say == nil || (*say)() != "interrupted after the output was completed" {
			t.Errorf("%s: no word for an interrupt after the output", out)
		}
	}
}
