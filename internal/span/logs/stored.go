package logs

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// Stored is the kind of imported records. Their events are at Time, or at Observed if that is unknown.
//
// An Encoder encodes all members but Process and Thread. A Decoder sets these, too. The body is two fields, like the
// value of an attribute, so that an expression can compare its text.
var Stored = &stored.Kind[Record]{
	Name: "LogRecord",
	ID:   3,
	Head: []ntconv.Field{
		stored.Scalar("timeUnixNano", ntconv.TypeUint64), stored.Scalar("observedTimeUnixNano", ntconv.TypeUint64),
		stored.Scalar("severityNumber", ntconv.TypeVarInt), stored.Text("severityText"), stored.Text("eventName"),
		stored.Text("bodyType"), stored.Text("body"), stored.Scalar("flags", ntconv.TypeUint32),
	},
	Lists:      []ntconv.Field{stored.Attributes(), stored.Dropped("Attributes")},
	WriteHead:  writeHead,
	WriteLists: func(p *stored.Payload, r *Record) { p.Attributes(r.Attributes, r.DroppedAttributes) },
	Abridge:    func(r *Record) Record { return Record{Attributes: stored.Abridged(r.Attributes)} },
	ReadHead:   readHead,
	ReadLists:  func(c *stored.Cursor, r *Record) { r.Attributes, r.DroppedAttributes = c.Attributes() },
	Reset:      func(*Record) Record { return Record{} },
	Origin: func(r *Record) stored.Origin {
		return stored.Origin{
			Context: &r.Context, Scope: &r.Scope, Resource: &r.Resource, Process: &r.Process,
			Threads: [2]**ntconv.Thread{&r.Thread},
		}
	},
}

func writeHead(p *stored.Payload, r *Record, size int) {
	p.Uint64(r.Time)
	p.Uint64(r.Observed)
	p.Varint(int64(r.Severity))
	p.Text(stored.Cut(r.SeverityText, size))
	p.Text(stored.Cut(r.EventName, size))
	body := r.Body
	if size != math.MaxInt {
		body = stored.AbridgedValue(body)
	}
	p.Value(&body)
	p.Uint32(r.Flags)
}

func readHead(c *stored.Cursor, r *Record) {
	r.Time, r.Observed = c.Uint64(), c.Uint64()
	r.Severity = Severity(c.Enum())
	r.SeverityText = c.Text()
	r.EventName = c.Text()
	r.Body = c.Value()
	r.Flags = c.Uint32()
}

// Unix returns the time of a record in nanoseconds since 1970: Time, or Observed if that is unknown.
func (r *Record) Unix() uint64 {
	if r.Time == 0 {
		return r.Observed
	}
	return r.Time
}

// imported passes an imported record on.
func (r *Reader) imported(e *ntconv.Event) {
	if rec, ok := r.stored.Decode(e); ok {
		if r.o.Tag != nil {
			rec.Tag = r.o.Tag(e)
		}
		r.emit(rec)
	}
}
