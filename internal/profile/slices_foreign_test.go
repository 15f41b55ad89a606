package profile_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A sweptSlice is a slice of a thread in nanoseconds, as this test reads it from JSON.
type sweptSlice struct {
	thread   string
	from, to int64
}

// covered returns the time that slices cover, added up over threads.
func covered(all []sweptSlice) (nanos int64) {
	byThread := map[string][]sweptSlice{}
	for _, s := range all {
		byThread[s.thread] = append(byThread[s.thread], s)
	}
	for _, list := range byThread {
		slices.SortFunc(list, func(a, b sweptSlice) int { return int(a.from - b.from) })
		until := list[0].from
		for _, s := range list {
			nanos += max(0, s.to-max(s.from, until))
			until = max(until, s.to)
		}
	}
	return nanos
}

// A sweptEvent is an event of Chrome's format.
type sweptEvent struct {
	Phase    string          `json:"ph"`
	PID      json.RawMessage `json:"pid"`
	TID      json.RawMessage `json:"tid"`
	Time     json.Number     `json:"ts"`
	Duration json.Number     `json:"dur"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
}

// sweptNanos converts microseconds to nanoseconds. exact is false if digits are lost.
func sweptNanos(micros json.Number) (nanos int64, exact bool) {
	r, ok := new(big.Rat).SetString(string(micros))
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	return new(big.Int).Div(r.Num(), r.Denom()).Int64(), r.IsInt()
}

// sweep returns the closed slices of the threads of a Chrome trace. inexact counts those with digits below nanoseconds.
func sweep(events []sweptEvent) (all []sweptSlice, totals map[string]int64, inexact int) {
	slices.SortStableFunc(events, func(a, b sweptEvent) int {
		x, _ := sweptNanos(a.Time)
		y, _ := sweptNanos(b.Time)
		return int(x - y)
	})
	open := map[string][]sweptEvent{}
	totals = map[string]int64{}
	for _, e := range events {
		at, exact := sweptNanos(e.Time)
		thread := string(e.PID) + "/" + string(e.TID)
		switch e.Phase {
		case "X":
			length, same := sweptNanos(e.Duration)
			if name, ok := strings.CutPrefix(e.Name, "Total "); ok && strings.Contains(string(e.Args), `"avg ms"`) {
				totals[name] = length
				continue
			}
			if exact = exact && same || e.Duration == ""; !exact {
				inexact++
			}
			all = append(all, sweptSlice{thread, at, at + length})
		case "B":
			open[thread] = append(open[thread], e)
		case "E":
			list := open[thread]
			i := len(list) - 1
			for e.Name != "" && i >= 0 && list[i].Name != e.Name {
				i--
			}
			if i < 0 {
				continue
			}
			from, same := sweptNanos(list[i].Time)
			if !exact || !same {
				inexact++
			}
			all, open[thread] = append(all, sweptSlice{thread, from, at}), slices.Delete(list, i, i+1)
		}
	}
	return all, totals, inexact
}

// foreignChrome calls f with each Chrome trace of other programs that encoding/json can read.
func foreignChrome(t *testing.T, f func(t *testing.T, name string, text []byte, events []sweptEvent)) {
	root := corpus.Shared(t, "data", "foreign")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := corpus.Read(t, path)
		if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			if text, err = io.ReadAll(z); err != nil {
				return nil
			}
		}
		var file struct {
			TraceEvents []sweptEvent `json:"traceEvents"`
		}
		if json.Unmarshal(text, &file) != nil && json.Unmarshal(text, &file.TraceEvents) != nil || len(file.TraceEvents) == 0 {
			return nil
		}
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) { f(t, name, text, file.TraceEvents) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Of the files of other programs, every closed slice is counted, and the time of a thread is what its slices cover.
func TestForeignSlices(t *testing.T) {
	compared := 0
	foreignChrome(t, func(t *testing.T, name string, text []byte, events []sweptEvent) {
		p, _ := slicesOf(t, chromeSource(t, string(text)))
		count, time, _ := sliceTotals(p)
		all, _, inexact := sweep(events)
		want := covered(all)
		if off := time - want; count != int64(len(all)) || max(off, -off) > int64(2*inexact) {
			t.Errorf("%d slices, %d ns, want %d, %d (%d inexact)", count, time, len(all), want, inexact)
		}
		if len(all) > 0 {
			compared++
			t.Logf("%d slices, %d ns", count, time)
		}
	})
	if compared < 30 {
		t.Errorf("compared %d files with slices, want 30", compared)
	}
}

// clang states the total time of its slices by name, without those inside a slice with the same name. It omits short
// slices from the file, so its totals are at least those of the profile; for names without short slices they are equal.
// It rounds the begin and the duration of each slice down to microseconds.
func TestClangTotals(t *testing.T) {
	equal := 0
	foreignChrome(t, func(t *testing.T, name string, text []byte, events []sweptEvent) {
		_, totals, _ := sweep(events)
		if len(totals) == 0 {
			return
		}
		p, _ := slicesOf(t, chromeSource(t, string(text)))
		n := map[string]int64{}
		for _, e := range events {
			n[e.Name]++
		}
		for name, got := range totalsByName(p) {
			want, ok := totals[name]
			switch off, rounding := got-want, 1000*n[name]; {
			case !ok:
			case off > rounding:
				t.Errorf("%s: %d ns, more than the %d of clang", name, got, want)
			case off >= -rounding && rounding < want/100:
				equal++
			}
		}
	})
	t.Logf("%d totals are equal", equal)
	if equal < 30 {
		t.Errorf("%d totals are equal, want 30", equal)
	}
}

// totalsByName returns the time of the samples with a name in their stack.
func totalsByName(p *profile.Profile) map[string]int64 {
	totals := map[string]int64{}
	for s := range p.Samples() {
		var names []string
		for _, f := range s.Frames {
			if !slices.Contains(names, f.Func.Name) {
				names = append(names, f.Func.Name)
				totals[f.Func.Name] += s.Values[1]
			}
		}
	}
	return totals
}

// A sweptSpan is a span of OTLP as JSON, see the requests of the recordings with spans.
type sweptSpan struct {
	TraceID  string `json:"traceId"`
	ID       string `json:"spanId"`
	ParentID string `json:"parentSpanId"`
	Name     string `json:"name"`
	From     uint64 `json:"startTimeUnixNano,string"` // times before 1970 are negative numbers modulo 2^64
	To       uint64 `json:"endTimeUnixNano,string"`
}

// own returns the time of a span that none of its children covers, counted in the pieces between all begins and ends.
func (s *sweptSpan) own(all []sweptSpan) (nanos int64) {
	from, to := int64(s.From), int64(s.To)
	cuts := []int64{from, to}
	var children []*sweptSpan
	for i := range all {
		if c := &all[i]; c.TraceID == s.TraceID && c.ParentID == s.ID {
			children = append(children, c)
			cuts = append(cuts, min(max(int64(c.From), from), to), min(max(int64(c.To), from), to))
		}
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		inside := func(c *sweptSpan) bool { return int64(c.From) <= cuts[i-1] && int64(c.To) >= cuts[i] }
		if !slices.ContainsFunc(children, inside) {
			nanos += cuts[i] - cuts[i-1]
		}
	}
	return nanos
}

// The own time of spans by name is the time that no child of theirs covers, in the recordings whose spans the program
// itself exported.
func TestSpanTime(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Shared(t, "data", "otel"), "*.otlp.json.zst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	concurrent := 0
	for _, path := range files {
		var file struct {
			Requests []struct {
				ResourceSpans []struct {
					ScopeSpans []struct {
						Spans []sweptSpan `json:"spans"`
					} `json:"scopeSpans"`
				} `json:"resourceSpans"`
			} `json:"requests"`
		}
		if err := json.Unmarshal(corpus.Read(t, path), &file); err != nil {
			t.Fatal(path, err)
		}
		var all []sweptSpan
		for _, r := range file.Requests {
			for _, rs := range r.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					all = append(all, ss.Spans...)
				}
			}
		}
		if len(all) == 0 {
			continue // only metrics
		}
		want, got := map[string][2]int64{}, map[string][2]int64{}
		for i := range all {
			name := cmp.Or(all[i].Name, "(no name)")
			w := want[name]
			want[name] = [2]int64{w[0] + 1, w[1] + all[i].own(all)}
		}
		src, err := otlp.New(bytes.NewReader(corpus.Read(t, strings.TrimSuffix(path, ".json.zst")+".binpb")), nil)
		if err != nil {
			t.Fatal(path, err)
		}
		p, _ := slicesOf(t, src)
		for s := range p.Samples() {
			name := s.Frames[0].Func.Name
			g := got[name]
			got[name] = [2]int64{g[0] + s.Values[0], g[1] + s.Values[1]}
		}
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s: %s: number and own time %v, want %v", filepath.Base(path), name, got[name], want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d names, want %d", filepath.Base(path), len(got), len(want))
		}
		if strings.Contains(p.Estimate.String(), "because several were open at a time") {
			concurrent++
		}
		t.Logf("%s: %d spans, %s", filepath.Base(path), len(all), p.Estimate)
	}
	if concurrent == 0 {
		t.Error("no recording has concurrent spans")
	}
}
