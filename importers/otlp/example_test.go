package otlp_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
)

// Each span becomes one event otlp/Span.
func ExampleNew() {
	const file = `{"resourceSpans": [{"scopeSpans": [{"spans": [{
	"traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7", "name": "GET /cart", "kind": 2,
	"startTimeUnixNano": "1000000000", "endTimeUnixNano": "1250000000"}]}]}]}`
	src, err := otlp.New(strings.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			name, _ := e.Field("name")
			kind, _ := e.Field("kind")
			fmt.Println(e.Type.Provider+"/"+e.Type.Name, name, kind)
		}
	}
	// Output: otlp/Span GET /cart 2
}
