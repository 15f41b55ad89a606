package firefox_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// The samples and events of a trace become a profile of the Firefox Profiler.
func Example() {
	trace, err := os.Open("../../testdata/cpu-env.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	src, err := reader.New(trace, nil)
	if err != nil {
		log.Fatal(err)
	}
	names := symbol.New(nil)
	var timeline bytes.Buffer
	sink := firefox.New(&timeline, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Samples, "samples on", s.Threads, "threads and processes")
	// Output: 194 samples on 10 threads and processes
}
