package speedscope_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/track"
)

// The samples of a trace become flame graphs of speedscope, one per thread.
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
	sink := speedscope.New(&timeline, src.Info(), names, &speedscope.Options{Options: track.Options{Name: "shop"}})
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Profiles, "profiles of", s.Samples, "samples")
	// Output: 6 profiles of 194 samples
}
