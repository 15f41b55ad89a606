package split_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
	"pgregory.net/rapid"
)

// A counter counts the bytes that are written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// sinkOf returns the sink for a part.
func sinkOf(w io.Writer, info *ntconv.Info, p split.Part) (ntconv.Sink, error) {
	return sinkWithBlocks(w, info, p, 4096)
}

func sinkWithBlocks(w io.Writer, info *ntconv.Info, p split.Part, size int) (ntconv.Sink, error) {
	c := *info
	c.Attrs = append(append(ntconv.Attrs{}, info.Attrs...), p.Attrs()...)
	return writer.New(w, &c, &writer.Options{Ordered: p.ByTime, Renumber: true, AllowLarge: true, BlockBytes: size})
}

// A source opens a trace once more.
type source func(t *testing.T) ntconv.Source

func readTrace(data []byte, order reader.Order) source {
	return func(t *testing.T) ntconv.Source {
		t.Helper()
		src, err := reader.NewBytes(data, &reader.Options{Order: order})
		if err != nil {
			t.Fatal(err)
		}
		return ntconvtest.Poison(src)
	}
}

// divide splits a trace. It ignores errors of the source, as the command does.
func divide(t *testing.T, open source, every string, order reader.Order) (parts [][]byte, counts split.Counts) {
	t.Helper()
	e, err := split.ParseEvery(every)
	if err != nil {
		t.Fatal(err)
	}
	src := open(t)
	scan, err := split.NewScan(src.Info(), e, order == reader.ByTime, func() (ntconv.Sink, func() int64, error) {
		c := &counter{}
		sink, err := sinkOf(c, src.Info(), split.Part{})
		return sink, func() int64 { return c.n }, err
	})
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, scan, src)
	if err := scan.Close(); err != nil {
		t.Fatal(err)
	}
	var buffers []*bytes.Buffer
	src = open(t)
	s, err := split.New(src.Info(), scan, &split.Options{
		Create: func(p split.Part) (ntconv.Sink, error) {
			buffers = append(buffers, &bytes.Buffer{})
			if p.Number != len(buffers) || p.Count != scan.Parts() {
				t.Errorf("part %d of %d, want %d of %d", p.Number, p.Count, len(buffers), scan.Parts())
			}
			return sinkOf(buffers[len(buffers)-1], src.Info(), p)
		},
		Part: split.Part{ID: "test", Every: every, ByTime: order == reader.ByTime},
	})
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, s, src)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, b := range buffers {
		parts = append(parts, b.Bytes())
	}
	if len(parts) != scan.Parts() {
		t.Errorf("%d parts, want %d", len(parts), scan.Parts())
	}
	return parts, s.Counts()
}

// copyAll copies a source to its end or to its error.
func copyAll(t *testing.T, sink ntconv.Sink, src ntconv.Source) {
	t.Helper()
	var of *ntconv.SourceError
	if _, err := ntconv.Copy(sink, src); err != nil && !errors.As(err, &of) {
		t.Fatal(err)
	}
}

// joined reads the parts in another order than theirs.
func joined(t *testing.T, parts [][]byte) *split.Joined {
	t.Helper()
	var sources []ntconv.Source
	for i := range parts {
		src := readTrace(parts[len(parts)-1-i], reader.FileOrder)(t)
		sources = append(sources, src)
	}
	j, err := split.Join(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// rewrite writes a source as nettrace, as ntconv merge does.
func rewrite(t *testing.T, src ntconv.Source, order reader.Order) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := writer.New(&b, src.Info(), &writer.Options{Ordered: order == reader.ByTime, AllowLarge: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ntconv.Copy(w, src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// equal compares a source with the original.
func equal(t *testing.T, what string, open source, got ntconv.Source, order reader.Order) {
	t.Helper()
	if err := compare(open(t), got, order); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func compare(a, b ntconv.Source, order reader.Order) error {
	_, err := tracecmp.Streams(a, b, &tracecmp.Options{EmptyMarks: true, Sorted: order == reader.ByTime, Errors: true})
	return err
}

// everyKind returns a division of each kind, with at most a few dozen parts.
func everyKind(tr corpus.File) []string {
	list := []string{"50ms", "40KB", "process", "$tid", "$provider, $id", "$event == \"GCStart\""}
	if len(tr.Data) > 1<<20 {
		list[0], list[1] = "1s", fmt.Sprint(len(tr.Data)/6, "B")
	}
	return list
}

// Joining the parts of a trace yields the trace, in both orders, for every kind of division; so does the file that
// is written from them.
func TestJoinOfSplitIsTheTrace(t *testing.T) {
	traces := corpus.Traces(t)
	if corpus.Nightly() {
		if _, err := corpus.Find("data"); err == nil {
			traces = append(traces, corpus.SharedTraces(t)...)
		}
	}
	for _, tr := range traces {
		for _, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			for _, every := range everyKind(tr) {
				t.Run(fmt.Sprint(tr.Name, "/", every, "/", order), func(t *testing.T) {
					checkLaw(t, tr, every, order)
				})
			}
		}
	}
}

func checkLaw(t *testing.T, tr corpus.File, every string, order reader.Order) {
	open := readTrace(tr.Data, order)
	if _, err := reader.NewBytes(tr.Data, nil); err != nil {
		t.Fatal(err)
	}
	parts, counts := divide(t, open, every, order)
	t.Logf("%d parts, %+v", len(parts), counts)
	j := joined(t, parts)
	equal(t, "joined", open, j, order)
	again := rewrite(t, joined(t, parts), order)
	equal(t, "written", open, readTrace(again, order)(t), order)
}

// The law holds for generated traces: with losses, marks, threads that end, numbers that the recorder has not counted,
// types of equal content, and blocks of unknown kind.
func TestJoinOfGeneratedSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tr := eventgen.Traces().Draw(r, "trace")
		var b bytes.Buffer
		w, err := writer.New(&b, tr.Source().Info(), &writer.Options{AllowLarge: true})
		if err != nil {
			r.Skip(err)
		}
		src := tr.Source()
		for e, err := range ntconv.Events(src) {
			if err != nil {
				r.Fatal(err)
			}
			_ = w.Write(e) // what the format cannot represent is not part of the trace
		}
		if err := w.Close(); err != nil {
			r.Fatal(err)
		}
		order := rapid.SampledFrom([]reader.Order{reader.ByTime, reader.FileOrder}).Draw(r, "order")
		every := rapid.SampledFrom([]string{"1ns", "7ns", "1us", "1ms", "4096B", "process", "$tid", "$id", "$cpu", "$id == 1", "$tid > 3"}).Draw(r, "every")
		open := readTrace(b.Bytes(), order)
		parts, _ := divide(t, open, every, order)
		if err := compare(open(t), joined(t, parts), order); err != nil {
			r.Fatalf("joined: %v", err)
		}
		again := rewrite(t, joined(t, parts), order)
		if err := compare(open(t), readTrace(again, order)(t), order); err != nil {
			r.Fatalf("written: %v", err)
		}
		if t.Failed() {
			r.FailNow()
		}
	})
}

// FuzzJoin joins a corrupt part and an intact one. Join ends, stays failed, and returns no event without a type or a
// thread.
func FuzzJoin(f *testing.F) {
	tr := corpus.Trace(f, "three-processes-v6")
	t := new(testing.T)
	parts, _ := divide(t, readTrace(tr.Data, reader.ByTime), "process", reader.ByTime)
	small, _ := divide(t, readTrace(corpus.Trace(f, "threads-reused").Data, reader.FileOrder), "$tid", reader.FileOrder)
	for _, list := range [][][]byte{parts, small} {
		for _, p := range list {
			f.Add(p[:min(len(p), 20_000)], list[0])
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var sources []ntconv.Source
		for _, data := range [][]byte{a, b} {
			src, err := reader.NewBytes(data, &reader.Options{Order: reader.FileOrder})
			if err != nil {
				return
			}
			sources = append(sources, ntconvtest.Poison(src))
		}
		j, err := split.Join(sources...)
		if err != nil {
			return
		}
		j.Missing()
		for {
			e, err := j.Next()
			if err != nil {
				if _, again := j.Next(); again != err {
					t.Fatalf("error %v after %v", again, err)
				}
				return
			}
			if e.Kind == ntconv.KindEvent && (e.Type == nil || e.Thread == nil || e.Capture == nil || recording.IsReplica(e)) {
				t.Fatalf("event %+v", *e)
			}
		}
	})
}

// FuzzParseEvery checks that each accepted text divides any trace into parts with ascending numbers.
func FuzzParseEvery(f *testing.F) {
	for _, text := range []string{"10s", "1h2m", "100MB", "4KiB", "process", "$tid, $cpu", "Size > 3", "has(x)", "", "-1s", "9999999h", "1e30GB", ".5G", "$label.x"} {
		f.Add(text)
	}
	data := corpus.Trace(f, "empty").Data
	f.Fuzz(func(t *testing.T, text string) {
		e, err := split.ParseEvery(text)
		if err != nil {
			return
		}
		if e.Size > 0 && e.Size < 4096 || e.Time < 0 || e.String() != text {
			t.Fatalf("%q: %+v", text, e)
		}
		parts, _ := divide(t, readTrace(data, reader.ByTime), text, reader.ByTime)
		if len(parts) == 0 {
			t.Fatalf("%q: no parts", text)
		}
	})
}
