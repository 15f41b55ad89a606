package chrome_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// A part is a file in memory.
type part struct {
	bytes.Buffer
	closed bool
}

func (p *part) Close() error {
	p.closed = true
	return nil
}

// split writes a trace as parts.
func split(t *testing.T, data []byte, size int64, o chrome.Options) ([]*part, chrome.Summary) {
	t.Helper()
	var parts []*part
	o.TempDir = t.TempDir()
	src, names := timelines.Open(t, data)
	sink := chrome.NewSplit(func(n int) (io.WriteCloser, error) {
		parts = append(parts, new(part))
		if n != len(parts) {
			t.Fatalf("part %d is created as number %d", len(parts), n)
		}
		return parts[n-1], nil
	}, size, src.Info(), names, &o)
	timelines.Write(t, src, sink)
	return parts, sink.Summary()
}

// TestSplit: each part is complete in itself, and together they contain what one file contains.
func TestSplit(t *testing.T) {
	for _, form := range []chrome.Samples{chrome.V8, chrome.Slices} {
		timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
			whole, _ := exported(t, file.Data, chrome.Options{Samples: form})
			wanted := check
			if form == chrome.V8 { // TestTraces checks it
				wanted = count
			}
			want := wanted(t, parse(t, whole))
			parts, s := split(t, file.Data, int64(len(whole))/5+1, chrome.Options{Samples: form})
			if s.Parts != len(parts) {
				t.Fatalf("%d parts, summary %+v", len(parts), s)
			}
			got := found{weights: map[string]int64{}}
			for i, p := range parts {
				if !p.closed {
					t.Errorf("part %d was not closed", i+1)
				}
				f := check(t, parse(t, p.Bytes()))
				got.slices += f.slices
				got.lanes += f.lanes
				got.instants += f.instants
				got.counters += f.counters
				got.flows += f.flows
				got.losses += f.losses
				got.unfinished += f.unfinished
				for key, w := range f.weights {
					got.weights[key] += w
				}
			}
			if form == chrome.V8 {
				compare(t, got, s)
			}
			// At a cut a sample ends when it ends to count, which may be a tenth of its time before the next one, see
			// v8Sampler.end.
			slack := int64(len(parts)) * 101_000
			for key, w := range want.weights {
				if strings.HasSuffix(key, "(root)") || strings.HasSuffix(key, "(idle)") {
					continue // the time between the last sample of a part and the first one of the next has no sample
				}
				if diff := got.weights[key] - w; diff > slack || -diff > slack {
					t.Errorf("%s: %d ns in %d parts, want %d ns", key, got.weights[key], len(parts), w)
				}
			}
		})
	}
}

// TestSplitFails: a part that cannot be written is an error, and nothing more is written.
func TestSplitFails(t *testing.T) {
	full := errors.New("disk full")
	for _, fail := range []int{1, 2} {
		sink := chrome.NewSplit(func(n int) (io.WriteCloser, error) {
			if n == fail {
				return nil, full
			}
			return new(part), nil
		}, 1, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, &chrome.Options{Options: track.Options{TempDir: t.TempDir()}})
		thread := &ntconv.Thread{TID: 1}
		for i := range 3 {
			e := &ntconv.Event{Type: &ntconv.Type{Provider: "P", Name: "E"}, Thread: thread, Capture: thread, Time: ntconv.Ticks(1 + i)}
			if err := sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); !errors.Is(err, full) {
			t.Errorf("part %d: %v", fail, err)
		}
		if err := sink.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	}
}
