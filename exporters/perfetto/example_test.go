package perfetto_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/perfetto"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A trace becomes a timeline in the protobuf format of Perfetto, which is smaller than JSON.
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
	sink := perfetto.New(&timeline, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	s := sink.Summary()
	fmt.Println(s.Samples, "samples,", s.Instants, "instants")
	// Output: 194 samples, 530 instants
}
