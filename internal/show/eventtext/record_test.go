package eventtext_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// A message of Microsoft.Extensions.Logging has its severity, category and text in each of its forms, and its other
// fields after them. Scopes have all fields.
func TestMessages(t *testing.T) {
	src, err := reader.NewBytes(corpus.SharedTrace(t, "own/logging").Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := eventtext.New(src.Info().Clock, eventtext.Options{})
	var b []byte
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		b = p.AppendText(b, e)
	}
	for want, n := range map[string]int{
		`Microsoft-Extensions-Logging/FormattedMessage Warning Shop.Till "Low stock" FactoryID=1 EventId=42 EventName="LowStock" `: 2,
		`Microsoft-Extensions-Logging/Message Warning Shop.Till "Low stock" FactoryID=1 EventId=42 EventName="LowStock" `:          2,
		`Microsoft-Extensions-Logging/MessageJson Warning Shop.Till "Low stock" FactoryID=1 EventId=42 EventName="LowStock" `:      2,
		`Microsoft-Extensions-Logging/Message Information Shop.Till "Sold 0 of apples, red at 1.5" FactoryID=1 `:                   1,
		`Microsoft-Extensions-Logging/ActivityJsonStart ID=1 FactoryID=1 LoggerName="Shop.Till" `:                                  1,
	} {
		if got := strings.Count(string(b), want); got != n {
			t.Errorf("%d lines with %s, want %d", got, want, n)
		}
	}
}

// An imported record has its severity, scope and body, which may be any value. Nothing in it can control a terminal.
func TestImportedRecords(t *testing.T) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	p := eventtext.New(ntconv.Clock{Freq: 1e9}, eventtext.Options{})
	encoder := stored.NewEncoder(logs.Stored)
	for want, l := range map[string]*logs.Record{
		`otlp/LogRecord WARN "the till" "two\nlines\x1b[31m" timeUnixNano=5 `: {
			Time: 5, Severity: 13, SeverityText: "WARN", Scope: &span.Scope{Name: "the till"}, Body: span.String("two\nlines\x1b[31m"),
		},
		`otlp/LogRecord severity=9 s "{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"}]}}" timeUnixNano=5 `: {
			Time: 5, Severity: 9, Scope: &span.Scope{Name: "s"}, Body: span.Array([]span.Value{span.Int(1)}),
		},
		`otlp/LogRecord severity=0 s timeUnixNano=5 `: {Time: 5, Scope: &span.Scope{Name: "s"}},
	} {
		encoder.Encode(l, &ntconv.Event{Thread: thread, Capture: thread, CPU: ntconv.CPUUnknown})
		if line := string(p.AppendText(nil, encoder.Next())); !strings.Contains(line, want) {
			t.Errorf("want %s\ngot  %s", want, line)
		}
	}
}
