package profile_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

var update = flag.Bool("update", false, "write the table of ../../docs/profile-accuracy.md")

// truthChecks compare profiles with the account that the recorded programs gave of themselves. Each adds rows to the
// table of docs/profile-accuracy.md.
func truthChecks() []func(*truthTable) {
	return append(runtimeTruths(), exceptionTruth, sampledTruth, tickTruth, contentionTruth)
}

// A truthRow is a quantity that a program recorded of itself, and the same quantity in a profile of the program.
type truthRow struct {
	recording       string
	kind            sample.Kind
	what            string
	truth, measured float64
	unit            string
	// min and max are the limits of measured; limit describes them.
	min, max float64
	limit    string
}

func (r truthRow) String() string {
	diff := "0"
	if d := r.measured - r.truth; d != 0 && r.truth != 0 {
		diff = fmt.Sprintf("%+.1f%%", 100*d/r.truth)
	}
	number := func(x float64) string { return strings.TrimSpace(fmt.Sprintf("%.0f %s", x, r.unit)) }
	return fmt.Sprintf("| %s | %v | %s | %s | %s | %s | %s |\n",
		r.recording, r.kind, r.what, number(r.truth), number(r.measured), diff, r.limit)
}

// A truthTable collects rows.
type truthTable struct {
	t    *testing.T
	rows []truthRow
}

// add adds a row with the limits of its measured value.
func (tt *truthTable) add(r truthRow, low, high float64, limit string) {
	tt.t.Helper()
	r.min, r.max, r.limit = low, high, limit
	if !(r.measured >= r.min && r.measured <= r.max) {
		tt.t.Errorf("%s, %v, %s: measured %g, the program has %g: want %g to %g (%s)",
			r.recording, r.kind, r.what, r.measured, r.truth, r.min, r.max, r.limit)
	}
	tt.rows = append(tt.rows, r)
}

// exact adds a row whose measured value must be the program's.
func (tt *truthTable) exact(r truthRow) {
	tt.t.Helper()
	tt.add(r, r.truth, r.truth, "equal")
}

// within adds a row whose measured value may differ by a number of units.
func (tt *truthTable) within(r truthRow, limit float64, why string) {
	tt.t.Helper()
	tt.add(r, r.truth-limit, r.truth+limit, why)
}

// own reads what a program recorded of itself into dst, and returns its trace in time order with a namer.
func (tt *truthTable) own(name string, dst any) (ntconv.Source, ntconv.Namer) {
	tt.t.Helper()
	data, err := os.ReadFile(corpus.Shared(tt.t, "data", "own", name+".truth.json"))
	if err != nil {
		tt.t.Fatal(err)
	}
	if err := json.Unmarshal(data, dst); err != nil {
		tt.t.Fatal(err)
	}
	src := open(tt.t, corpus.SharedTrace(tt.t, "own/"+name).Data, reader.ByTime)
	table := symbol.New(nil)
	return ntconv.Observe(src, table.Observe), table
}

// profile returns the profile of a kind of a recording, whose truth it reads into dst.
func (tt *truthTable) profile(name string, k sample.Kind, dst any) *profile.Profile {
	tt.t.Helper()
	src, namer := tt.own(name, dst)
	b := profile.New(src.Info(), namer, &profile.Options{Kind: k})
	for e, err := range ntconv.Events(src) {
		switch {
		case err == nil:
			b.Add(e)
		case !errors.Is(err, ntconv.ErrTruncated): // the recording of a program that crashed
			tt.t.Fatal(err)
		}
	}
	return b.Finish()
}

const truthHead = "| recording | kind | what | program | profile | difference | limit |\n|---|---|---|---:|---:|---:|---|\n"

// Profiles of the recordings agree with the programs' own counts, and docs/profile-accuracy.md shows by how much.
func TestTruth(t *testing.T) {
	corpus.Shared(t, "data", "own")
	tt := &truthTable{t: t}
	for _, check := range truthChecks() {
		check(tt)
	}
	slices.SortStableFunc(tt.rows, func(a, b truthRow) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.recording, b.recording))
	})
	var rows strings.Builder
	for _, r := range tt.rows {
		rows.WriteString(r.String())
	}
	path := filepath.Join("..", "..", "docs", "profile-accuracy.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(page), truthHead)
	if !ok {
		t.Fatalf("%s has no table %q", path, truthHead)
	}
	table := after
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	if table = table[:len(table)-len(after)]; table == rows.String() {
		return
	}
	if !*update {
		t.Errorf("the table of %s is not current; run go test ./internal/profile -run TestTruth -update", path)
		return
	}
	if err := os.WriteFile(path, []byte(before+truthHead+rows.String()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// valueBy returns the totals of a column by a key of the samples.
func valueBy(p *profile.Profile, column int, key func(*profile.Sample) string) map[string]int64 {
	totals := map[string]int64{}
	for s := range p.Samples() {
		totals[key(s)] += s.Values[column]
	}
	return totals
}

// byLabel is a key for valueBy: the value of a label, "" if there is none.
func byLabel(key string) func(*profile.Sample) string {
	return func(s *profile.Sample) string {
		for i := range s.Labels {
			if l := &s.Labels[i]; l.Key == key {
				if l.Kind == ntconv.LabelInt {
					return fmt.Sprint(l.Num)
				}
				return l.Str
			}
		}
		return ""
	}
}

// contentionTruth compares the contentions of a thread with the number of times it waited for a lock that another
// thread held: further locks of the runtime may add some.
func contentionTruth(tt *truthTable) {
	var truth struct {
		Threads []struct {
			Name string
			TID  uint64
		}
		HoldMs      float64
		Contentions struct {
			Thread string
			Count  float64
		}
	}
	const name = "waits"
	p := tt.profile(name, sample.Contention, &truth)
	tid := ""
	for _, t := range truth.Threads {
		if t.Name == truth.Contentions.Thread {
			tid = fmt.Sprint(t.TID)
		}
	}
	r := truthRow{recording: name, kind: sample.Contention, what: "contentions of thread blocked", truth: truth.Contentions.Count}
	r.measured = float64(valueBy(p, 0, byLabel("tid"))[tid])
	tt.add(r, r.truth, 3*r.truth, "at least")
	r.what, r.unit = "delay of thread blocked", "ms"
	r.truth *= truth.HoldMs
	r.measured = float64(valueBy(p, 1, byLabel("tid"))[tid]) / 1e6
	tt.add(r, 0.8*r.truth, 1.5*r.truth, "about: the program states about 30 ms each")
}
