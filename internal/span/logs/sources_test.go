package logs_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/reader"
)

// A sourceEvent is an event that a program wrote, as the program described it.
type sourceEvent struct {
	Provider, Name, Error string
	Payload               map[string]json.RawMessage
}

// TestSources compares the records of event sources with what the program wrote: each event that .NET accepted is one
// record, in order, with its provider, name, numbers and Booleans.
func TestSources(t *testing.T) {
	var truth struct{ Events []sourceEvent }
	data, err := os.ReadFile(corpus.Shared(t, "data", "own", "sources.truth.json"))
	if err == nil {
		err = json.Unmarshal(data, &truth)
	}
	if err != nil {
		t.Fatal(err)
	}
	var want []sourceEvent
	for _, e := range truth.Events {
		if e.Error == "" && !strings.Contains(string(e.Payload["first"]), "over the 64 KiB") {
			want = append(want, e)
		}
	}
	src, err := reader.NewBytes(corpus.SharedTrace(t, "own/sources").Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	var got []*logs.Record
	r := logs.NewReader(src.Info(), func(l *logs.Record) { got = append(got, spangen.CloneRecord(l)) }, &logs.Options{
		Select: func(provider string) bool { return strings.HasPrefix(provider, "Shop-") },
	})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		r.Add(e)
	}
	r.Finish()
	compared, next := 0, 0
	for _, l := range got {
		if l.EventName == "EventSourceMessage" { // .NET writes it in place of an event that it cannot write
			next++
			continue
		}
		if next == len(want) {
			t.Fatalf("no event for the record %s of %s", l.EventName, l.Scope.Name)
		}
		w := want[next]
		next++
		name := strings.TrimSuffix(strings.TrimSuffix(l.EventName, "Start"), "Stop") // of the opcode
		if w.Provider != l.Scope.Name || name != w.Name {
			t.Fatalf("record %d: want %s/%s, got %s/%s", next, w.Provider, w.Name, l.Scope.Name, l.EventName)
		}
		for _, a := range l.Attributes {
			if number, ok := w.Payload[a.Key]; ok && a.Key != "marks" { // .NET records enums of 8 bytes with 4
				compared += compareValue(t, l, a.Key, string(number), string(a.Value.AppendText(nil)))
			}
		}
	}
	if next != len(want) || compared < 40 {
		t.Errorf("%d of %d events are records, %d values compared", next, len(want), compared)
	}
}

// compareValue compares an attribute with a number or a Boolean. It returns 0 for other values.
func compareValue(t *testing.T, l *logs.Record, key, want, got string) int {
	if want == "true" || want == "false" {
		if got != want {
			t.Errorf("%s.%s: want %s, got %s", l.EventName, key, want, got)
		}
		return 1
	}
	w, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return 0
	}
	g, err := strconv.ParseFloat(got, 64)
	if integer := !strings.ContainsAny(want, ".eE"); err != nil || integer && got != want || float32(g) != float32(w) {
		t.Errorf("%s.%s: want %s, got %s", l.EventName, key, want, got)
	}
	return 1
}
