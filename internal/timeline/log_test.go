package timeline_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// A message is one instant on its thread, in whichever forms it was recorded; scopes are instants of their own. All
// events are accounted for.
func TestMessages(t *testing.T) {
	for _, name := range []string{"own/logging", "own/logging-formatted", "own/logging-json"} {
		data := corpus.SharedTrace(t, name).Data
		tl := build(t, data, &timeline.Options{Args: testArgs})
		if tl.Accounted() != tl.Counts().Events {
			t.Errorf("%s: %d of %d events", name, tl.Accounted(), tl.Counts().Events)
		}
		check(t, tl)
		var messages []timeline.Item
		for _, it := range collect(t, tl) {
			if it.Category == timeline.CategoryLog {
				messages = append(messages, it)
			}
		}
		low := messages[1]
		if name == "own/logging-formatted" {
			low = messages[0]
		}
		if low.Kind != timeline.Instant || low.Name != "Low stock" || low.Track.Kind != timeline.ThreadTrack ||
			!strings.HasPrefix(string(low.Encoded), "severity=Warningscope=Shop.Tillevent_name=LowStock") {
			t.Errorf("%s: %+v %s", name, low, low.Encoded)
		}
		if want := map[string]int{"own/logging": 12, "own/logging-formatted": 6, "own/logging-json": 5}[name]; len(messages) != want {
			t.Errorf("%s: %d messages, want %d", name, len(messages), want)
		}
		without := build(t, data, &timeline.Options{Options: track.Options{Tracks: track.Spans}})
		if n := without.Counts().Instants; n != 0 || without.Accounted() != without.Counts().Events {
			t.Errorf("%s: %d instants without events", name, n)
		}
	}
}

// An imported record is an instant with the first line of its body, which is also an arg if there is more. Attributes do
// not replace other args.
func TestImportedRecords(t *testing.T) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	encoder := stored.NewEncoder(logs.Stored)
	var events []*ntconv.Event
	for i, r := range []*logs.Record{
		{Severity: 17, Body: span.String("failed\nat line 2"), Attributes: []span.Attribute{{Key: "message", Value: span.Int(1)}}},
		{Body: span.Array([]span.Value{span.Bool(true)}), SeverityText: "W"},
		{EventName: "named"},
		{Body: span.String(strings.Repeat("ä", 40_000)), Context: span.Context{ID: span.ID{1}}},
	} {
		r.Scope, r.Resource, r.Time = &span.Scope{Name: "lib"}, &span.Resource{}, unix(int64(i))
		encoder.Encode(r, &ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(i)})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			events = append(events, e.Clone())
		}
	}
	tl, got := arrangeEvents(t, events, &timeline.Options{Args: testArgs})
	if tl.Accounted() != tl.Counts().Events || tl.Counts().Events != 6 || tl.Counts().Instants != 4 {
		t.Errorf("%d accounted, %+v", tl.Accounted(), tl.Counts())
	}
	for _, want := range []string{
		"instant failed (message=failed\nat line 2severity=17scope=libattributes.message=1)",
		`instant {"arrayValue":{"values":[{"boolValue":true}]}} (severity=Wscope=lib)`,
		"instant named (scope=libevent_name=named)",
		"instant " + strings.Repeat("ä", 128) + " (message=",
		"scope=libspan_id=0100000000000000)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%.3000s", want, got)
		}
	}
}
