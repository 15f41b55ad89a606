package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestTrailing checks that bytes after the end of a trace never change its events. Zeros are not reported, another
// trace is an error with the next step, and all other bytes are counted with their offset.
func TestTrailing(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range corpus.Traces(t) {
		r, want, err := readAll(f.Data, &Options{Report: &ntconv.Report{}})
		if err != nil || seen[r.Info().Format] {
			continue
		}
		seen[r.Info().Format] = true
		size := len(f.Data)
		zeros := strings.Repeat("\x00", 100_000)
		for name, c := range map[string]struct {
			after string
			count int  // of CodeTrailing
			trace bool // another trace follows
		}{
			"nothing":         {"", 0, false},
			"zeros":           {zeros, 0, false},
			"one byte":        {"x", 1, false},
			"part of a magic": {"Nettrac", 7, false},
			"much":            {strings.Repeat("junk", 100_000), 400_000, false},
			"after zeros":     {zeros + "junk" + zeros, 4 + len(zeros), false},
			"the same":        {string(f.Data), size, true},
			"only a header":   {"Nettrace\x00\x00\x00\x00", 12, true},
			"next version":    {"Nettrace\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00", 20, true},
			"netperf":         {"\x14\x00\x00\x00!FastSerialization.1", 24, true},
			"zeros, trace":    {zeros + string(f.Data), size, true},
		} {
			for _, o := range []Options{{}, {Order: FileOrder}, {Strict: true}, {Live: true}} {
				t.Run(fmt.Sprintf("%s/%s/%v/%v/%v", r.Info().Format, name, o.Order, o.Strict, o.Live), func(t *testing.T) {
					if o.Live { // what follows is not read
						c.count, c.trace = 0, false
					}
					o.Report = &ntconv.Report{}
					_, got, err := readAll([]byte(string(f.Data)+c.after), &o)
					if len(got) != len(want) {
						t.Errorf("%d events, want %d", len(got), len(want))
					}
					at := int64(size + len(c.after) - len(strings.TrimLeft(c.after, "\x00")))
					if c.trace {
						var place *ntconv.FormatError
						if !errors.Is(err, ntconv.ErrUnsupported) || !errors.As(err, &place) || place.Offset != at ||
							!strings.Contains(err.Error(), fmt.Sprintf("head -c %d and tail -c +%d ", size, at+1)) {
							t.Errorf("error %v", err)
						}
					} else if err != nil {
						t.Errorf("error %v", err)
					}
					for _, e := range o.Report.Entries() {
						if e.Code == ntconv.CodeTrailing && (int(e.Count) != c.count || e.Offset != at) {
							t.Errorf("reported: %v", e)
						}
					}
					if n := o.Report.Count(ntconv.CodeTrailing); int(n) != c.count {
						t.Errorf("%d bytes counted, want %d", n, c.count)
					}
				})
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("only the formats %v", seen)
	}
}

// TestTrailingCompressed checks that gzip members form one input, so the reader notices another trace in the second
// member and verifies a checksum after the end of the trace.
func TestTrailingCompressed(t *testing.T) {
	data := corpus.Traces(t)[0].Data
	compressed := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	one := compressed(data)
	if _, _, err := readAll(append(bytes.Clone(one), one...), nil); !errors.Is(err, ntconv.ErrUnsupported) {
		t.Errorf("two members: %v", err)
	}
	if _, _, err := readAll(append(bytes.Clone(one), make([]byte, 1000)...), nil); err != nil {
		t.Errorf("a member and zeros: %v", err)
	}
	wrong := bytes.Clone(one)
	wrong[len(wrong)-8]++
	if _, _, err := readAll(wrong, nil); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("wrong checksum: %v", err)
	}
}

// TestTrailingWait checks that a live stream that stays open delays only the end of the trace, not its last event.
func TestTrailingWait(t *testing.T) {
	data := corpus.Traces(t)[0].Data
	_, want, err := readAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	pr, pw := io.Pipe()
	events, done := make(chan int), make(chan error)
	go func() {
		r, err := New(pr, nil)
		for n := 1; err == nil; n++ {
			if _, err = r.Next(); err == nil && n == len(want) {
				events <- n
			}
		}
		done <- err
	}()
	if _, err := pw.Write(data); err != nil {
		t.Fatal(err)
	}
	<-events // all of them have come, though nothing says that the stream ends here
	pw.Close()
	if err := <-done; err != io.EOF {
		t.Error(err)
	}
}
