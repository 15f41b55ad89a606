package firefox_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
)

// The samples of a processed profile become events with stacks of names, its markers and counters other events.
func ExampleNew() {
	file, err := os.Open("testdata/profile-60.json")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	src, err := firefox.New(file, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close() // removes its temporary file
	samples, others := 0, 0
	for e, err := range ntconv.Events(src) {
		switch {
		case err != nil:
			log.Fatal(err)
		case e.Kind == ntconv.KindEvent && e.Stack != nil:
			samples++
		case e.Kind == ntconv.KindEvent:
			others++
		}
	}
	fmt.Println(samples, "events with a stack,", others, "without")
	// Output: 13 events with a stack, 12 without
}
