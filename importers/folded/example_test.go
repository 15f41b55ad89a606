package folded_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/folded"
)

// Each line of folded stacks becomes one event with a stack of names, leaf first.
func ExampleNew() {
	const file = `main;scan;memcpy 120
main;wait 30
`
	src, err := folded.New(strings.NewReader(file), &folded.Options{SampleType: "cpu", Unit: "nanoseconds"})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			value, _ := e.Field("Value")
			fmt.Println(e.Stack.Frames[0].Func.Name, "called by", e.Stack.Frames[1].Func.Name, value)
		}
	}
	// Output:
	// memcpy called by scan 120
	// wait called by main 30
}
