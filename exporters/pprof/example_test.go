package pprof_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// The samples of a trace become a profile without the label "tid", so samples of all threads are added up.
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
	var file bytes.Buffer
	sink := pprof.New(&file, src.Info(), names, &pprof.Options{
		Options: sample.Options{Kind: sample.Wall, DropLabels: []string{"tid", "thread"}},
	})
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sink.Summary().Kind, "profile of", sink.Summary().Events, "samples")

	p, err := profile.Parse(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(slices.ContainsFunc(p.Function, func(f *profile.Function) bool { return f.Name == "Shop.Cpu.Fib(int)" }))
	// Output:
	// wall profile of 194 samples
	// true
}
