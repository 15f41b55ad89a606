package html_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/html"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A trace becomes a page that a browser opens from a file.
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
	var page bytes.Buffer
	sink, err := html.New(&page, src.Info(), names, &html.Options{Source: "cpu-env.nettrace"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Samples, "samples of", s.Kinds, s.Bytes == int64(page.Len()))
	// Output: 194 samples of [wall] true
}
