package callgrind_test

import (
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/callgrind"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Stacks that carry their names become functions with the costs of their own code and of their calls. Here each sample
// weighs 1 ms.
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

	sink := callgrind.New(os.Stdout, src.Info(), nil, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		log.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # callgrind format
	// version: 1
	// creator: ntconv
	// desc: Unit: cpu in nanoseconds
	// desc: Unit: samples in count
	// positions: line
	// events: cpu samples
	// summary: 3000000 3
	//
	// fl=(1) ???
	// fn=(1) (root)
	// cfn=(2) main.main
	// calls=1 0
	// 0 3000000 3
	//
	// fl=(1)
	// fn=(2)
	// cfn=(3) main.work
	// calls=1 0
	// 0 3000000 3
	//
	// fl=(1)
	// fn=(3)
	// 0 3000000 3
	//
	// totals: 3000000 3
}
