package parquet_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/exporters/pprof"
	pprofin "github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

const sampleProvider = "Microsoft-DotNETCore-SampleProfiler"

// A weight is what a stack of a thread has of a sample type.
type weight struct {
	kind, typ, unit, stack string
	pid, tid               int64
}

// reading is one reading of a trace: a source, and the symbols learned from it.
func reading(t testing.TB, data []byte) (ntconv.Source, *symbol.Table) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	return symbol.Watch(src, names), names
}

// pump writes the selected events of a source to a sink, as a pass does.
func pump(t testing.TB, src ntconv.Source, sink interface {
	ntconv.Sink
	ntconv.Watcher
}, keep func(*ntconv.Event) bool) {
	t.Helper()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break // damaged traces end early
		}
		if keep != nil {
			sink.Watch(e)
			if !keep(e) {
				continue
			}
		}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// profileWeights returns what exporters/pprof writes.
func profileWeights(t testing.TB, data []byte, kind sample.Kind, keep func(*ntconv.Event) bool) map[weight]int64 {
	t.Helper()
	src, names := reading(t, data)
	var out bytes.Buffer
	pump(t, src, pprof.New(&out, src.Info(), names, &pprof.Options{Options: sample.Options{Kind: kind}}), keep)
	p, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[weight]int64{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			if len(l.Line) == 0 {
				frames = append(frames, "?")
			}
			for _, line := range l.Line {
				frames = append(frames, line.Function.Name)
			}
		}
		w := weight{kind: kind.String(), stack: strings.Join(frames, ";"), tid: -1}
		if ids := s.NumLabel["pid"]; len(ids) > 0 {
			w.pid = ids[0]
		}
		if ids := s.NumLabel["tid"]; len(ids) > 0 {
			w.tid = ids[0]
		}
		for i, v := range p.SampleType {
			if w.typ, w.unit = v.Type, v.Unit; v.Type != "samples" {
				sums[w] += s.Value[i]
			}
		}
	}
	return sums
}

// tableWeights returns the totals of the table samples, and the number of rows per total.
func tableWeights(t testing.TB, m memory) (sums, counts map[weight]int64) {
	t.Helper()
	sums, counts = map[weight]int64{}, map[weight]int64{}
	names, stacks := map[int32]string{}, map[int64]string{}
	for _, f := range rowsOf[tables.Frame](t, m, "frames") {
		names[f.FrameID] = f.Name
	}
	for _, s := range rowsOf[tables.Stack](t, m, "stacks") {
		var frames []string
		for _, id := range s.Frames {
			frames = append(frames, names[id])
		}
		stacks[s.StackID] = strings.Join(frames, ";")
	}
	for _, s := range rowsOf[tables.Sample](t, m, "samples") {
		w := weight{s.Kind, s.SampleType, s.Unit, stacks[s.StackID], s.PID, s.TID}
		sums[w] += s.Value
		counts[w]++
	}
	return sums, counts
}

// selections are what the tests select. Weights do not depend on it.
func selections(t testing.TB, data []byte) map[string]func(*ntconv.Event) bool {
	t.Helper()
	src, _ := reading(t, data)
	var times []ntconv.Ticks
	threads := map[uint64]int{}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent && e.Type.Provider == sampleProvider {
			times = append(times, e.Time)
			threads[e.Thread.TID]++
		}
	}
	list := map[string]func(*ntconv.Event) bool{"all": nil}
	if len(times) < 100 {
		return list
	}
	busiest := uint64(0)
	for tid, n := range threads {
		if n > threads[busiest] || n == threads[busiest] && tid < busiest {
			busiest = tid
		}
	}
	middle := times[len(times)/2]
	list["--tid"] = func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Thread.TID == busiest }
	list["--from-time"] = func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Time >= middle }
	return list
}

// The rows of a stack and thread add up to its values in a profile: exactly where a tick is a whole number of
// nanoseconds, or else to within 1 ns per sample.
func TestSamplesAddUpToProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	for _, f := range corpus.Traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			for name, keep := range selections(t, f.Data) {
				m := memory{}
				src, names := reading(t, f.Data)
				sink, err := parquet.New(m.create, src.Info(), names, &parquet.Options{Ordered: true, TempDir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				pump(t, src, sink, keep)
				exact := 1_000_000_000%src.Info().Clock.Freq == 0
				got, counts := tableWeights(t, m)
				want := profileWeights(t, f.Data, sample.Wall, keep)
				for w, n := range profileWeights(t, f.Data, sample.CPU, keep) {
					want[w] = n
				}
				for w, n := range want {
					if d := max(got[w]-n, n-got[w]); counts[w] == 0 || d > counts[w] || exact && d != 0 {
						t.Errorf("%s: thread %d of %d: %s %d in %d rows, want %d: %s", name, w.tid, w.pid, w.typ, got[w], counts[w], n, w.stack)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: %d stacks and threads, want %d", name, len(got), len(want))
				}
				if rows := sink.Summary().Samples; rows != sum(counts) {
					t.Errorf("%s: the summary counts %d samples, the table %d", name, rows, sum(counts))
				}
			}
		})
	}
}

func sum(counts map[weight]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// An imported profile has a row per sample and sample type.
func TestSamplesOfImportedProfile(t *testing.T) {
	data, err := os.ReadFile(corpus.Path("go-cpu.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := pprofin.New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := memory{}
	sink, err := parquet.New(m.create, src.Info(), nil, &parquet.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pump(t, src, sink, nil)
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int64{}, map[string]int64{}
	for _, s := range p.Sample {
		for i, v := range p.SampleType {
			want["imported "+v.Type+" "+v.Unit] += s.Value[i]
		}
	}
	for _, s := range rowsOf[tables.Sample](t, m, "samples") {
		got[s.Kind+" "+s.SampleType+" "+s.Unit] += s.Value
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) != 2 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// manySamples is a source of more samples than a row group holds, from several alternating threads.
type manySamples struct {
	info    ntconv.Info
	threads []*ntconv.Thread
	stacks  []*ntconv.Stack
	typ     *ntconv.Type
	event   ntconv.Event
	n, next int
}

func newManySamples(n int) *manySamples {
	s := &manySamples{n: n, typ: &ntconv.Type{Provider: sampleProvider}}
	s.info.Clock = ntconv.Clock{Freq: 10_000_000, Wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	process := &ntconv.Process{PID: 1}
	for i := range 20 {
		s.threads = append(s.threads, &ntconv.Thread{TID: uint64(i + 1), Process: process})
	}
	for i := range 200 {
		stack := &ntconv.Stack{}
		for j := range 20 {
			stack.PCs = append(stack.PCs, uint64(0x1000*j+i*16))
		}
		s.stacks = append(s.stacks, stack)
	}
	return s
}

func (s *manySamples) Info() *ntconv.Info { return &s.info }

func (s *manySamples) Next() (*ntconv.Event, error) {
	if s.next == s.n {
		return nil, io.EOF
	}
	i := s.next
	s.next++
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, Type: s.typ, Time: ntconv.Ticks(i) * 500, CPU: ntconv.CPUUnknown, Offset: -1,
		Thread: s.threads[i*i%len(s.threads)], Stack: s.stacks[i%len(s.stacks)], Payload: binary.LittleEndian.AppendUint32(nil, 2),
	}
	s.event.Capture = s.event.Thread
	return &s.event, nil
}

// Rows become known out of time order. Each row group is sorted, declares it, and has a limited size.
func TestRowGroupsOfSamplesAreSorted(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it needs several row groups")
	}
	const n = 300_000
	var files [2][]byte
	for i := range files {
		m := memory{}
		src := newManySamples(n)
		sink, err := parquet.New(m.create, src.Info(), nil, &parquet.Options{Tables: []string{"samples"}, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		pump(t, src, sink, nil)
		files[i] = m["samples"].Bytes()
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two exports of a trace differ")
	}
	f, err := pq.OpenFile(bytes.NewReader(files[0]), int64(len(files[0])))
	if err != nil {
		t.Fatal(err)
	}
	if groups := len(f.RowGroups()); groups != 3 {
		t.Errorf("%d row groups, want 3", groups)
	}
	seen := make([]bool, n+1)
	for i, g := range f.RowGroups() {
		if sorting := g.SortingColumns(); len(sorting) != 1 || sorting[0].Path()[0] != "ts_ns" {
			t.Errorf("row group %d: sorted by %v", i, sorting)
		}
		rows := make([]tables.Sample, g.NumRows())
		if _, err := pq.NewGenericRowGroupReader[tables.Sample](g).Read(rows); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if len(rows) > 1<<17 || !slices.IsSortedFunc(rows, func(a, b tables.Sample) int { return cmp.Compare(a.TSNanos, b.TSNanos) }) {
			t.Errorf("row group %d: %d rows, not sorted", i, len(rows))
		}
		for _, r := range rows {
			seen[r.EventID] = true
		}
	}
	if missing := slices.Index(seen[1:], false); missing >= 0 {
		t.Errorf("event %d is missing", missing+1)
	}
}

// With Options.Active samples have the span that was active, and the time of each span is that of to pprof --span-link.
func TestSamplesOfSpans(t *testing.T) {
	data := corpus.SharedTrace(t, "otel/otel-cpu").Data
	src, _ := reading(t, data)
	spans, index := otlp.NewActiveSpans(src.Info(), nil), active.New(src.Info(), nil)
	for e := range ntconv.Events(src) {
		spans.Add(e)
		index.Add(e)
	}
	spans.Finish()
	index.Finish()

	src, names := reading(t, data)
	linker := active.NewLinker(src, index, active.LinkOptions{Use: active.All, Sample: func(typ *ntconv.Type) bool { return typ.Provider == sampleProvider }})
	var out bytes.Buffer
	pump(t, linker, pprof.New(&out, src.Info(), names, nil), nil)
	p, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, s := range p.Sample {
		if id := s.Label["span_id"]; len(id) > 0 {
			want[s.Label["trace_id"][0]+id[0]] += s.Value[1]
		}
	}

	src, names = reading(t, data)
	m := memory{}
	sink, err := parquet.New(m.create, src.Info(), names, &parquet.Options{Ordered: true, Active: spans.Find, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pump(t, src, sink, nil)
	got := map[string]int64{}
	for _, s := range rowsOf[tables.Sample](t, m, "samples") {
		if s.SpanID != "" {
			got[s.TraceID+s.SpanID] += s.Value
		}
	}
	if !maps.Equal(got, want) || len(want) == 0 {
		t.Errorf("time of spans:\n%v\nwant\n%v", got, want)
	}
	known := map[string]bool{}
	for _, s := range rowsOf[tables.Span](t, m, "spans") {
		known[s.TraceID+s.SpanID] = true
	}
	for id := range got {
		if !known[id] {
			t.Errorf("span %s is not in the table of spans", id)
		}
	}
}
