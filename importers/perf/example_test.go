package perf_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// Each event of perf becomes one event with a stack of names, leaf first.
func ExampleNew() {
	const text = `shop 4242/4245 [001] 7722.359557: 5025125 cpu-clock:
	4ca5f9 main.scan+0x19 (/usr/bin/shop)
	4ca622 main.main+0x42 (/usr/bin/shop)
`
	src, err := perf.New(strings.NewReader(text), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			value, _ := e.Field("cpu-clock")
			fmt.Println(e.Stack.Frames[0].Func.Name, "called by", e.Stack.Frames[1].Func.Name, value, "ns on CPU", e.CPU)
		}
	}
	// Output:
	// main.scan called by main.main 5025125 ns on CPU 1
}
