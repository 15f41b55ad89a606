package eventtext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/show/eventtext"
)

// A line ends at its limit, however long the stack or a list of the event is, and the Printer reports it. The line of
// the next event is complete.
func TestLineLimit(t *testing.T) {
	long := &ntconv.Function{Name: strings.Repeat("x", 60_000)}
	frames := make([]ntconv.Frame, 10_000)
	for i := range frames {
		frames[i].Func = long
	}
	typ := &ntconv.Type{Provider: "P", Name: "E"}
	thread := &ntconv.Thread{TID: 1}
	deep := &ntconv.Event{Kind: ntconv.KindEvent, Type: typ, Thread: thread, Stack: &ntconv.Stack{Frames: frames}}
	flat := &ntconv.Event{Kind: ntconv.KindEvent, Type: typ, Thread: thread, Stack: &ntconv.Stack{Frames: frames[:2]}}
	p := eventtext.New(ntconv.Clock{Freq: 1}, eventtext.Options{Stacks: true})
	var buf []byte
	for name, line := range map[string]func([]byte, *ntconv.Event) []byte{"text": p.AppendText, "json": p.AppendJSON} {
		buf = line(buf[:0], deep)
		var l *ntconv.LimitError
		if !errors.As(p.Err(), &l) || l.Limit != eventtext.LimitLine || l.Value != 64<<20 || len(buf) > 64<<20+100_000 {
			t.Errorf("%s: %d bytes, %v", name, len(buf), p.Err())
		}
		if buf = line(buf[:0], flat); p.Err() != nil || len(buf) < 120_000 {
			t.Errorf("%s: %d bytes, %v", name, len(buf), p.Err())
		}
	}
}
