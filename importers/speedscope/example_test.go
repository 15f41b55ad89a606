package speedscope_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/speedscope"
)

// Each sample of a profile becomes an event with a stack of names, leaf first.
func ExampleNew() {
	const file = `{
	"$schema": "https://www.speedscope.app/file-format-schema.json",
	"shared": {"frames": [{"name": "main"}, {"name": "scan"}, {"name": "wait"}]},
	"profiles": [{"type": "sampled", "name": "thread 1", "unit": "milliseconds", "startValue": 0, "endValue": 30,
		"samples": [[0, 1], [0, 2]], "weights": [20, 10]}]
}`
	src, err := speedscope.New(strings.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close() // removes its temporary file
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Stack != nil {
			fmt.Println(e.Stack.Frames[0].Func.Name, "called by", e.Stack.Frames[1].Func.Name)
		}
	}
	// Output:
	// scan called by main
	// wait called by main
}
