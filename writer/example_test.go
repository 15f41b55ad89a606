package writer_test

import (
	"bytes"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// A trace built from scratch: one event type with one field, and one event.
func Example() {
	request := &ntconv.Type{Provider: "Shop", ID: 1, Name: "Request", Fields: []ntconv.Field{
		{Name: "milliseconds", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
	thread := &ntconv.Thread{TID: 17, Process: &ntconv.Process{PID: 4}}
	payload, err := ntconv.AppendFields(nil, request.Fields, []ntconv.Value{ntconv.UintValue(250)}, 8)
	if err != nil {
		fmt.Println(err)
		return
	}

	var file bytes.Buffer
	w, err := writer.New(&file, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Write(&ntconv.Event{CPU: ntconv.CPUUnknown, Time: 1000, Type: request, Thread: thread, Capture: thread, Payload: payload})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := reader.New(&file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Kind == ntconv.KindEvent {
			ms, _ := e.Field("milliseconds")
			fmt.Println(e.Type.Name, "on thread", e.Thread.TID, "took", ms, "ms")
		}
	}
	// Output: Request on thread 17 took 250 ms
}
