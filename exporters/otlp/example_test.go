package otlp_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/reader"
)

// The spans of a trace become a file of JSON lines, as the file exporter of the OpenTelemetry Collector writes it. The
// function New sends them to a receiver.
func ExampleNewFile() {
	trace, err := os.Open("../../testdata/spans-stop.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	src, err := reader.New(trace, nil)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	sink := otlp.NewFile(&file, otlp.JSONLines, src.Info(), nil, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Items, "spans,", s.MadeIDs, "with synthetic IDs, in", bytes.Count(file.Bytes(), []byte("\n")), "lines")
	// Output: 41 spans, 2 with synthetic IDs, in 1 lines
}
