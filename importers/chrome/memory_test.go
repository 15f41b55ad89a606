package chrome_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/ntconv/ntconv/importers/chrome"
)

// A stream is a file of a given size that is generated as it is read.
type stream struct {
	left int
	n    int
	text []byte
}

func (s *stream) Read(b []byte) (n int, err error) {
	if len(s.text) == 0 && s.left <= 0 {
		return 0, io.EOF
	}
	if len(s.text) == 0 {
		s.n++
		s.text = fmt.Appendf(s.text[:0], `,{"ph":"X","cat":"c","name":"work%d","pid":1,"tid":%d,"ts":%d.125,"dur":5,"args":{"number":%d,"text":"some text"}}`, s.n%100, s.n%8, s.n, s.n)
		if s.n == 1 {
			s.text[0] = '['
		}
		s.left -= len(s.text)
	}
	n = copy(b, s.text)
	s.text = s.text[n:]
	return n, nil
}

// TestMemoryIsFlat checks that the memory of a source does not depend on the number of events.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: reads 160 MiB")
	}
	live := func(size int) int64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		src, err := chrome.New(&stream{left: size}, &chrome.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if _, err := src.Next(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	small, large := live(40<<20), live(120<<20)
	t.Logf("%d bytes for 40 MiB, %d bytes for 120 MiB", small, large)
	if large > small+4<<20 || large > 48<<20 {
		t.Errorf("%d bytes are live after 40 MiB, %d after 120 MiB", small, large)
	}
}
