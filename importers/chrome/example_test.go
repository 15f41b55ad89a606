package chrome_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
)

// Each of Chrome's trace events becomes one event, in time order.
func ExampleNew() {
	const file = `[
	{"ph": "X", "name": "parse", "cat": "compiler", "pid": 1, "tid": 2, "ts": 3000, "dur": 250},
	{"ph": "i", "name": "start", "cat": "compiler", "pid": 1, "tid": 2, "ts": 1000, "s": "t"}
]`
	src, err := chrome.New(strings.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			fmt.Println(src.Info().Clock.Duration(e.Time-src.Info().Clock.Tick), e.Type.Provider, e.Type.Name)
		}
	}
	// Output:
	// 0s compiler start
	// 2ms compiler parse
}
