package recording_test

import (
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

var (
	happened = &ntconv.Type{Provider: "Shop", Name: "Sale"}
	rundown  = &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntimeRundown", Name: "MethodDCEndVerbose"}
	omitted  = &ntconv.Type{Provider: recording.Provider, Name: recording.SamplesOmitted}
	order    = &ntconv.Type{Provider: recording.Provider, Name: recording.SplitOrder}
)

func event(at ntconv.Ticks, typ *ntconv.Type, labels *ntconv.Labels) *ntconv.Event {
	return &ntconv.Event{Time: at, Type: typ, Thread: &ntconv.Thread{Process: &ntconv.Process{PID: 1}}, Labels: labels}
}

// The range is that of the facts: not of replicas, of statements about a part, and of the rundown. It begins with the
// session, unless the trace holds a later part, which may have earlier events.
func TestRange(t *testing.T) {
	var labeler recording.Labeler
	replica := labeler.Labels(nil, recording.Before)
	nettrace := &ntconv.Info{Format: "nettrace 6", Clock: ntconv.Clock{Freq: 1e9, Tick: 100}}
	for name, c := range map[string]struct {
		info        *ntconv.Info
		first, last ntconv.Ticks
	}{
		"session":      {nettrace, 100, 300},
		"part":         {recording.Since(nettrace, 150), 150, 300},
		"part of part": {recording.Since(recording.Since(nettrace, 150), 170), 170, 300},
		"whole part":   {recording.Since(recording.Since(nettrace, 150), 120), 150, 300},
		"early event":  {recording.Since(nettrace, 250), 250, 300},
		"no session":   {&ntconv.Info{Format: "chrome", Clock: nettrace.Clock}, 200, 300},
	} {
		r := recording.NewRange(c.info)
		if _, _, ok := r.Span(); ok {
			t.Errorf("%s: a range without events", name)
		}
		for _, e := range []*ntconv.Event{
			event(50, happened, replica), event(60, omitted, nil), event(200, happened, nil), event(300, happened, nil),
			event(400, rundown, nil), event(410, order, nil), event(420, happened, replica),
		} {
			r.Observe(e)
		}
		if first, last, ok := r.Span(); first != c.first || last != c.last || !ok {
			t.Errorf("%s: %d to %d, want %d to %d", name, first, last, c.first, c.last)
		}
	}
	if n := recording.Since(nettrace, 100+ntconv.Ticks(time.Second)).Attrs; len(n) != 1 || n[0].Value != "1000000000" {
		t.Errorf("attributes are %v", n)
	}
}

// Events that ntconv adds are no facts, and the replicas of an earlier selection are no copies of another part.
func TestFacts(t *testing.T) {
	var labeler recording.Labeler
	own := ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelString, Key: "shop", Str: "a"}})
	kept := labeler.Labels(own, recording.Kept)
	for _, c := range []struct {
		e          *ntconv.Event
		fact, copy bool
	}{
		{event(1, happened, nil), true, false},
		{event(1, happened, own), true, false},
		{event(1, rundown, nil), true, false},
		{event(1, happened, kept), false, false},
		{event(1, happened, labeler.Labels(own, recording.Other)), false, true},
		{event(1, happened, labeler.Labels(kept, recording.After)), false, true},
		{event(1, omitted, nil), false, false},
		{event(1, order, nil), false, false},
		{event(1, &ntconv.Type{Provider: recording.Provider, Name: "Symbol"}, nil), true, false},
	} {
		if recording.IsFact(c.e) != c.fact || recording.IsCopy(c.e) != c.copy {
			t.Errorf("%s %v: fact %v, copy %v", c.e.Type.Name, c.e.Labels.List(), !c.fact, !c.copy)
		}
	}
}
