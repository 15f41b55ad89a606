package profile_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/sample"
	"pgregory.net/rapid"
)

// slicesOf returns the profile of kind slices of a source, which it reads, and its report.
func slicesOf(tb testing.TB, src ntconv.Source) (*profile.Profile, *ntconv.Report) {
	tb.Helper()
	report := new(ntconv.Report)
	b := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Slices, Report: report})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		b.Add(e)
	}
	return b.Finish(), report
}

// chromeSource returns the events of a Chrome trace.
func chromeSource(tb testing.TB, text string) ntconv.Source {
	tb.Helper()
	src, err := chrome.New(strings.NewReader(text), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { src.Close() })
	return src
}

// scriptSource returns the events of the input of a case, see testdata/slices.txt.
func scriptSource(tb testing.TB, input []string) ntconv.Source {
	tb.Helper()
	if strings.HasPrefix(input[0], "{") {
		return ntconvtest.Poison(chromeSource(tb, "["+strings.Join(input, ",")+"]"))
	}
	var spans []string
	for _, line := range input {
		w := strings.Fields(line)
		parent := ""
		if w[1] != "-" {
			parent = `"parentSpanId":"000000000000000` + w[1] + `",`
		}
		spans = append(spans, fmt.Sprintf(`{"traceId":"00000000000000000000000000000001","spanId":"000000000000000%s",%s`+
			`"startTimeUnixNano":"%s","endTimeUnixNano":"%s","name":"%s"}`, w[0], parent, at(w[2]), at(w[3]), w[4]))
	}
	src, err := otlp.New(strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"lib"},"spans":[`+
		strings.Join(spans, ",")+`]}]}]}`), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return ntconvtest.Poison(src)
}

// at returns a time as nanoseconds since 1970.
func at(nanos string) string { return fmt.Sprintf("1767225600000%06s", nanos) }

// sliceLines returns samples in the form of testdata/slices.txt.
func sliceLines(p *profile.Profile, report *ntconv.Report) (list []string) {
	for s := range p.Samples() {
		var names, labels []string
		for _, f := range slices.Backward(s.Frames) {
			names = append(names, f.Func.Name)
		}
		for _, l := range s.Labels {
			switch l.Key {
			case "tid":
				labels = append(labels, fmt.Sprintf("tid=%d", l.Num))
			case "category", "async":
				labels = append(labels, l.Key+"="+l.Str)
			}
		}
		list = append(list, strings.Join(slices.Concat(
			[]string{fmt.Sprint(s.Values[1]), fmt.Sprint(s.Values[0]), strings.Join(names, ";")}, labels), " "))
	}
	if text := p.Estimate.String(); text != "" {
		list = append(list, "remark "+text)
	}
	for _, e := range report.Entries() {
		list = append(list, fmt.Sprintf("%v %s", e.Code, e.Detail))
	}
	return list
}

// Cases of slices and spans give the samples that are written next to them, in any order.
func TestSlices(t *testing.T) {
	for _, c := range corpus.Cases(t, filepath.Join("testdata", "slices.txt")) {
		t.Run(c.Name, func(t *testing.T) {
			got := sliceLines(slicesOf(t, scriptSource(t, c.Input)))
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.Want))
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// The time of a thread belongs to exactly one slice: all values add up to the time that the slices cover, whether they
// are nested or overlap, and every slice is counted.
func TestThreadTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []string
		var all []sweptSlice
		for range rapid.IntRange(1, 12).Draw(t, "slices") {
			from := rapid.IntRange(0, 20).Draw(t, "from")
			s := sweptSlice{fmt.Sprint(rapid.IntRange(1, 2).Draw(t, "tid")), int64(from) * 1000,
				int64(from+rapid.IntRange(0, 8).Draw(t, "length")) * 1000}
			all = append(all, s)
			text = append(text, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%s,"ts":%d,"dur":%d,"name":"%c"}`,
				s.thread, s.from/1000, (s.to-s.from)/1000, 'a'+rapid.IntRange(0, 3).Draw(t, "name")))
		}
		src, err := chrome.New(strings.NewReader("["+strings.Join(text, ",")+"]"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		b := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Slices})
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			b.Add(e)
		}
		count, time, _ := sliceTotals(b.Finish())
		if want := covered(all); count != int64(len(all)) || time != want {
			t.Fatalf("%d slices, %d ns, want %d, %d", count, time, len(all), want)
		}
	})
}

// sliceTotals returns the number and the time of the slices of threads, and the number of the others.
func sliceTotals(p *profile.Profile) (count, time, async int64) {
	for s := range p.Samples() {
		if slices.ContainsFunc(s.Labels, func(l ntconv.Label) bool { return l.Key == "async" }) {
			async += s.Values[0]
			continue
		}
		count, time = count+s.Values[0], time+s.Values[1]
	}
	return count, time, async
}

// A slice of a known stack needs no memory of its own.
func TestSliceAllocations(t *testing.T) {
	src := chromeSource(t, `[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":10,"name":"a"},{"ph":"X","pid":1,"tid":2,"ts":1,"dur":4,"name":"b"},
		{"ph":"B","pid":1,"tid":2,"ts":6,"name":"c"},{"ph":"E","pid":1,"tid":2,"ts":8}]`)
	var events []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			events = append(events, e.Clone())
		}
	}
	b := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Slices})
	if n := testing.AllocsPerRun(1000, func() {
		for _, e := range events {
			b.Add(e)
			e.Time += 20_000
		}
	}); n != 0 {
		t.Errorf("%g allocations per round of %d events", n, len(events))
	}
	count, time, _ := sliceTotals(b.Finish())
	if count != 3*1001 || time != 10_000*1001 {
		t.Errorf("%d slices, %d ns", count, time)
	}
}

// BenchmarkSlices measures the kind slices on nested slices of four threads.
func BenchmarkSlices(b *testing.B) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, `,{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"f%d"}`, i%4, 3*i, 1+i%11, i%41)
	}
	src := chromeSource(b, "["+text.String()[1:]+"]")
	var events []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			b.Fatal(err)
		}
		events = append(events, e.Clone())
	}
	b.ReportAllocs()
	for b.Loop() {
		p := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Slices})
		for _, e := range events {
			p.Add(e)
		}
		p.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}

// A slice is selected if one of its events is.
func TestSelectedSlices(t *testing.T) {
	for _, text := range []string{
		`{"ph":"B","pid":1,"tid":2,"ts":0,"name":"a"},{"ph":"E","pid":1,"tid":2,"ts":8}`,
		`{"ph":"b","id":1,"pid":1,"tid":2,"ts":0,"name":"a"},{"ph":"e","id":1,"pid":1,"tid":2,"ts":8,"name":"a"}`,
	} {
		for selected := range 3 {
			src := chromeSource(t, "["+text+"]")
			b := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Slices})
			n := 0
			for e, err := range ntconv.Events(src) {
				if err != nil {
					t.Fatal(err)
				}
				b.Watch(e)
				if e.Kind == ntconv.KindEvent {
					if n == selected {
						b.Add(e)
					}
					n++
				}
			}
			count, time, async := sliceTotals(b.Finish())
			if want := int64(1 - selected/2); count+async != want || count > 0 && time != 8000 {
				t.Errorf("%s: event %d selected: %d slices, %d ns, want %d", text, selected, count+async, time, want)
			}
		}
	}
}

// A span that is recorded at its end finds its parents, which are recorded after it, however many spans there are.
func TestManySpans(t *testing.T) {
	var spans strings.Builder
	span := func(trace, id, parent, from, to int, name string) {
		fmt.Fprintf(&spans, `,{"traceId":"%032x","spanId":"%016x","parentSpanId":"%016x","startTimeUnixNano":"%d","endTimeUnixNano":"%d","name":"%s"}`,
			trace, id, parent, from, to, name)
	}
	const traces = 70_000
	for i := 1; i <= traces; i++ {
		at := 1767225600_000000000 + i*100
		span(i, 3*i, 3*i-1, at+20, at+30, "query")
		span(i, 3*i-1, 3*i-2, at+10, at+40, "handler")
		if i > 1 { // the root of the trace before, so that traces overlap
			span(i-1, 3*(i-1)-2, 0, at-100, at+50, "GET")
		}
	}
	src, err := otlp.New(strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+spans.String()[1:]+`]}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := slicesOf(t, src)
	got := map[string]int64{}
	for s := range p.Samples() {
		names := make([]string, 0, len(s.Frames))
		for _, f := range slices.Backward(s.Frames) {
			names = append(names, f.Func.Name)
		}
		got[strings.Join(names, ";")] += s.Values[0]
	}
	want := map[string]int64{"GET": traces - 1, "GET;handler": traces - 1, "GET;handler;query": traces - 1, "handler": 1, "handler;query": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
