package logs_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// FuzzStored: no payload makes the decoder of imported records panic, and records that it decodes are decoded again from
// their own events.
func FuzzStored(f *testing.F) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	encode := func(r *logs.Record) (events []*ntconv.Event) {
		encoder := stored.NewEncoder(logs.Stored)
		encoder.Encode(r, &ntconv.Event{Thread: thread, Capture: thread})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			events = append(events, e.Clone())
		}
		return events
	}
	for i := range 6 {
		for _, r := range spangen.Records().Example(i) {
			for _, e := range encode(r) {
				f.Add(e.Payload, false)
			}
		}
	}
	types := stored.NewEncoder(logs.Stored).Types()
	f.Fuzz(func(t *testing.T, payload []byte, part bool) {
		e := &ntconv.Event{Type: types[0], Payload: payload, Thread: thread, Capture: thread}
		if part {
			e.Type = types[1]
		}
		d := stored.NewDecoder(logs.Stored, nil)
		r, ok := d.Decode(e)
		if d.Finish(); !ok {
			if d.Invalid() == 0 {
				t.Fatal("neither decoded nor invalid")
			}
			return
		}
		want := spangen.CloneRecord(r)
		again := stored.NewDecoder(logs.Stored, nil)
		var got []*logs.Record
		for _, e := range encode(want) {
			if r, ok := again.Decode(e); ok {
				got = append(got, spangen.CloneRecord(r))
			}
		}
		if err := spangen.EqualRecords([]*logs.Record{want}, got); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzMessages: no payload of a message or scope makes the Reader panic, and each record has a scope.
func FuzzMessages(f *testing.F) {
	src, err := reader.NewBytes(corpus.SharedTrace(f, "own/logging").Data, nil)
	if err != nil {
		f.Fatal(err)
	}
	all, err := ntconvtest.Record(src)
	if err != nil {
		f.Fatal(err)
	}
	var types []*ntconv.Type
	for _, e := range all {
		if e.Kind == ntconv.KindEvent && logs.IsMessage(e.Type) {
			types = append(types, e.Type)
			f.Add(e.Payload, uint8(len(types)-1), e.Payload, uint8(len(types)-1))
		}
	}
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	f.Fuzz(func(t *testing.T, first []byte, a uint8, second []byte, b uint8) {
		n := 0
		r := logs.NewReader(src.Info(), func(l *logs.Record) {
			if n++; l.Scope == nil {
				t.Fatal("no scope")
			}
		}, nil)
		events := []*ntconv.Event{
			{Type: types[int(a)%len(types)], Payload: first, Thread: thread, Capture: thread},
			{Type: types[int(b)%len(types)], Payload: second, Thread: thread, Capture: thread},
		}
		for _, e := range events {
			r.Add(e)
		}
		if r.Finish(); n > len(events) {
			t.Fatalf("%d records of %d events", n, len(events))
		}
	})
}
