package folded_test

import (
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Stacks that carry their names become lines, one per distinct stack, with their total. Here each sample weighs 1 ms,
// and the total is in nanoseconds.
func Example() {
	cpu := &ntconv.Type{Provider: "Universal.Events", Name: "cpu", Fields: []ntconv.Field{
		{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
	work := &ntconv.Function{Name: "main.work"}
	main := &ntconv.Function{Name: "main.main"}
	stack := &ntconv.Stack{Frames: []ntconv.Frame{{Func: work}, {Func: main}}}
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	var events []*ntconv.Event
	for i := range ntconv.Ticks(3) {
		payload, err := ntconv.AppendFields(nil, cpu.Fields, []ntconv.Value{ntconv.UintValue(1)}, 8)
		if err != nil {
			log.Fatal(err)
		}
		events = append(events, &ntconv.Event{Time: i, Type: cpu, Thread: thread, Stack: stack, Payload: payload})
	}
	src := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, events...)

	sink := folded.New(os.Stdout, src.Info(), nil, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: main.main;main.work 3000000
}
