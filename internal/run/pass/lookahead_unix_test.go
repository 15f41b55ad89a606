//go:build unix

package pass_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// An input that can be read only once is read to its end, even if an event shows that a Lookahead is needed.
func TestAheadOfPipe(t *testing.T) {
	path := corpus.Path("cpu-env.nettrace.zst")
	want := newLookout(t, isSample).do(open(t, path))
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	data := corpus.Read(t, path)
	go func() { _ = os.WriteFile(pipe, data, 0o600) }() // the test fails if not all of it arrives
	l := newLookout(t, isSample)
	if n := l.do(open(t, pipe)); len(n) != 1 || n[0] != want[1] || l.begun != 0 || !l.unlearned {
		t.Errorf("%d samples, want %d; %d readings ahead", n, want[1], l.begun)
	}
}
