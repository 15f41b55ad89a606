package selection

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"pgregory.net/rapid"
)

// Every kind has an example that is an expression about it, and its name alone is one, too.
func TestKinds(t *testing.T) {
	for _, k := range kinds() {
		for _, text := range []string{k.subject.Example, k.subject.Name} {
			c, err := ParseDuring(text)
			if err != nil || c.kind.subject.Name != k.subject.Name || c.Text() != text {
				t.Errorf("%s: %v", text, err)
			}
		}
		if k.noun == "" || k.record == "" || k.tallied == "" || k.wants == nil && k.isSpan == nil || (k.isSpan == nil) != (k.ofSpan == nil) {
			t.Errorf("%s: incomplete", k.subject.Name)
		}
	}
}

// Every pair of a trace can be named: the kind pair comprises all intervals of the runtime, and the spans of event
// sources.
func TestEveryPairHasAName(t *testing.T) {
	names := map[string]bool{}
	for _, file := range corpus.Traces(t) {
		src, err := reader.NewBytes(file.Data, nil)
		if err != nil {
			continue // no trace
		}
		c, err := ParseDuring("pair")
		if err != nil {
			t.Fatal(err)
		}
		f, whole := NewDuringFilter([]*DuringCondition{c}), int64(0)
		see, end := f.Learn(src.Info())
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break
			}
			see(e)
		}
		end()
		g := f.groups[0]
		for _, p := range f.pairs {
			if whole += p.Whole; p.Whole > 0 {
				names[p.Pair.Name] = true
			}
			if g.values[p.Pair.Name] < p.Whole {
				t.Errorf("%s: %d intervals %s, %d have the name", file.Name, p.Whole, p.Pair.Name, g.values[p.Pair.Name])
			}
		}
		for _, n := range g.values {
			whole -= n
		}
		if spans := int64(g.index.Picked()); whole != -spans || g.picked != g.total {
			t.Errorf("%s: %d intervals and spans, of which %d are spans, %d too many", file.Name, g.total, spans, -whole-spans)
		}
	}
	if len(names) < 8 {
		t.Errorf("only %v", names)
	}
}

// The attributes of requests have different keys, and DiagnosticSource records numbers as text.
func TestRequestProperties(t *testing.T) {
	activity := &span.Span{Name: "GET", Kind: span.KindServer, Scope: &span.Scope{Name: "Microsoft.AspNetCore"}, Evidence: span.FromActivity, Start: 5, End: 105, Attributes: []span.Attribute{
		{Key: "http.request.method", Value: span.String("GET")}, {Key: "http.route", Value: span.String("/cart/{id}")},
		{Key: "url.path", Value: span.String("/cart/7")}, {Key: "http.response.status_code", Value: span.String("503")}, {Key: "server.address", Value: span.String("Shop")},
	}}
	pair := &span.Span{Name: "Request", Kind: span.KindClient, Scope: &span.Scope{Name: "System.Net.Http"}, Evidence: span.FromPair, Start: 5, End: 105, Attributes: []span.Attribute{
		{Key: "host", Value: span.String("shop")}, {Key: "pathAndQuery", Value: span.String("/cart/7")}, {Key: "statusCode", Value: span.Int(503)},
	}}
	other := &span.Span{Name: "Resolution", Scope: &span.Scope{Name: "System.Net.NameResolution"}, Evidence: span.FromPair}
	for text, want := range map[string][2]bool{
		`request`:                           {true, true},
		`request.route == "/cart/{id}"`:     {true, false},
		`request.route == "/cart/7"`:        {false, true},
		`request.path == "/cart/7"`:         {true, true},
		`request.status >= 500`:             {true, true},
		`request.method == "get"`:           {true, false},
		`request.host == "SHOP"`:            {true, true},
		`request.side == "client"`:          {false, true},
		`request.duration == 100ns`:         {true, true},
		`request.attributes.host == "shop"`: {false, true},
	} {
		c, err := ParseDuring(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for i, s := range []*span.Span{activity, pair} {
			if got := c.kind.isSpan(s) && c.matchSpan(s, ntconv.Clock{Freq: 1e9}); got != want[i] {
				t.Errorf("%s: span %d: %v", text, i, got)
			}
		}
		if c.kind.isSpan(other) {
			t.Error("the resolution of a name is a request")
		}
	}
}

// Events with any payload, in any order, cause no panic, and no condition selects more than all intervals of its kind.
func TestAnyEvents(t *testing.T) {
	var conditions []*DuringCondition
	for _, k := range kinds() {
		text := "has(" + k.subject.Name + ")"
		for _, p := range k.subject.Properties {
			if p.Kind != where.PropertyKeyed {
				text += " || has(" + k.subject.Name + "." + p.Name + ")"
			}
		}
		if k.isSpan == nil {
			text += ` || has(` + k.subject.Name + `.fields.Count)`
		}
		c, err := ParseDuring(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	threads := []*ntconv.Thread{nil, {TID: 1}, {TID: 2, Process: &ntconv.Process{PID: 1}}, {TID: ntconv.TIDUnknown, Process: &ntconv.Process{PID: 1}}}
	rapid.Check(t, func(t *rapid.T) {
		var events []*ntconv.Event
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			th := rapid.SampledFrom(threads).Draw(t, "thread")
			events = append(events, &ntconv.Event{
				Kind: rapid.SampledFrom([]ntconv.Kind{ntconv.KindEvent, ntconv.KindEvent, ntconv.KindEvent, ntconv.KindLost}).Draw(t, "kind"),
				Time: ntconv.Ticks(rapid.IntRange(-5, 50).Draw(t, "at")), Thread: th, Capture: th,
				Type: &ntconv.Type{
					Provider: rapid.SampledFrom([]string{clr.Runtime, operation.TPL}).Draw(t, "provider"),
					ID:       rapid.SampledFrom([]uint32{1, 2, 3, 9, 7, 8, 10, 11, 73, 74, 80, 81, 91, 143, 145, 256, 301, 302, 39}).Draw(t, "id"),
					Version:  rapid.Uint8Range(0, 3).Draw(t, "version"),
				},
				Payload: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "payload"),
			})
		}
		f := NewDuringFilter(conditions)
		see, end := f.Learn(info)
		for _, e := range events {
			see(e)
		}
		end()
		for _, e := range events {
			if e.Kind == ntconv.KindEvent {
				f.Keep(e, active.All)
			}
		}
		f.Notes()
		for _, g := range f.groups {
			if g.picked != g.total {
				t.Fatalf("%s: %d of %d selected", g.subject.Name, g.picked, g.total)
			}
		}
	})
}

// Selecting an event does not allocate.
func TestDuringWithoutAllocation(t *testing.T) {
	var conditions []*DuringCondition
	for _, text := range []string{"gc", "pair", "span"} {
		c, err := ParseDuring(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	src, err := reader.NewBytes(corpus.Trace(t, "alloc-verbose").Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := NewDuringFilter(conditions)
	see, end := f.Learn(src.Info())
	var last ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		see(e)
		if e.Kind == ntconv.KindEvent {
			last = *e
		}
	}
	end()
	f.Keep(&last, active.All)
	if n := testing.AllocsPerRun(100, func() { f.Keep(&last, active.All) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// No text makes the parser panic, and an expression in canonical form is an equal expression about the same kind.
func FuzzParseDuring(f *testing.F) {
	for _, k := range kinds() {
		f.Add(k.subject.Example)
		f.Add("!" + k.subject.Name + " || has(" + k.subject.Name + ".duration)")
	}
	f.Add(`pair.fields."a b".c in (1, "x", true) && !(pair.start > 1.5s)`)
	f.Add("gc in (1)")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseDuring(text)
		if err != nil {
			if _, ok := err.(*where.Error); !ok {
				t.Fatalf("%q: %T", text, err)
			}
			return
		}
		again, err := ParseDuring(c.where.String())
		if err != nil || again.where.String() != c.where.String() || again.kind.subject.Name != c.kind.subject.Name {
			t.Fatalf("%q is printed as %q: %v", text, c.where, err)
		}
	})
}
