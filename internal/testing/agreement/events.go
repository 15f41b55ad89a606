package agreement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// EventNames are the events that Events pairs.
const EventNames = "GCSuspendEEBegin,GCRestartEEEnd,ContentionStart,ContentionStop,WaitHandleWaitStart,WaitHandleWaitStop"

type printedEvent struct {
	Time     time.Time
	PID, TID int64
	Provider string
	Event    string
	Payload  struct{ Reason int }
}

// Events returns the answer of print --json in time order: what a reader finds who pairs begin and end by thread and
// counts.
func Events(lines []byte) (*Answer, error) {
	a := NewAnswer("print", "gc pauses", "gc pause time", "contentions", "waits", "wait time",
		"suspensions", "suspension time")
	open := map[string][]printedEvent{}
	d := json.NewDecoder(bytes.NewReader(lines))
	for d.More() {
		var e printedEvent
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		thread := fmt.Sprint(thread(e.PID, e.TID), " ", e.Provider)
		switch e.Event {
		case "GCSuspendEEBegin":
			open["pause "+thread] = []printedEvent{e}
		case "ContentionStart", "WaitHandleWaitStart":
			key := e.Event[:4] + thread
			open[key] = append(open[key], e)
		case "GCRestartEEEnd":
			if begin, ok := pop(open, "pause "+thread); ok {
				many, time := "suspensions", "suspension time"
				if begin.Payload.Reason == 1 || begin.Payload.Reason == 6 {
					many, time = "gc pauses", "gc pause time"
				}
				a.total(many, 1, nil)
				a.total(time, int64(e.Time.Sub(begin.Time)), nil)
			}
		case "ContentionStop":
			if _, ok := pop(open, "Cont"+thread); ok {
				a.total("contentions", 1, nil)
			}
		case "WaitHandleWaitStop":
			if begin, ok := pop(open, "Wait"+thread); ok {
				a.total("waits", 1, nil)
				a.total("wait time", int64(e.Time.Sub(begin.Time)), nil)
			}
		}
	}
	return a, nil
}

// pop returns the latest event that is open under a key, and closes it.
func pop(open map[string][]printedEvent, key string) (e printedEvent, ok bool) {
	list := open[key]
	if len(list) == 0 {
		return e, false
	}
	open[key] = list[:len(list)-1]
	return list[len(list)-1], true
}
