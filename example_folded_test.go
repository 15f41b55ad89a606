package ntconv_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// fold writes the samples of a .NET trace as folded stacks: one line per distinct stack, with its wall-clock time in
// milliseconds.
func fold(stacks io.Writer, trace io.Reader) error {
	src, err := reader.New(trace, nil)
	if err != nil {
		return err
	}
	names := symbol.New(nil)
	sink := folded.New(stacks, src.Info(), names, &folded.Options{Unit: "milliseconds"})
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		return err
	}
	return sink.Close()
}

// A trace is converted to folded stacks, which flamegraph.pl, inferno and speedscope read.
func Example_folded() {
	trace, err := os.Open("testdata/cpu-env.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	var stacks bytes.Buffer
	if err := fold(&stacks, trace); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(stacks.String()) {
		if strings.HasPrefix(line, "Shop.Program.Main(string[]);Shop.Cpu.") {
			fmt.Print(line)
		}
	}
	// Output:
	// Shop.Program.Main(string[]);Shop.Cpu.Run(int);Shop.Truth.Start(string, Action);System.Threading.Thread.StartCore() 90
	// Shop.Program.Main(string[]);Shop.Cpu.Run(int);System.Threading.Thread.Join();System.Threading.Thread.Join(int) 323
}
