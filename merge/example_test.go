package merge_test

import (
	"fmt"
	"log"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/merge"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Two traces become one in time order. Their processes stay apart, although both have the ID 7.
func ExampleByTime() {
	trace := func(provider string, times ...ntconv.Ticks) ntconv.Source {
		thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 7}}
		var events []*ntconv.Event
		for _, at := range times {
			events = append(events, &ntconv.Event{Type: &ntconv.Type{Provider: provider}, Thread: thread, Time: at})
		}
		return ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, events...)
	}
	both := merge.ByTime(trace("shop", 10, 30), trace("bank", 20))
	for e, err := range ntconv.Events(both) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Time, e.Type.Provider, "process", e.Thread.Process.PID)
	}
	// Output:
	// 10 shop process 7
	// 20 bank process 8
	// 30 shop process 7
}
