package timeline

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// logReader adds log records as instants: one per message, at its first event.
type logReader struct {
	t      *Timeline
	reader *logs.Reader
	// places are those of the records that wait for their other events, by Record.Tag; free are unused elements.
	places []logPlace
	free   []uint32
	args   []span.Attribute
}

// A logPlace is what the first event of a record determines.
type logPlace struct {
	track, stack uint32
	at           int64
}

func newLogReader(t *Timeline, info *ntconv.Info) *logReader {
	l := &logReader{t: t}
	l.reader = logs.NewReader(info, l.add, &logs.Options{Tag: l.place, Report: t.opts.Report})
	return l
}

// place stores the place of an event and returns its number.
func (l *logReader) place(e *ntconv.Event) uint32 {
	p := logPlace{l.t.owners.thread(e.Thread), l.t.stacks.number(e), l.t.clock.Nanos(e.Time)}
	if n := len(l.free); n > 0 {
		id := l.free[n-1]
		l.free = l.free[:n-1]
		l.places[id] = p
		return id
	}
	l.places = append(l.places, p)
	return uint32(len(l.places) - 1)
}

// maxLogTitle is the maximum size of the name of a log record in bytes. Longer messages are also args.
const maxLogTitle = 256

// Names of the args of a log record. An attribute with one of these names is preceded by "attributes.".
const (
	argMessage   = "message"
	argSeverity  = "severity"
	argEventName = "event_name"
)

var reservedForLogs = []string{
	argMessage, argSeverity, argEventName, span.FactScope.String(), span.FactTraceID.String(), span.FactSpanID.String(),
}

// add adds a record. Its name is the first line of the message.
func (l *logReader) add(r *logs.Record) {
	t, p := l.t, l.places[r.Tag]
	l.free = append(l.free, r.Tag)
	message := r.Body.Str()
	if r.Body.Kind() != span.ValueString {
		message = string(r.Body.AppendText(nil))
	}
	name, _, _ := strings.Cut(message, "\n")
	name = stored.Cut(strings.TrimSuffix(name, "\r"), maxLogTitle)
	l.args = l.args[:0]
	if name != message {
		l.arg(argMessage, span.String(message))
	}
	severity := span.String(r.SeverityText)
	if r.SeverityText == "" && r.Severity != 0 {
		severity = span.Int(int64(r.Severity))
	}
	l.arg(argSeverity, severity)
	l.arg(span.FactScope.String(), span.String(r.Scope.Name))
	l.arg(argEventName, span.String(r.EventName))
	if !r.TraceID.IsZero() {
		l.arg(span.FactTraceID.String(), span.String(r.TraceID.String()))
	}
	if !r.Context.ID.IsZero() {
		l.arg(span.FactSpanID.String(), span.String(r.Context.ID.String()))
	}
	for _, a := range r.Attributes {
		if slices.Contains(reservedForLogs, a.Key) {
			a.Key = "attributes." + a.Key
		}
		l.args = append(l.args, a)
	}
	if name == "" {
		name = r.EventName
	}
	if name == "" {
		name = CategoryLog
	}
	rec := appendHead(t.rec[:0], recordInstant, p.track)
	rec = t.titles.append(rec, name, CategoryLog)
	rec = appendNumber(rec, p.stack)
	rec = appendNumber(rec, 0) // not an allocation
	t.rec = t.attributeArgs(rec, l.args)
	t.counts.Instants++
	t.parts.joined--
	t.add(p.at, rankOther)
}

// arg adds an arg unless it is an empty string.
func (l *logReader) arg(name string, v span.Value) {
	if v.Kind() != span.ValueString || v.Str() != "" {
		l.args = append(l.args, span.Attribute{Key: name, Value: v})
	}
}
