package readable

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A reading is what a source has returned.
type reading struct {
	events int // of KindEvent
	err    error
}

// drain reads a source to its end and checks what holds for every source.
func drain(tb testing.TB, f *formats.Format, src ntconv.Source, err error) (r reading) {
	tb.Helper()
	if err != nil {
		return reading{err: err}
	}
	info := src.Info()
	if info == nil || info != src.Info() || info.Format == "" {
		tb.Errorf("Info returns %p and %p", info, src.Info())
	}
	last := ntconv.Ticks(0)
	poisoned := ntconvtest.Poison(src)
	for r.err == nil {
		var e *ntconv.Event
		if e, r.err = poisoned.Next(); r.err != nil {
			if e != nil {
				tb.Errorf("an event and the error %v", r.err)
			}
			break
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		if e.Type == nil || e.Thread == nil || e.Thread.Process == nil || e.Capture == nil {
			tb.Fatalf("%+v has no type, thread or capture thread", e)
		}
		if f.In.Ordered && r.events > 0 && e.Time < last && e.Flags&ntconv.FlagLate == 0 {
			tb.Fatalf("time %d after %d", e.Time, last)
		}
		last = max(last, e.Time)
		r.events++
	}
	if _, again := src.Next(); again != r.err {
		tb.Errorf("%v, then %v", r.err, again)
	}
	return r
}

// check fails the test unless an error is the end, or has a reason and, if it has a position, one in the input.
func check(tb testing.TB, err error, size int) {
	tb.Helper()
	if err == io.EOF {
		return
	}
	var at *ntconv.FormatError
	if laws.Sentinel(err) == nil || errors.As(err, &at) && (at.Offset < 0 || at.Offset > int64(size)) {
		tb.Errorf("an input of %d bytes: %v", size, err)
	}
}

// each runs a test for every example.
func each(t *testing.T, test func(t *testing.T, x Example, whole reading)) {
	for _, x := range Examples(t) {
		t.Run(x.Format.Name+"/"+x.Name, func(t *testing.T) {
			src, err := Open(x.Format, x.Data, nil)
			whole := drain(t, x.Format, src, err)
			check(t, whole.err, len(x.Data))
			if src != nil {
				if err := Close(src); err != nil {
					t.Error(err)
				}
			}
			test(t, x, whole)
		})
	}
}

// cuts calls f for lengths of beginnings of an input: some hundred, and all of a small one if tests run in full.
func cuts(size int, f func(n int)) {
	step := 1 + size/150
	if size < 10_000 && corpus.Nightly() {
		step = 1
	}
	for n := 0; n < size; n += step {
		f(n)
	}
}

// TestExamples checks that reading needs no more memory than is in proportion to the input, that a source can be closed
// at any time, and that it then has no temporary files.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	allocs := laws.NewAllocs()
	each(t, func(t *testing.T, x Example, whole reading) {
		for n := range 3 {
			allocs.Reset()
			src, err := Open(x.Format, x.Data, nil)
			if err != nil {
				if err.Error() != whole.err.Error() {
					t.Errorf("%v, then %v", whole.err, err)
				}
				return
			}
			for i := 0; i < n && err == nil; i++ {
				_, err = src.Next()
			}
			if took := allocs.Bytes(); took > 64<<20+64*uint64(len(x.Data)) {
				t.Errorf("%d bytes are allocated for the first events of %d bytes", took, len(x.Data))
			}
			if _, ok := src.(ntconv.SourceCloser); !ok {
				return
			}
			for range 2 {
				if err := Close(src); err != nil {
					t.Error(err)
				}
			}
			if _, again := src.Next(); err == nil && !errors.Is(again, fs.ErrClosed) || err != nil && again != err {
				t.Errorf("%v, closed after %d events: %v", err, n, again)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("temporary files: %v, %v", left, err)
		}
	})
}

// TestEmpty reads nothing: that is a trace without events, or not of the format.
func TestEmpty(t *testing.T) {
	for _, f := range formats.Readable() {
		src, err := Open(f, nil, nil)
		if r := drain(t, f, src, err); r.events > 0 {
			t.Errorf("%s: %d events", f.Name, r.events)
		} else {
			check(t, r.err, 0)
		}
	}
}

// TestTruncated reads beginnings of inputs. A beginning of an object in JSON is truncated where it ends.
func TestTruncated(t *testing.T) {
	each(t, func(t *testing.T, x Example, whole reading) {
		object := json.Valid(x.Data) && x.Data[0] == '{'
		end := len(bytes.TrimRight(x.Data, " \n"))
		cuts(end, func(n int) {
			src, err := Open(x.Format, x.Data[:n], nil)
			r := drain(t, x.Format, src, err)
			if check(t, r.err, n); src != nil {
				defer Close(src)
			}
			var at *ntconv.FormatError
			if object && n > 0 && (!errors.Is(r.err, ntconv.ErrTruncated) || !errors.As(r.err, &at) || at.Offset != int64(n)) {
				t.Errorf("%d bytes: %v", n, r.err)
			}
		})
	})
}

// TestChops checks that the events do not depend on the sizes of reads.
func TestChops(t *testing.T) {
	each(t, func(t *testing.T, x Example, whole reading) {
		for _, r := range ntconvtest.Chops(x.Data) {
			src, err := OpenStream(x.Format, r, nil)
			if errors.Is(err, errors.ErrUnsupported) {
				return
			}
			if got := drain(t, x.Format, src, err); got.events != whole.events || got.err.Error() != whole.err.Error() {
				t.Errorf("%d events, %v; want %d, %v", got.events, got.err, whole.events, whole.err)
			}
			if src != nil {
				Close(src)
			}
		}
	})
}

// TestBrokenReader checks that the error of a reader is returned, after the events that precede it, and that no more is
// read.
func TestBrokenReader(t *testing.T) {
	lost := errors.New("connection lost")
	each(t, func(t *testing.T, x Example, whole reading) {
		cuts(len(x.Data), func(n int) {
			in := &counter{r: io.MultiReader(bytes.NewReader(x.Data[:n]), iotest.ErrReader(lost))}
			src, err := OpenStream(x.Format, in, nil)
			if errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, lost) {
				return
			}
			r := drain(t, x.Format, src, err)
			if src != nil {
				defer Close(src)
			}
			// An input that is wrong before the error is reported as such.
			if !errors.Is(r.err, lost) && (laws.Sentinel(r.err) == nil || whole.err == io.EOF) || in.failed > 1 {
				t.Errorf("after %d of %d bytes: %v, %d reads after the error", n, len(x.Data), r.err, in.failed-1)
			}
		})
	})
}

// A counter counts the reads that fail.
type counter struct {
	r      io.Reader
	failed int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if err != nil && err != io.EOF {
		c.failed++
	}
	return n, err
}

// A repeated is a reader of one byte without end.
type repeated byte

func (r repeated) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

// wholeInputs are formats that are read into memory as a whole, up to a limit on the size.
var wholeInputs = map[string]bool{"pprof": true}

// TestEndless checks that a value without an end is an error once it exceeds its share of the memory, and that readers
// which can skip it hold nothing of it.
func TestEndless(t *testing.T) {
	const size, share = 10 << 20, 4 << 20
	lost := errors.New("connection lost")
	tested := map[string]int{}
	each(t, func(t *testing.T, x Example, whole reading) {
		if tested[x.Format.Name]++; wholeInputs[x.Format.Name] || tested[x.Format.Name] > 2 {
			return
		}
		for i := range 5 {
			endless := io.MultiReader(io.LimitReader(repeated("x1[ \""[i]), size), iotest.ErrReader(lost))
			in := io.MultiReader(bytes.NewReader(x.Data[:len(x.Data)*(1+i)/6]), endless)
			before := live()
			src, err := OpenStream(x.Format, in, &formats.ReadOptions{Memory: share, Report: new(ntconv.Report)})
			if errors.Is(err, errors.ErrUnsupported) {
				return
			}
			r := drain(t, x.Format, src, err)
			if held := int64(live() - before); errors.Is(r.err, lost) && held > 2*share {
				t.Errorf("after %d bytes: %d bytes of %d are in memory", len(x.Data)*(1+i)/6, held, size)
			} else if !errors.Is(r.err, lost) {
				check(t, r.err, len(x.Data)+size)
			}
			if src != nil {
				Close(src)
			}
		}
	})
}

// live returns the bytes of the live heap.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDepth checks that the limit on the depth of stacks truncates deeper stacks and counts them.
func TestDepth(t *testing.T) {
	each(t, func(t *testing.T, x Example, whole reading) {
		depth := func(limit int) (deepest, deeper int, report *ntconv.Report) {
			o := &formats.ReadOptions{Report: new(ntconv.Report)}
			o.Limits.StackDepth = limit
			src, err := Open(x.Format, x.Data, o)
			for err == nil {
				var e *ntconv.Event
				if e, err = src.Next(); err == nil && e.Stack != nil {
					n := max(len(e.Stack.Frames), len(e.Stack.PCs))
					if deepest = max(deepest, n); n > 2 {
						deeper++
					}
				}
			}
			if src != nil {
				Close(src)
			}
			return deepest, deeper, o.Report
		}
		_, want, _ := depth(0)
		deepest, _, report := depth(2)
		if got := report.Count(ntconv.CodeStackCut); deepest > 2 || (got > 0) != (want > 0) {
			t.Errorf("%d frames; %d stacks are truncated, %d are deeper", deepest, got, want)
		}
	})
}

// FuzzSources reads any input as every format, and checks what holds for every source.
func FuzzSources(f *testing.F) {
	table := formats.Readable()
	for _, x := range Examples(f) {
		for i := range table {
			if table[i].Name == x.Format.Name && len(x.Data) < 20_000 {
				f.Add(uint8(i), x.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		format := table[int(i)%len(table)]
		o := &formats.ReadOptions{Memory: 1 << 20, Report: new(ntconv.Report)}
		o.Limits.StackDepth, o.Limits.TableBytes, o.Limits.Threads = 100, 1<<20, 1000
		src, err := Open(format, data, o)
		r := drain(t, format, src, err)
		if check(t, r.err, len(data)); src != nil {
			if err := Close(src); err != nil {
				t.Error(err)
			}
		}
	})
}

// BenchmarkSources reads every example of at least 10 kB.
func BenchmarkSources(b *testing.B) {
	for _, x := range Examples(b) {
		if len(x.Data) < 10_000 {
			continue
		}
		b.Run(x.Format.Name+"/"+x.Name, func(b *testing.B) {
			b.SetBytes(int64(len(x.Data)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				src, err := Open(x.Format, x.Data, nil)
				events += drain(b, x.Format, src, err).events
				if err := Close(src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// BenchmarkSinks writes a trace in every format.
func BenchmarkSinks(b *testing.B) {
	trace := corpus.Trace(b, "cpu-env").Data
	for _, f := range formats.Writable() {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, f, trace, filepath.Join(b.TempDir(), "out"+f.Exts[0]))
			}
		})
	}
}
