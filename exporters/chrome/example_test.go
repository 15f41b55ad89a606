package chrome_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A trace with spans becomes a timeline for Perfetto, chrome://tracing and DevTools. Close writes the names.
func Example() {
	trace, err := os.Open("../../testdata/spans-stop.nettrace.zst")
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
	sink := chrome.New(&timeline, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Spans, "spans,", s.Instants, "instants, JSON:", bytes.HasPrefix(timeline.Bytes(), []byte("{")))
	// Output: 41 spans, 15 instants, JSON: true
}
