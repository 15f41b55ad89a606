package spangen

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// IDs of runtime events.
const (
	contentionStart = 81
	contentionStop  = 91
)

// A waits is a source with additional events.
type waits struct {
	ntconv.Source
	after   func(*ntconv.Event) bool
	types   [2]*ntconv.Type
	pending []*ntconv.Event
}

// Waits returns a source of the events of src. After each event for which after returns true it inserts a wait for a
// lock: a ContentionStart and a ContentionStop on the same thread, at the same time, without labels. It exists because
// few recordings contain both spans and intervals of the runtime.
func Waits(src ntconv.Source, after func(*ntconv.Event) bool) ntconv.Source {
	return &waits{Source: src, after: after, types: [2]*ntconv.Type{
		{
			Provider: clr.Runtime,
			ID:       contentionStart,
			Version:  1,
			Level:    4,
		}, {Provider: clr.Runtime, ID: contentionStop, Level: 4},
	}}
}

// Next implements ntconv.Source.
func (w *waits) Next() (*ntconv.Event, error) {
	if len(w.pending) > 0 {
		e := w.pending[0]
		w.pending = w.pending[1:]
		return e, nil
	}
	e, err := w.Source.Next()
	if err == nil && e.Kind == ntconv.KindEvent && e.Thread != nil && w.after(e) {
		for _, typ := range w.types {
			w.pending = append(w.pending, &ntconv.Event{
				Time: e.Time, Type: typ, Thread: e.Thread, Capture: e.Capture, CPU: ntconv.CPUUnknown, Seq: e.Seq, Offset: -1,
				Payload: binary.LittleEndian.AppendUint16([]byte{0}, 1), // ContentionFlags, ClrInstanceID
			})
		}
	}
	return e, err
}
