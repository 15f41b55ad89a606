package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pprofile "github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

const trace = "../testdata/cpu-env.nettrace.zst"

// countAll returns how many events a source has.
func countAll(t *testing.T, src ntconv.Source) (n int64) {
	t.Helper()
	n, err := ntconv.Copy(ntconv.Tee(), src)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// decompressed returns the content of a compressed trace.
func decompressed(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "plain.nettrace")
	if _, err := convert.File(t.Context(), out, nil, nil, trace); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFormats writes a file of each format and opens it: Open recognizes it regardless of its name.
func TestFormats(t *testing.T) {
	readable, writable := convert.Formats()
	dir := t.TempDir()
	for _, format := range writable {
		in := trace
		if format == "otlp" {
			in = "../testdata/spans-stop.nettrace.zst"
		}
		if format == "prometheus" {
			in = "../testdata/counters.nettrace.zst"
		}
		name := filepath.Join(dir, format+".out")
		res, err := convert.File(t.Context(), name, nil, &convert.Output{Format: format}, in)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if res.Format != format || res.Events == 0 || res.Selected != res.Events || res.Summary == "" {
			t.Errorf("%s: %+v", format, res)
		}
		if !slices.Contains(readable, format) {
			continue
		}
		src, err := convert.Open(t.Context(), name, nil)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if n := countAll(t, src); src.Format() != format || n == 0 {
			t.Errorf("%s is opened as %s with %d events", format, src.Format(), n)
		}
		src.Close()
	}
}

// TestSelection checks selections of events from Open against a loop over all events.
func TestSelection(t *testing.T) {
	all, err := reader.New(open(t, trace), nil)
	if err != nil {
		t.Fatal(err)
	}
	events, err := ntconvtest.Record(all)
	if err != nil {
		t.Fatal(err)
	}
	clock := all.Info().Clock
	var last ntconv.Ticks
	for _, e := range events {
		if e.Kind == ntconv.KindEvent {
			last = max(last, e.Time)
		}
	}
	tid := events[len(events)/2].Thread.TID
	at := clock.Time(last).Add(-100 * time.Millisecond)
	since := func(e *ntconv.Event, d time.Duration) bool { return time.Duration(clock.Nanos(e.Time)) >= d }
	for name, c := range map[string]struct {
		sel  convert.Selection
		keep func(*ntconv.Event) bool
	}{
		"all":      {convert.Selection{}, func(*ntconv.Event) bool { return true }},
		"provider": {convert.Selection{Providers: []string{"*SampleProfiler"}}, func(e *ntconv.Event) bool { return strings.HasSuffix(e.Type.Provider, "SampleProfiler") }},
		"thread":   {convert.Selection{TIDs: []uint64{tid}}, func(e *ntconv.Event) bool { return e.Thread.TID == tid }},
		"none":     {convert.Selection{PIDs: []uint64{1 << 40}}, func(*ntconv.Event) bool { return false }},
		"process":  {convert.Selection{Processes: []string{"SHOP"}}, func(*ntconv.Event) bool { return true }},
		"during":   {convert.Selection{During: []string{`pair.name == "Suspension"`}}, inSuspensions(events)},
		"no gc":    {convert.Selection{During: []string{"gc"}}, func(*ntconv.Event) bool { return false }},
		"no name":  {convert.Selection{Processes: []string{"web"}}, func(*ntconv.Event) bool { return false }},
		"no names": {convert.Selection{ThreadNames: []string{"*"}}, func(*ntconv.Event) bool { return false }},
		"from":     {convert.Selection{From: convert.AfterStart(200 * time.Millisecond)}, func(e *ntconv.Event) bool { return since(e, 200*time.Millisecond) }},
		"to":       {convert.Selection{To: convert.AfterStart(200 * time.Millisecond)}, func(e *ntconv.Event) bool { return !since(e, 200*time.Millisecond) }},
		"end":      {convert.Selection{From: convert.BeforeEnd(100 * time.Millisecond)}, func(e *ntconv.Event) bool { return since(e, time.Duration(clock.Nanos(last))-100*time.Millisecond) }},
		"date":     {convert.Selection{From: convert.At(at)}, func(e *ntconv.Event) bool { return !clock.Time(e.Time).Before(at) }},
		"where":    {convert.Selection{Where: []string{fmt.Sprint("$tid == ", tid)}}, func(e *ntconv.Event) bool { return e.Thread.TID == tid }},
	} {
		want := int64(0)
		for _, e := range events {
			if e.Kind == ntconv.KindEvent && c.keep(e) {
				want++
			}
		}
		// What can be read only once is copied where something must be known in advance.
		for _, r := range []io.Reader{open(t, trace), struct{ io.Reader }{open(t, trace)}} {
			src, err := convert.OpenReader(t.Context(), "trace", r, &convert.Options{Select: c.sel})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n := countAll(t, src); n != want || !strings.HasPrefix(name, "no") && n == 0 {
				t.Errorf("%s: %d events, want %d", name, n, want)
			}
			src.Close()
		}
		out := filepath.Join(t.TempDir(), "part.nettrace")
		res, err := convert.File(t.Context(), out, &convert.Options{Select: c.sel}, nil, trace)
		if want == 0 {
			if !errors.Is(err, convert.ErrEmpty) {
				t.Errorf("%s: File: %v", name, err)
			}
			continue
		}
		if err != nil || res.Selected < want { // it also holds what symbolizes the selection
			t.Errorf("%s: File: %+v, %v; want at least %d events", name, res, err, want)
		}
	}
}

// inSuspensions returns the function that reports whether an event is between GCSuspendEEBegin and GCRestartEEEnd.
func inSuspensions(events []*ntconv.Event) func(*ntconv.Event) bool {
	const begin, end = 9, 3
	var from ntconv.Ticks
	var list [][2]ntconv.Ticks
	for _, e := range events {
		if e.Kind != ntconv.KindEvent || e.Type.Provider != "Microsoft-Windows-DotNETRuntime" {
			continue
		}
		switch e.Type.ID {
		case begin:
			from = e.Time
		case end:
			list = append(list, [2]ntconv.Ticks{from, e.Time})
		}
	}
	return func(e *ntconv.Event) bool {
		return slices.ContainsFunc(list, func(v [2]ntconv.Ticks) bool { return v[0] <= e.Time && e.Time <= v[1] })
	}
}

func open(t *testing.T, name string) io.Reader {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

// TestMoments checks that each moment is read back from its text.
func TestMoments(t *testing.T) {
	for _, m := range []convert.Moment{
		{}, convert.AfterStart(0), convert.AfterStart(1500 * time.Millisecond), convert.BeforeEnd(0), convert.BeforeEnd(2 * time.Second),
		convert.At(time.Date(2026, 11, 21, 6, 52, 53, 5e8, time.UTC)),
	} {
		if m == (convert.Moment{}) {
			if m.String() != "" {
				t.Errorf("unset: %q", m)
			}
			continue
		}
		if again, err := convert.ParseMoment(m.String()); err != nil || again != m {
			t.Errorf("%q: %q, %v", m, again, err)
		}
	}
	if _, err := convert.ParseMoment("soon"); err == nil {
		t.Error("soon is a time")
	}
}

// profileOf returns the profile of the selected samples, made with Open and Copy.
func profileOf(t *testing.T, sel convert.Selection) *pprofile.Profile {
	t.Helper()
	src, err := convert.Open(t.Context(), trace, &convert.Options{Select: sel, Symbols: new(symbol.Options)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var b bytes.Buffer
	sink := pprof.New(&b, src.Info(), src.Namer(), nil)
	_, err = ntconv.Copy(sink, src)
	if err := errors.Join(err, sink.Close()); err != nil {
		t.Fatal(err)
	}
	p, err := pprofile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSelectionKeepsWeights checks that the profiles of the threads of a trace, and those of the parts of its time, add
// up to that of the trace: Copy shows the sink the samples that end the intervals of selected ones. Frames are
// resolved although the selection holds no events with symbols.
func TestSelectionKeepsWeights(t *testing.T) {
	sum := func(parts ...convert.Selection) map[int64]int64 {
		total := map[int64]int64{}
		for _, sel := range parts {
			p := profileOf(t, sel)
			wall := slices.IndexFunc(p.SampleType, func(v *pprofile.ValueType) bool { return v.Type == "wall" })
			for _, s := range p.Sample {
				total[s.NumLabel["tid"][0]] += s.Value[wall]
				if s.Location[0].Line == nil {
					t.Errorf("%+v: an unresolved leaf", sel)
				}
			}
		}
		return total
	}
	whole := sum(convert.Selection{})
	if len(whole) < 3 {
		t.Fatalf("%d threads", len(whole))
	}
	var threads, times []convert.Selection
	for tid := range whole {
		threads = append(threads, convert.Selection{TIDs: []uint64{uint64(tid)}, Providers: []string{"*SampleProfiler"}})
	}
	for at := time.Duration(0); at < time.Second; at += 40 * time.Millisecond {
		times = append(times, convert.Selection{From: convert.AfterStart(at), To: convert.AfterStart(at + 40*time.Millisecond)})
	}
	for name, parts := range map[string][]convert.Selection{"threads": threads, "times": times} {
		if got := sum(parts...); !maps.Equal(got, whole) {
			t.Errorf("%s: %v, the whole trace %v", name, got, whole)
		}
	}
}

// TestCancel cancels after a random number of events: the source ends within 64 more, stays ended, and a conversion
// leaves nothing at its destination.
func TestCancel(t *testing.T) {
	errStop := errors.New("stop")
	for range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		src, err := convert.Open(ctx, trace, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop, n := 1+rand.IntN(1500), 0
		for {
			_, err = src.Next()
			if err != nil {
				break
			}
			if n++; n == stop {
				cancel(errStop)
			}
		}
		cancel(errStop)
		if !errors.Is(err, errStop) || n > stop+64 {
			t.Errorf("canceled after %d events, ended after %d with %v", stop, n, err)
		}
		if _, again := src.Next(); again != err {
			t.Errorf("then %v", again)
		}
		src.Close()
	}
}

// TestCancelWhileReading cancels while an input is read that delivers no event before its end: profiles in JSON. The
// reading ends, although no event is asked for.
func TestCancelWhileReading(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "big.speedscope.json")
	if _, err := convert.File(t.Context(), name, nil, nil, trace); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &cancelAt{r: bytes.NewReader(data), after: len(data) / 2, cancel: cancel}
	if _, err := convert.OpenReader(ctx, "profile", r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if r.read == len(data) {
		t.Error("the input was read to its end")
	}
	out := filepath.Join(dir, "out.pb.gz")
	if _, err := convert.File(ctx, out, nil, nil, trace); !errors.Is(err, context.Canceled) {
		t.Errorf("File: %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// A cancelAt is a reader of small pieces that cancels a context on its way.
type cancelAt struct {
	r           io.Reader
	read, after int
	cancel      func()
}

func (c *cancelAt) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), 1000)])
	if c.read += n; c.read >= c.after {
		c.cancel()
	}
	return n, err
}

// TestClose checks that a source can be closed twice and yields nothing afterwards.
func TestClose(t *testing.T) {
	src, err := convert.Open(t.Context(), trace, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(src.Close(), src.Close()); err != nil {
		t.Error(err)
	}
	if _, err := src.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestFileReplacesNothing checks that an existing file stays unless Overwrite is set, and that a file is not converted
// onto itself.
func TestFileReplacesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.nettrace")
	if err := os.WriteFile(name, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.File(t.Context(), name, nil, nil, trace); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if data, _ := os.ReadFile(name); string(data) != "mine" {
		t.Error("the file was replaced")
	}
	if _, err := convert.File(t.Context(), name, nil, &convert.Output{Overwrite: true}, trace); err != nil {
		t.Error(err)
	}
	if _, err := convert.File(t.Context(), name, nil, &convert.Output{Overwrite: true}, name); err == nil {
		t.Error("converted onto itself")
	}
}

// A read that waits for data ends with the context, also while Next waits for it.
func TestOpenReaderBlocked(t *testing.T) {
	stopped := errors.New("stopped by the test")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { stop(stopped) })
	if _, err := convert.OpenReader(ctx, "pipe", r, nil); !errors.Is(err, stopped) {
		t.Fatalf("got %v, want %v", err, stopped)
	}
	if _, err := convert.SendReader(ctx, new(collector), "pipe", r, nil); !errors.Is(err, stopped) {
		t.Errorf("SendReader: got %v, want %v", err, stopped)
	}
}
