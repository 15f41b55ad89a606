package eventtext

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
)

// A recordText formats the log records of events.
type recordText struct {
	reader *logs.Reader
	text   []byte // of the record of the current event; empty if the event has none
	body   []byte
}

// shownFields are the fields of events that the text of a record shows.
var shownFields = []string{"Level", "LoggerName", "FormattedMessage", "severityNumber", "severityText", "bodyType", "body"}

// isShown reports whether the text of a record shows a field.
func isShown(name string) bool { return slices.Contains(shownFields, name) }

func isRecord(t *ntconv.Type) bool { return logs.IsMessage(t) || logs.Stored.Has(t) }

// appendRecord appends severity, category and message of the log record in an event. It returns false if the event has
// no record: it begins or ends a scope, or it is a part of an imported record.
func (p *Printer) appendRecord(dst []byte, e *ntconv.Event) ([]byte, bool) {
	r := &p.record
	if r.reader == nil {
		r.reader = logs.NewReader(&ntconv.Info{Clock: p.clock}, r.format, nil)
	}
	r.text = r.text[:0]
	r.reader.Add(e)
	if logs.IsMessage(e.Type) {
		r.reader.Flush() // each form of a message has a line
	}
	return append(dst, r.text...), len(r.text) > 0
}

// format sets text to that of a record.
func (r *recordText) format(l *logs.Record) {
	r.text = append(r.text[:0], ' ')
	if l.SeverityText != "" {
		r.text = appendWord(r.text, l.SeverityText)
	} else {
		r.text = strconv.AppendInt(append(r.text, "severity="...), int64(l.Severity), 10)
	}
	r.text = appendWord(append(r.text, ' '), l.Scope.Name)
	if l.Body.Kind() > span.ValueEmpty {
		r.body = l.Body.AppendText(r.body[:0])
		r.text = strconv.AppendQuote(append(r.text, ' '), string(r.body))
	}
}
