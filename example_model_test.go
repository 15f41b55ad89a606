package ntconv_test

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Copy, Filter and Observe are all it takes to choose events and to look at them on their way.
func ExampleFilter() {
	trace := ntconvtest.Fixtures()[2] // or reader.New(file, nil)
	var sink ntconvtest.Recorder      // or writer.New(file, src.Info(), nil)

	src := ntconv.Filter(trace.Source(), func(e *ntconv.Event) bool {
		return e.Kind != ntconv.KindEvent || e.Type.Name == "X"
	})
	src = ntconv.Observe(src, func(e *ntconv.Event) {
		if e.Kind == ntconv.KindEvent {
			fmt.Println(e.Type.Provider, e.Type.Name, "at", trace.Info.Clock.Duration(e.Time-trace.Info.Clock.Tick))
		}
	})
	if _, err := ntconv.Copy(&sink, src); err != nil {
		fmt.Println(err)
	}
	// Output: chrome X at 2.5µs
}

// The fields of a payload are decoded as the loop goes over them.
func ExampleEvent_Fields() {
	span := ntconvtest.Fixtures()[1].Events[0]
	for f, v := range span.Fields() {
		if v.Kind() == ntconv.ValueString {
			fmt.Printf("%s: %s\n", f.Name, v)
		}
	}
	attributes, _ := span.Field("attributes")
	for a := range attributes.Elems() {
		key, _ := a.Field("key")
		fmt.Println("attribute", key)
	}
	// Output:
	// name: SELECT cart
	// parentSpanId: 00f067aa0ba902b7
	// traceState: rojo=00f067aa0ba902b7
	// statusMessage: database is locked
	// attribute db.system
	// attribute rows
}
