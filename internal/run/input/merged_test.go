package input_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

// recording returns a trace of n events, one per second from a given time on.
func recording(t *testing.T, start time.Time, n int, value byte) []byte {
	t.Helper()
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: start}, PointerSize: 8}
	thread := &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 6}}
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	var b bytes.Buffer
	w, err := writer.New(&b, info, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := &ntconv.Event{Type: typ, Thread: thread, Capture: thread, Seq: uint32(i + 1), Time: ntconv.Ticks(i) * 1e9,
			Payload: []byte{value}, CPU: ntconv.CPUUnknown}
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Inputs with the same events are reported, and so are gaps that are longer than the recordings. Other inputs are not.
func TestMergeNotes(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		inputs [][]byte
		want   []string // prefixes of the notes
	}{
		{"the same recording", [][]byte{recording(t, start, 61, 1), recording(t, start, 61, 1)}, []string{"0 and 1 hold the same events"}},
		{"another payload", [][]byte{recording(t, start, 61, 1), recording(t, start, 61, 2)}, nil},
		{"another length", [][]byte{recording(t, start, 61, 1), recording(t, start, 60, 1)}, nil},
		{"the first and the third", [][]byte{recording(t, start, 61, 1), recording(t, start, 60, 1), recording(t, start, 61, 1)}, []string{"0 and 2 hold"}},
		{"13 hours apart", [][]byte{recording(t, start, 121, 1), recording(t, start.Add(13*time.Hour), 61, 1)},
			[]string{"12h58m0s of the 13h1m0s from the first to the last event are gaps"}},
		{"in any order", [][]byte{recording(t, start.Add(13*time.Hour), 61, 1), recording(t, start, 121, 1)}, []string{"12h58m0s of the 13h1m0s"}},
		{"days apart", [][]byte{recording(t, start, 61, 1), recording(t, start.Add(72*time.Hour), 61, 2)}, []string{"2 days of the 3 days"}},
		{"as many days", [][]byte{recording(t, start, 61, 1), recording(t, start.Add(60*time.Hour), 61, 2)}, []string{"nearly all of the 2 days"}},
		{"a gap that is shorter than the recordings", [][]byte{recording(t, start, 601, 1), recording(t, start.Add(20*time.Minute), 601, 1)}, nil},
		{"one within the other", [][]byte{recording(t, start, 601, 1), recording(t, start.Add(time.Minute), 61, 1)}, nil},
		{"no wall clock", [][]byte{recording(t, time.Time{}, 61, 1), recording(t, start, 61, 2)}, nil},
		{"alone", [][]byte{recording(t, start, 61, 1)}, nil},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		var names []string
		for i, data := range c.inputs {
			names = append(names, string(rune('0'+i)))
			if err := os.WriteFile(names[i], data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		in, err := input.Open(names, &input.Options{Openers: new(formats.Openers)})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // each pass starts counting at 0
			src, end, err := in.Source(new(formats.ReadOptions))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ntconvtest.Record(src); err != nil {
				t.Fatal(err)
			}
			end.Close()
		}
		notes := in.MergeNotes()
		in.Close()
		if len(notes) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, notes, c.want)
			continue
		}
		for i, n := range notes {
			if !strings.HasPrefix(n, c.want[i]) {
				t.Errorf("%s: %q, want %q", c.name, n, c.want[i])
			}
		}
	}
}

// One file under two names is rejected.
func TestSameFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a", recording(t, time.Time{}, 1, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("a", "b"); err != nil {
		t.Skip(err)
	}
	abs, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"a", "./a", abs, "b"} {
		in, err := input.Open([]string{"a", other}, &input.Options{Openers: new(formats.Openers)})
		if err == nil {
			in.Close()
			t.Errorf("%s: not refused", other)
		} else if want := other + ": same file as a; name each input once"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
