package ntconv_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	pprofile "github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// convert writes a pprof profile of a .NET trace, in one pass. The table of names learns from the events that pass it
// on their way to the sink, which asks it when it is closed.
func convert(profile io.Writer, trace io.Reader) error {
	src, err := reader.New(trace, nil)
	if err != nil {
		return err
	}
	names := symbol.New(nil)
	sink := pprof.New(profile, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		return err
	}
	return sink.Close()
}

// A trace becomes a profile.
func Example() {
	trace, err := os.Open("testdata/cpu-env.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	var profile bytes.Buffer
	if err := convert(&profile, trace); err != nil {
		log.Fatal(err)
	}
	p, err := pprofile.Parse(&profile)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(p.Sample), "samples of", p.DefaultSampleType)
	// Output: 66 samples of wall
}

// printEvents prints the events of a name, with what their payloads say by their own description.
func printEvents(w io.Writer, trace io.Reader, provider, name string) error {
	src, err := reader.New(trace, nil)
	if err != nil {
		return err
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return err
		}
		if e.Kind != ntconv.KindEvent || e.Type.Provider != provider || e.Type.Name != name {
			continue
		}
		at := time.Duration(src.Info().Clock.Nanos(e.Time))
		fmt.Fprintf(w, "%v thread %d:", at.Round(time.Millisecond), e.Thread.TID)
		for field, value := range e.Fields() {
			fmt.Fprintf(w, " %s=%v", field.Name, value)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// Events are read one by one; what one holds is borrowed until the next.
func ExampleEvents() {
	trace, err := os.Open("testdata/activities.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	if err := printEvents(os.Stdout, trace, "Shop-Activities", "OrderStart"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 56ms thread 16066: id=1
	// 60ms thread 16067: id=2
	// 64ms thread 16067: id=3
	// 77ms thread 16057: id=1000
}
