package recording_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// The main process is the one with the most events, or the first of several such processes.
func TestMainProcess(t *testing.T) {
	var tally recording.Tally
	if p, _ := tally.Main(nil); p != nil {
		t.Errorf("%+v", p)
	}
	kind := &ntconv.Type{Provider: "P", ID: 1}
	threads := make([]*ntconv.Thread, 3)
	for i := range threads {
		threads[i] = &ntconv.Thread{Process: &ntconv.Process{PID: uint64(i), Name: string(rune('a' + i))}}
	}
	for _, i := range []int{2, 1, 0, 1, 0, 1, 0} {
		tally.Observe(&ntconv.Event{Type: kind, Thread: threads[i]})
	}
	tally.Observe(&ntconv.Event{Type: kind})
	tally.Observe(&ntconv.Event{Kind: ntconv.KindLost, Thread: threads[2]})
	if p, info := tally.Main(nil); p != threads[1].Process || info.Service() != "b" {
		t.Errorf("%+v %+v", p, info)
	}
}
