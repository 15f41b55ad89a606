package diagsource_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// recorded is a copy of an event of the provider, with its schema.
type recorded struct {
	event  *ntconv.Event
	schema *schema.Schema
}

// eventsOf returns the events of the provider in a trace.
func eventsOf(tb testing.TB, data []byte) (*ntconv.Info, []recorded) {
	tb.Helper()
	src, err := reader.New(bytes.NewReader(data), nil)
	if err != nil {
		tb.Fatal(err)
	}
	var table schema.Table
	var out []recorded
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		if s := table.Of(e); s.Provider == diagsource.Provider {
			out = append(out, recorded{e.Clone(), s})
		}
	}
	return src.Info(), out
}

// uniqueEvents returns Stop events with distinct IDs, times and tags.
func uniqueEvents() (*ntconv.Info, []recorded) {
	var table schema.Table
	out := make([]recorded, 8192)
	for i := range out {
		e := event("ActivityStop", ntconv.Ticks(i), 0, "Shop.Checkout", "System.Net.Http.HttpRequestOut",
			fmt.Sprintf("TraceId=%032x", i+1), fmt.Sprintf("SpanId=%016x", i+1), "ParentSpanId=b7ad6b7169203331", "ActivityTraceFlags=Recorded", "Kind=Client", "DisplayName=GET",
			fmt.Sprint("StartTimeTicks=", 639308438133429561+i*1000), fmt.Sprint("DurationTicks=", 1000+i), "Status=Unset",
			fmt.Sprintf("Tags=[http.request.method, GET],[server.address, 127.0.0.1],[server.port, 5199],[url.full, http://127.0.0.1:5199/orders/%d?*],[http.response.status_code, 200],"+
				"[network.protocol.version, 1.1]", i), "ActivitySourceVersion=1.0")
		out[i] = recorded{e, table.Of(e)}
	}
	return info, out
}

// TestAllocations checks that a span causes one allocation, for the text of its tags. All other strings are cached, and
// slices are reused.
func TestAllocations(t *testing.T) {
	info, events := uniqueEvents()
	d := diagsource.New(info, func(*ntconv.Event, *span.Span) {}, &diagsource.Options{Convention: true})
	i := 0
	add := func() {
		d.Add(events[i].event, events[i].schema)
		i++
	}
	add()
	if n := testing.AllocsPerRun(1000, add); n > 1 {
		t.Errorf("%v allocations per span, want 1", n)
	}
}

// TestAllocationsOfPairs checks that a recorded Start event causes no further allocation.
func TestAllocationsOfPairs(t *testing.T) {
	info, events := uniqueEvents()
	d := diagsource.New(info, func(*ntconv.Event, *span.Span) {}, nil)
	starts := make([]*ntconv.Event, len(events))
	for i := range events {
		c := *events[i].event
		c.Type = event("ActivityStart", 0, 0, "", "").Type
		starts[i] = &c
	}
	var table schema.Table
	i := 0
	add := func() {
		d.Add(starts[i], table.Of(starts[i]))
		d.Add(events[i].event, events[i].schema)
		i++
	}
	for range 10 {
		add()
	}
	if n := testing.AllocsPerRun(1000, add); n > 2 {
		t.Errorf("%v allocations per span, want 2", n)
	}
}
