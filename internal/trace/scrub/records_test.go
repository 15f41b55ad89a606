package scrub_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
	"pgregory.net/rapid"
)

// scrubRecords returns the records of scrubbed events.
func scrubRecords(t rapid.TB, records []*logs.Record) (out []*logs.Record) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	encoder := stored.NewEncoder(logs.Stored)
	var events []*ntconv.Event
	for i, r := range records {
		encoder.Encode(r, &ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(i), CPU: ntconv.CPUUnknown, Offset: -1})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			e.Seq = uint32(len(events) + 1)
			events = append(events, e.Clone())
		}
	}
	s, err := scrub.New(scrub.Options{Key: make([]byte, scrub.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	decoder := stored.NewDecoder(logs.Stored, nil)
	for e, err := range ntconv.Events(s.Source(ntconvtest.NewSource(nil, events...))) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := decoder.Decode(e); ok {
			out = append(out, spangen.CloneRecord(r))
		}
	}
	if decoder.Finish(); decoder.Invalid() > 0 {
		t.Fatalf("%d invalid records", decoder.Invalid())
	}
	return out
}

// Scrubbed log records are log records with bodies of the same kind, also large ones.
func TestRecordsKeepTheirStructure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var records []*logs.Record
		for _, r := range spangen.Records().Draw(rt, "records") {
			c := *r
			c.Attributes, c.Scope, c.Resource = nil, &span.Scope{Name: r.Scope.Name}, &span.Resource{}
			if r = &c; !isReplaced(r.Body) {
				records = append(records, r)
			}
		}
		got := scrubRecords(rt, records)
		if len(got) != len(records) {
			rt.Fatalf("%d of %d records", len(got), len(records))
		}
		for i, r := range records {
			if g := got[i]; g.Body.Kind() != r.Body.Kind() || g.Severity != r.Severity || g.Context != r.Context {
				rt.Fatalf("want %+v, got %+v", r, g)
			}
		}
	})
}

// isReplaced reports whether the text form of a value is not that of such a value after its replacement: a NaN other than
// math.NaN, a number that may become too large, and a list as the value of a key whose values have a class of their own.
func isReplaced(v span.Value) bool {
	text := string(v.AppendText(nil))
	return strings.Contains(text, "NaN(0x") || strings.Contains(text, "e+308") || strings.Contains(text, "http.method")
}

// No text of a body is left, whatever its form; the names of levels are.
func TestSecretsInRecords(t *testing.T) {
	secret := span.String("hunter2 at /home/ann")
	origin := logs.Record{Scope: &span.Scope{}, Resource: &span.Resource{}}
	var records []*logs.Record
	for _, body := range []span.Value{
		secret, span.Array([]span.Value{secret}), span.Map([]span.Attribute{{Key: "hunter2", Value: secret}}), span.String(strings.Repeat("hunter2 ", 10_000)),
	} {
		r := origin
		r.Body, r.SeverityText, r.EventName = body, "Warning", "hunter2"
		r.Attributes = []span.Attribute{{Key: "k", Value: secret}}
		records = append(records, &r)
	}
	for _, r := range scrubRecords(t, records) {
		text := r.Body.AppendText(nil)
		for _, a := range r.Attributes {
			text = a.Value.AppendText(text)
		}
		if s := string(text) + r.EventName; strings.Contains(s, "hunter2") || strings.Contains(s, "ann") || r.SeverityText != "Warning" {
			t.Errorf("%s %.100s", r.SeverityText, s)
		}
	}
}
