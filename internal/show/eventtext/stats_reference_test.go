package eventtext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// A report is the JSON of a table, as a program reads it.
type report struct {
	Groups int      `json:"groups"`
	Rows   []result `json:"rows"`
	More   *result  `json:"more"`
	Total  result   `json:"total"`
	Notes  []string `json:"notes"`
}

type result struct {
	By     map[string]any `json:"by"`
	Groups int            `json:"groups"`
	Events int64          `json:"events"`
	Bytes  int64          `json:"bytes"`
	Values int64          `json:"values"`
	Sum    json.Number    `json:"sum"`
	Min    json.Number    `json:"min"`
	Mean   float64        `json:"mean"`
	P50    json.Number    `json:"p50"`
	P90    json.Number    `json:"p90"`
	P99    json.Number    `json:"p99"`
	Max    json.Number    `json:"max"`
	Error  float64        `json:"quantile_error"`
}

// options parses the operands of a table.
func options(t testing.TB, by, of string) (opts eventtext.StatsOptions) {
	t.Helper()
	var err error
	if opts.By, err = where.ParseOperands(by); err != nil {
		t.Fatal(err)
	}
	if of != "" {
		list, err := where.ParseOperands(of)
		if err != nil {
			t.Fatal(err)
		}
		opts.Of = list[0]
	}
	return opts
}

// reportOf returns the table of a sink as a program reads it.
func reportOf(t testing.TB, s *eventtext.StatsSink, limit int) (r report) {
	t.Helper()
	text, err := s.Table(limit).JSON("input")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// tableOf returns the table of the events of a trace with a name; "" selects all events.
func tableOf(t testing.TB, trace []byte, event, by, of string) report {
	t.Helper()
	src, err := reader.New(bytes.NewReader(trace), &reader.Options{Order: reader.FileOrder})
	if err != nil {
		t.Fatal(err)
	}
	filter, err := where.Parse(fmt.Sprintf("$event == %q", event))
	if err != nil {
		t.Fatal(err)
	}
	m, err := filter.Bind(src.Info().Clock)
	if err != nil {
		t.Fatal(err)
	}
	s := eventtext.NewStats(src.Info().Clock, options(t, by, of))
	for e := range ntconv.Events(ntconvtest.Poison(src)) {
		if e == nil || e.Kind != ntconv.KindEvent || event != "" && !m.Match(e) {
			continue
		}
		if err := s.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	return reportOf(t, s, 0)
}

// A naive group holds all events of a group and all values of a field.
type naive struct {
	events, bytes int64
	values        []*big.Float
}

// check compares a row with the values themselves.
func (n *naive) check(t *testing.T, name string, r *result) {
	t.Helper()
	if r.Events != n.events || r.Bytes != n.bytes || r.Values != int64(len(n.values)) {
		t.Errorf("%s: got %d events, %d bytes, %d values; want %d, %d, %d", name, r.Events, r.Bytes, r.Values, n.events, n.bytes, len(n.values))
		return
	}
	if len(n.values) == 0 {
		return
	}
	slices.SortFunc(n.values, func(a, b *big.Float) int { return a.Cmp(b) })
	total := new(big.Float).SetPrec(2200)
	for _, v := range n.values {
		total.Add(total, v)
	}
	last := len(n.values) - 1
	rank := func(percent int) *big.Float { return n.values[max(0, (len(n.values)*percent+99)/100-1)] }
	exact := map[string][2]any{
		"sum": {r.Sum, total}, "min": {r.Min, n.values[0]}, "max": {r.Max, n.values[last]},
	}
	quantiles := map[string][2]any{"p50": {r.P50, rank(50)}, "p90": {r.P90, rank(90)}, "p99": {r.P99, rank(99)}}
	if r.Error == 0 {
		maps.Copy(exact, quantiles)
	} else if r.Values <= 4096 || r.Error != distribution.QuantileError {
		t.Errorf("%s: error %v with %d values", name, r.Error, r.Values)
	}
	for what, pair := range exact {
		if got, want := numeral(t, pair[0].(json.Number)), pair[1].(*big.Float); got.Cmp(rounded(want)) != 0 {
			t.Errorf("%s: %s is %s, want %s", name, what, pair[0], want.Text('g', 30))
		}
	}
	for what, pair := range quantiles {
		want, _ := pair[1].(*big.Float).Float64()
		got, _ := numeral(t, pair[0].(json.Number)).Float64()
		if math.Abs(got-want) > r.Error*math.Abs(want) {
			t.Errorf("%s: %s is %v, want %v within %v", name, what, got, want, r.Error)
		}
	}
	want, _ := new(big.Float).SetPrec(2200).Quo(total, big.NewFloat(float64(len(n.values)))).Float64()
	if r.Mean != want {
		t.Errorf("%s: mean is %v, want %v", name, r.Mean, want)
	}
}

// rounded returns x if it is an integer, and otherwise the nearest float64.
func rounded(x *big.Float) *big.Float {
	if x.IsInt() {
		return x
	}
	f, _ := x.Float64()
	return big.NewFloat(f)
}

func numeral(t *testing.T, n json.Number) *big.Float {
	t.Helper()
	f, _, err := big.ParseFloat(n.String(), 10, 2200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(n.String(), ".e") {
		return rounded(f)
	}
	return f
}

// A reference line is an event as TraceEvent decodes it.
type referenceLine map[string]any

// at returns the value at a path of keys separated by dots. The objects without a name around counters are omitted.
func (l referenceLine) at(path string) any {
	if name, ok := strings.CutPrefix(path, "$"); ok {
		return l[name]
	}
	payload, _ := l["payload"].(map[string]any)
	if inner, ok := payload[""].(map[string]any); ok {
		payload = inner
	}
	var v any = payload
	for key := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// groupsOf returns the groups of a reference dump: of the events with a name, or of all events.
func groupsOf(t *testing.T, dump []byte, name string, by []string, of string) map[string]*naive {
	t.Helper()
	groups := map[string]*naive{}
	d := json.NewDecoder(bytes.NewReader(dump))
	d.UseNumber()
	for d.More() {
		var l referenceLine
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if name != "" && l["name"] != name {
			continue
		}
		if fmt.Sprint(l["id"]) == "65524" {
			l["id"] = json.Number("39") // TraceEvent assigns its own ID to one kind of GCDynamicEvent
		}
		var key []string
		for _, path := range by {
			key = append(key, fmt.Sprint(l.at(path)))
		}
		g := groups[strings.Join(key, "|")]
		if g == nil {
			g = new(naive)
			groups[strings.Join(key, "|")] = g
		}
		g.events++
		size, err := l["size"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		g.bytes += size
		if v, ok := l.at(of).(json.Number); ok && of != "" {
			g.values = append(g.values, numeral(t, v))
		}
	}
	return groups
}

// compareGroups compares a table with the groups of a reference.
func compareGroups(t *testing.T, got report, want map[string]*naive, by []string) {
	t.Helper()
	if len(got.Rows) != len(want) || got.Groups != len(want) || len(want) == 0 {
		t.Errorf("got %d rows and %d groups, want %d", len(got.Rows), got.Groups, len(want))
	}
	all := new(naive)
	for i := range got.Rows {
		r := &got.Rows[i]
		var key []string
		for _, path := range by {
			key = append(key, fmt.Sprint(r.By[path]))
		}
		name := strings.Join(key, "|")
		g := want[name]
		if g == nil {
			t.Errorf("%s: no such group", name)
			continue
		}
		all.events, all.bytes, all.values = all.events+g.events, all.bytes+g.bytes, append(all.values, g.values...)
		g.check(t, name, r)
	}
	all.check(t, "total", &got.Total)
}

// The tables of real traces are those of a naive computation on the output of TraceEvent.
func TestAgainstReference(t *testing.T) {
	for _, c := range []struct {
		trace, event, name string // name of the event here and in TraceEvent
		by, of             string
		groups             int
	}{
		{"alloc-verbose", "GCAllocationTick", "GC/AllocationTick", "TypeName", "AllocationAmount64", 11},
		{"alloc-verbose", "GCAllocationTick", "GC/AllocationTick", "TypeName,$tid", "ObjectSize", 11},
		{"alloc-verbose", "GCAllocationTick", "GC/AllocationTick", "HeapIndex", "Address", 1},
		{"exceptions", "ExceptionThrown", "Exception/Start", "ExceptionType", "", 4},
		{"counters", "EventCounters", "EventCounters", "Payload.Name", "Payload.Mean", 10},
		{"counters", "EventCounters", "EventCounters", "Payload.DisplayUnits,Payload.CounterType", "Payload.Count", 4},
		{"jit", "MethodLoadVerbose", "Method/LoadVerbose", "MethodNamespace", "MethodSize", 5},
		{"jit", "MethodLoadVerbose", "Method/LoadVerbose", "$version", "MethodStartAddress", 1},
	} {
		t.Run(c.trace+" "+c.event+" "+c.by+" "+c.of, func(t *testing.T) {
			dump := corpus.Read(t, corpus.Path(c.trace+".events.jsonl.zst"))
			by := strings.Split(c.by, ",")
			want := groupsOf(t, dump, c.name, by, c.of)
			if len(want) < c.groups {
				t.Errorf("the reference has %d groups, want at least %d", len(want), c.groups)
			}
			compareGroups(t, tableOf(t, corpus.Trace(t, c.trace).Data, c.event, c.by, c.of), want, by)
		})
	}
}
