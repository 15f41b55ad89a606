package pprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
)

// Each sample of a profile becomes one event. Its weight is the value of a sample type, the one that the profile shows
// first unless Options.SampleType names another one.
func ExampleNew() {
	file, err := os.Open("../../testdata/go-cpu.pb.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	src, err := pprof.New(file, &pprof.Options{SampleType: "samples"})
	if err != nil {
		log.Fatal(err)
	}
	events, total := 0, uint64(0)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if value, ok := e.Field("samples"); ok && e.Kind == ntconv.KindEvent {
			events++
			total += uint64(value.Int()) + value.Uint()
		}
	}
	fmt.Println(events, "distinct samples,", total, "in all")
	// Output: 99 distinct samples, 210 in all
}
