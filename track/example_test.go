package track_test

import (
	"fmt"

	"github.com/ntconv/ntconv/track"
)

// A program that lets its users choose what a timeline shows lists the names.
func Example() {
	tracks := track.GC | track.Waits | track.Counters
	for _, n := range track.Names() {
		if tracks&n.Set != 0 {
			fmt.Println(n.Name)
		}
	}
	// Output:
	// gc
	// waits
	// counters
}
