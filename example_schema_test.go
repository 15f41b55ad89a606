package ntconv_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// exceptions counts the exceptions of a trace by type.
func exceptions(trace io.Reader) (map[string]int, error) {
	src, err := reader.New(trace, nil)
	if err != nil {
		return nil, err
	}
	count := make(map[string]int)
	for e, err := range ntconv.Events(schema.Describe(src)) {
		if err != nil {
			return count, err
		}
		if name, ok := e.Field("ExceptionType"); ok && e.Kind == ntconv.KindEvent {
			count[name.String()]++
		}
	}
	return count, nil
}

// Events of the runtime have no fields in a trace; Describe adds them.
func Example_exceptions() {
	trace, err := os.Open("testdata/exceptions.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	count, err := exceptions(trace)
	if err != nil {
		log.Fatal(err)
	}
	for name, n := range count {
		fmt.Println(n, name)
	}
	// Unordered output:
	// 4 Shop.ShopException
	// 3 Shop.StockException`1[System.Int32]
	// 3 System.InvalidOperationException
	// 2 System.OperationCanceledException
	// 1 System.ArgumentException
	// 1 System.DivideByZeroException
	// 1 System.FormatException
	// 1 System.IndexOutOfRangeException
	// 1 System.NotSupportedException
	// 1 System.NullReferenceException
	// 1 System.TimeoutException
}

// pauses returns how long the garbage collector suspended the program, each time.
func pauses(trace io.Reader) (all []time.Duration, err error) {
	src, err := reader.New(trace, nil)
	if err != nil {
		return nil, err
	}
	var begin ntconv.Ticks
	var gc bool // others suspend the program, too
	for e, err := range ntconv.Events(schema.Describe(src)) {
		switch {
		case err != nil:
			return all, err
		case e.Kind == ntconv.KindEvent && e.Type.Name == "GCSuspendEEBegin":
			reason, _ := e.Field("Reason")
			begin, gc = e.Time, reason.Uint() == 1 // SuspendForGC
		case e.Kind == ntconv.KindEvent && e.Type.Name == "GCRestartEEEnd" && gc:
			all = append(all, src.Info().Clock.Since(begin, e.Time))
		}
	}
	return all, nil
}

// A pause begins when the runtime suspends its threads for a collection and ends when it has restarted them.
func Example_pauses() {
	trace, err := os.Open("testdata/alloc-verbose.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	all, err := pauses(trace)
	if err != nil {
		log.Fatal(err)
	}
	var total time.Duration
	for _, d := range all {
		total += d
	}
	fmt.Println(len(all), "pauses,", total.Round(time.Microsecond), "in total")
	// Output: 6 pauses, 2.718ms in total
}
