package profile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
