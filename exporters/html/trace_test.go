package html_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/html"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/pagedata"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// traces returns the traces of testdata, and those of the reference data unless tests are short.
func traces(t *testing.T) []corpus.File {
	list := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		list = append(list, corpus.SharedTraces(t)...)
	}
	return list
}

// exported returns the page of a trace, in time order and with symbols. others get the same events.
func exported(t testing.TB, data []byte, o html.Options, others ...func(*ntconv.Info, ntconv.Namer) ntconv.Sink) ([]byte, html.Summary) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	var page bytes.Buffer
	o.Ordered, o.TempDir = true, t.TempDir()
	sink, err := html.New(&page, src.Info(), names, &o)
	if err != nil {
		t.Fatal(err)
	}
	sinks := []ntconv.Sink{sink}
	for _, other := range others {
		sinks = append(sinks, other(src.Info(), names))
	}
	for e, err := range ntconv.Events(ntconvtest.Poison(symbol.Watch(src, names))) {
		if err != nil {
			break // damaged traces end early
		}
		for _, s := range sinks {
			if err := s.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	if n := sink.Summary().Bytes; n != int64(page.Len()) {
		t.Errorf("the summary states %d bytes, the page has %d", n, page.Len())
	}
	return page.Bytes(), sink.Summary()
}

func decoded(t testing.TB, page []byte) *pagedata.Page {
	t.Helper()
	p, err := pagedata.Decode(page, "data")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// profiles is a sink of profiles of all kinds, as ntconv to pprof --kind all --type-as label writes them.
type profiles map[sample.Kind]*bytes.Buffer

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (p profiles) sink(info *ntconv.Info, namer ntconv.Namer) ntconv.Sink {
	create := func(k sample.Kind) (io.WriteCloser, error) {
		p[k] = new(bytes.Buffer)
		return nopCloser{p[k]}, nil
	}
	o := sample.Options{Create: create, KindOptions: sample.KindOptions{SubjectAs: sample.SubjectLabel}}
	return pprof.New(nil, info, namer, &pprof.Options{Options: o})
}

// Each kind, each value and each function of a page has the numbers of profiles and of ntconv top.
func TestPageHasTheNumbersOfProfiles(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			kinds := profiles{}
			page, _ := exported(t, f.Data, html.Options{}, kinds.sink)
			p := decoded(t, page)
			for _, k := range p.Header.Kinds {
				kind, err := sample.Parse(k.Name)
				if err != nil {
					t.Fatal(err)
				}
				if kinds[kind] == nil {
					t.Errorf("the page has %s, which profiles lack", k.Name)
					continue
				}
				compareKind(t, p, k, kinds[kind].Bytes())
				delete(kinds, kind)
			}
			for k := range kinds {
				if k != sample.Slices && k != sample.Events && !isEmpty(t, kinds[k].Bytes()) {
					t.Errorf("the page lacks %s", k)
				}
			}
		})
	}
}

func parse(t *testing.T, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func isEmpty(t *testing.T, data []byte) bool { return len(parse(t, data).Sample) == 0 }

func compareKind(t *testing.T, p *pagedata.Page, k pagedata.Kind, data []byte) {
	t.Helper()
	of := parse(t, data)
	if len(of.SampleType) != len(k.Values) {
		t.Errorf("%s has %v, the profile %v", k.Name, k.Values, of.SampleType)
		return
	}
	if main := of.DefaultSampleType; main != "" && k.Values[k.Main].Type != main {
		t.Errorf("%s shows %s, the profile %s", k.Name, k.Values[k.Main].Type, main)
	}
	for column, want := range of.SampleType {
		value := slices.IndexFunc(k.Values, func(v pagedata.Value) bool { return v.Type == want.Type && v.Unit == want.Unit })
		if value < 0 {
			t.Errorf("%s lacks %v", k.Name, want)
			continue
		}
		// Values that are estimates or durations are rounded per stack in profiles, and per sample on the page.
		slack := int64(0)
		if want.Unit != "count" || k.Estimated {
			slack = int64(p.Rows("samples_" + k.Name))
		}
		total := int64(0)
		for _, s := range of.Sample {
			total += s.Value[column]
		}
		if got := p.Total(k.Name, value); distance(got, total) > slack {
			t.Errorf("%s: %s totals %d, want %d", k.Name, want.Type, got, total)
		}
		compareFunctions(t, p, k, value, want.Type, data, slack)
	}
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// compareFunctions compares the functions with those of ntconv top.
func compareFunctions(t *testing.T, p *pagedata.Page, k pagedata.Kind, value int, sampleType string, data []byte, slack int64) {
	t.Helper()
	top, _, err := web.Rank(parse(t, data), &web.TopOptions{SampleType: sampleType})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Functions(k.Name, value)
	for _, row := range top.Rows {
		f := got[row.Function]
		if distance(f.Flat, row.Flat) > slack || distance(f.Cum, row.Cum) > slack {
			t.Errorf("%s: %s: %s has %+v, ntconv top has %+v", k.Name, sampleType, row.Function, f, row)
		}
		delete(got, row.Function)
	}
	for name, f := range got {
		if distance(f.Flat, 0) > slack || distance(f.Cum, 0) > slack {
			t.Errorf("%s: %s: %s has %+v, ntconv top lacks it", k.Name, sampleType, name, f)
		}
	}
}

// Two pages of a trace have the same bytes.
func TestPagesAreDeterministic(t *testing.T) {
	for _, f := range traces(t) {
		a, _ := exported(t, f.Data, html.Options{Source: f.Name})
		b, _ := exported(t, f.Data, html.Options{Source: f.Name})
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the pages differ", f.Name)
		}
	}
}

// References of page data are in range, nodes follow their parents, and samples are sorted.
func TestReferences(t *testing.T) {
	for _, f := range traces(t) {
		page, s := exported(t, f.Data, html.Options{Source: f.Name})
		p := decoded(t, page)
		refs := map[[2]string]string{
			{"threads", "process"}: "processes", {"nodes", "frame"}: "frames", {"frames", "function"}: "functions",
			{"intervals", "thread"}: "threads", {"intervals", "span"}: "spans", {"intervals", "attributes"}: "attribute_sets",
			{"spans", "parent"}: "spans", {"spans", "process"}: "processes", {"spans", "thread"}: "threads",
			{"spans", "attributes"}: "attribute_sets", {"losses", "thread"}: "threads",
		}
		for _, k := range p.Header.Kinds {
			table := "samples_" + k.Name
			refs[[2]string{table, "thread"}], refs[[2]string{table, "node"}], refs[[2]string{table, "span"}] = "threads", "nodes", "spans"
			if !slices.IsSorted(p.Ints(table, "time", 0)) {
				t.Errorf("%s: %s is not sorted", f.Name, table)
			}
		}
		for from, to := range refs {
			for i, n := range p.Ints(from[0], from[1], -1) {
				if n < -1 || n >= int64(p.Rows(to)) {
					t.Fatalf("%s: %s row %d refers to row %d of %s, which has %d", f.Name, from, i, n, to, p.Rows(to))
				}
			}
		}
		for i, parent := range p.Ints("nodes", "parent", -1) {
			if parent >= int64(i) {
				t.Fatalf("%s: node %d has the parent %d", f.Name, i, parent)
			}
		}
		if int64(p.Rows("spans")) != s.Spans || int64(p.Rows("intervals")) != s.Intervals {
			t.Errorf("%s: %d spans and %d intervals, the summary has %+v", f.Name, p.Rows("spans"), p.Rows("intervals"), s)
		}
	}
}

// A page that is too large gets fewer details, with the same totals, and states what it leaves out.
func TestMaxBytes(t *testing.T) {
	f := corpus.Trace(t, "startup")
	page, _ := exported(t, f.Data, html.Options{})
	whole := decoded(t, page)
	limit := int64(len(page) - dataBytes(t, page)/4)
	small, s := exported(t, f.Data, html.Options{MaxBytes: limit})
	p := decoded(t, small)
	if int64(len(small)) > limit || !s.Reduced || !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "rounded down") }) {
		t.Errorf("%d bytes, limit %d; notes %q", len(small), limit, s.Notes)
	}
	for _, k := range whole.Header.Kinds {
		for v := range k.Values {
			if got, want := p.Total(k.Name, v), whole.Total(k.Name, v); got != want {
				t.Errorf("%s: total %d of value %d, want %d", k.Name, got, v, want)
			}
			flat := int64(0)
			for _, f := range p.Functions(k.Name, v) {
				flat += f.Flat
			}
			before := int64(0)
			for _, f := range whole.Functions(k.Name, v) {
				before += f.Flat
			}
			if flat != before {
				t.Errorf("%s: functions total %d of value %d, want %d", k.Name, flat, v, before)
			}
		}
	}
	src, err := reader.New(bytes.NewReader(f.Data), nil)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := html.New(io.Discard, src.Info(), nil, &html.Options{MaxBytes: 1000, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err == nil || !strings.Contains(err.Error(), "without details") {
		t.Errorf("a limit of 1,000 bytes: %v", err)
	}
}

// The limit of a page includes the data of the recording with which it compares.
func TestMaxBytesOfComparison(t *testing.T) {
	f := corpus.Trace(t, "startup")
	page, _ := exported(t, f.Data, html.Options{})
	limit := int64(len(page) + 10_000)
	both, s := exported(t, f.Data, html.Options{MaxBytes: limit, Before: bytes.Repeat([]byte{1}, 15_000)})
	if int64(len(both)) > limit || !s.Reduced {
		t.Errorf("%d bytes, limit %d, reduced: %v", len(both), limit, s.Reduced)
	}
}

// dataBytes returns the size of the data in a page.
func dataBytes(t *testing.T, page []byte) int {
	t.Helper()
	_, after, ok := bytes.Cut(page, []byte(`id="data">`))
	if !ok {
		t.Fatal("no data")
	}
	return bytes.IndexByte(after, '<')
}
