package logs

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/fields"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/schema"
)

// Options configure a Reader.
type Options struct {
	// Select, if not nil, selects the providers whose events become records, in addition to messages of
	// Microsoft.Extensions.Logging.
	Select func(provider string) bool
	// Active, if not nil, returns the span that was active when an event was recorded. It borrows the event.
	Active func(*ntconv.Event) (span.Context, bool)
	// Tag, if not nil, returns the Tag of the record that begins with an event. It borrows the event.
	Tag    func(*ntconv.Event) uint32
	Report *ntconv.Report // counts payloads that cannot be decoded; may be nil
}

// A Reader derives records from the events of one trace. It is not safe for concurrent use.
//
// pending has the records whose other forms may follow, by thread; queue has them in the order of their times.
type Reader struct {
	emit   func(*Record)
	o      Options
	clock  span.Clock
	wait   ntconv.Ticks // time between two forms of a message
	table  schema.Table
	roles  map[*ntconv.Type]*role
	last   *role
	fields *fields.Reader
	stored *stored.Decoder[Record]
	values [maxFields]ntconv.Value
	buf    []byte
	json   []byte // not buf, which the conversion of its members uses

	pending map[*ntconv.Thread]*pending
	queue   []*pending
	free    []*pending
	scopes  scopes
	named   map[string]*span.Scope
}

// maxWait is the maximum time between two forms of a message, which the first messages of a program need to compile the
// methods that write them.
const maxWait = 100 * time.Millisecond

// NewReader returns a Reader that passes records to emit, in the order of their times except that a record waits for its
// other forms. info must not be nil; nil o selects the defaults.
func NewReader(info *ntconv.Info, emit func(*Record), o *Options) *Reader {
	r := &Reader{
		emit: emit, clock: span.ClockOf(info), wait: info.Clock.TicksAt(maxWait) - info.Clock.TicksAt(0), roles: make(map[*ntconv.Type]*role),
		pending: make(map[*ntconv.Thread]*pending), named: make(map[string]*span.Scope),
	}
	if o != nil {
		r.o = *o
	}
	r.fields = fields.NewReader(r.o.Report)
	r.stored = stored.NewDecoder(Stored, r.o.Report)
	return r
}

// A form is what an event of Microsoft-Extensions-Logging is.
type form uint8

const (
	formOther   form = iota // of a selected provider
	formText                // FormattedMessage
	formMessage             // Message
	formJSON                // MessageJson
	formBegin               // ActivityStart and ActivityJsonStart: a scope begins
	formEnd                 // ActivityStop and ActivityJsonStop
	formStored              // LogRecord and LogRecordPart of an import
	formNone                // not a record
)

var forms = map[string]form{
	"FormattedMessage": formText, "Message": formMessage, "MessageJson": formJSON,
	"ActivityStart": formBegin, "ActivityJsonStart": formBegin, "ActivityStop": formEnd, "ActivityJsonStop": formEnd,
}

// A role states how events of a type are read.
type role struct {
	typ  *ntconv.Type
	form form
	read *schema.Projection // of fieldNames
	json bool               // ActivityJsonStart
}

// Fields of the events of Microsoft-Extensions-Logging. Those that an event lacks are null.
const (
	fieldLevel = iota
	fieldFactory
	fieldLogger
	fieldEventID
	fieldEventName
	fieldText
	fieldArguments
	fieldArgumentsJSON
	fieldException
	fieldExceptionJSON
	fieldTraceID
	fieldSpanID
	fieldFlags
	fieldScopeID
	maxFields
)

var fieldNames = [maxFields]string{
	"Level", "FactoryID", "LoggerName", "EventId", "EventName", "FormattedMessage", "Arguments", "ArgumentsJson", "Exception", "ExceptionJson",
	"ActivityTraceId", "ActivitySpanId", "ActivityTraceFlags", "ID",
}

// IsMessage reports whether events of type t are messages of Microsoft.Extensions.Logging or the scopes around them.
func IsMessage(t *ntconv.Type) bool {
	return t != nil && t.Provider == clr.Logging && forms[t.Name] != 0
}

// IsScope reports whether events of type t begin or end a scope around messages of Microsoft.Extensions.Logging.
func IsScope(t *ntconv.Type) bool { return IsMessage(t) && forms[t.Name] >= formBegin }

// IsRecord reports whether events of type t are records without Options.Select, or parts of records.
func IsRecord(t *ntconv.Type) bool { return IsMessage(t) && !IsScope(t) || Stored.Has(t) }

// Reads reports whether events with the type of e may be records or scopes. Add does nothing for all others but to pass
// on records that Waits reports.
func (r *Reader) Reads(e *ntconv.Event) bool { return r.roleOf(e).form != formNone }

// Waits reports whether a record waits for its other forms.
func (r *Reader) Waits() bool { return len(r.queue) > 0 }

// Add reads an event, which it borrows. Events must have the order of their times.
func (r *Reader) Add(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Type == nil {
		return
	}
	for len(r.queue) > 0 && e.Time-r.queue[0].latest > r.wait {
		r.complete(r.queue[0])
	}
	o := r.last
	if o == nil || o.typ != e.Type {
		o = r.roleOf(e)
		r.last = o
	}
	switch o.form {
	case formNone:
	case formStored:
		r.imported(e)
	case formOther:
		r.other(e)
	case formBegin, formEnd:
		r.scope(e, o)
	default:
		r.message(e, o)
	}
}

// roleOf returns the role of an event's type.
func (r *Reader) roleOf(e *ntconv.Event) *role {
	o := r.roles[e.Type]
	if o == nil {
		o = &role{typ: e.Type, form: formNone}
		s := r.table.Of(e)
		if Stored.Has(e.Type) {
			o.form = formStored
		} else if s.Provider == clr.Logging {
			if f, ok := forms[s.Name]; ok {
				o.form, o.json = f, s.Name == "ActivityJsonStart"
				o.read, _ = s.Project(fieldNames[:]...)
			}
		} else if r.o.Select != nil && r.o.Select(s.Provider) {
			o.form = formOther
		}
		r.roles[e.Type] = o
	}
	return o
}

// Finish passes the records that wait for other forms to emit. Call it after the last event.
func (r *Reader) Finish() {
	r.stored.Finish()
	r.Flush()
}

// Flush passes the records that wait for other forms to emit, which become records of their own if they follow.
func (r *Reader) Flush() {
	for len(r.queue) > 0 {
		r.complete(r.queue[0])
	}
}

// scopeNamed returns the scope with a name.
func (r *Reader) scopeNamed(name string) *span.Scope {
	s := r.named[name]
	if s == nil {
		if len(r.named) >= maxNamed {
			clear(r.named)
		}
		s = &span.Scope{Name: name}
		r.named[name] = s
	}
	return s
}

// maxNamed limits the scopes that are kept.
const maxNamed = 4096

// unix returns a time in nanoseconds since 1970.
func (r *Reader) unix(at ntconv.Ticks) uint64 { return uint64(r.clock.Unix(at)) }

// locate sets what an event states about the place of its record: process, thread and span.
func (r *Reader) locate(rec *Record, e *ntconv.Event) {
	rec.Thread, rec.Process = e.Thread, recording.ProcessOf(e)
	if r.o.Tag != nil {
		rec.Tag = r.o.Tag(e)
	}
	if !rec.TraceID.IsZero() {
		return
	}
	if l := e.Labels.Find(ntconv.LabelTraceID); l != nil {
		copy(rec.TraceID[:], l.ID[:])
		if l := e.Labels.Find(ntconv.LabelSpanID); l != nil {
			copy(rec.Context.ID[:], l.ID[:])
		}
		return
	}
	if r.o.Active != nil {
		if c, ok := r.o.Active(e); ok {
			rec.Context = c
		}
	}
}

// other passes an event of a selected provider on as a record.
func (r *Reader) other(e *ntconv.Event) {
	s := r.table.Of(e)
	p := r.take()
	rec := &p.Record
	rec.Time = r.unix(e.Time)
	rec.Observed = rec.Time
	rec.setEventLevel(e.Level())
	rec.EventName, rec.Scope = s.Name, r.scopeNamed(s.Provider)
	rec.Attributes, rec.DroppedAttributes = r.fields.Append(rec.Attributes, e, s)
	rec.Body = span.String(s.Name)
	for _, a := range rec.Attributes {
		if isMessageField(a.Key) && a.Value.Kind() == span.ValueString {
			rec.Body = a.Value
			break
		}
	}
	r.locate(rec, e)
	r.pass(p)
}

// isMessageField reports whether a field has the text of a record.
func isMessageField(name string) bool { return name == "message" || name == "Message" }

// pass emits a record and keeps its memory for another one.
func (r *Reader) pass(p *pending) {
	r.emit(&p.Record)
	clear(p.Attributes)
	clear(p.args)
	clear(p.exception)
	clear(p.scopes)
	*p = pending{
		Record: Record{Attributes: p.Attributes[:0]}, args: p.args[:0], exception: p.exception[:0], scopes: p.scopes[:0],
	}
	r.free = append(r.free, p)
}

// take returns an empty record.
func (r *Reader) take() *pending {
	if n := len(r.free); n > 0 {
		p := r.free[n-1]
		r.free = r.free[:n-1]
		return p
	}
	return new(pending)
}
