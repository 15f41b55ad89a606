package ntconvtest_test

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// keeper is a sink with a mistake: it keeps events, which it may only borrow.
type keeper struct{ events []*ntconv.Event }

func (k *keeper) Write(e *ntconv.Event) error { k.events = append(k.events, e); return nil }
func (k *keeper) Close() error                { return nil }

// Poison overwrites each event after its use, so that a test finds a sink that keeps one.
func ExamplePoison() {
	trace := ntconvtest.Fixtures()[2]
	var sink keeper
	if _, err := ntconv.Copy(&sink, ntconvtest.Poison(trace.Source())); err != nil {
		fmt.Println(err)
	}
	err := ntconvtest.EqualStreams(trace.Source(), ntconvtest.NewSource(trace.Info, sink.events...), nil)
	fmt.Println("equal:", err == nil)
	// Output: equal: false
}
