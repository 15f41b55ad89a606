package symbol_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A Table learns symbols from the events that pass it. .NET writes most of them last, so stacks are resolved at the
// end.
func ExampleWatch() {
	file, err := os.Open("../testdata/exceptions.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	src, err := reader.New(file, nil)
	if err != nil {
		log.Fatal(err)
	}
	names := symbol.New(nil)
	var stack *ntconv.Stack // may be kept, unlike the event
	var process *ntconv.Process
	var at ntconv.Ticks
	for e, err := range ntconv.Events(symbol.Watch(src, names)) {
		if err != nil {
			log.Fatal(err)
		}
		if stack == nil && e.Kind == ntconv.KindEvent && e.Type.Provider == "Microsoft-Windows-DotNETRuntime" && e.Type.ID == 80 { // ExceptionThrown
			stack, process, at = e.Stack, e.Thread.Process, e.Time
		}
	}
	for _, f := range names.AppendFrames(nil, process, stack, at) {
		if f.Flags&ntconv.FrameUnresolved == 0 {
			fmt.Println(f.Func.Name)
		}
	}
	// Output:
	// System.Runtime.EH.DispatchEx(ref StackFrameIterator, ref ExInfo)
	// Shop.Exceptions.Throw(Exception)
	// Shop.Exceptions.Run.lambda_11()
	// Shop.Exceptions.Note(string, string, string, Action, int, int?)
	// Shop.Exceptions.Run(int)
	// Shop.Program.Main(string[])
}
