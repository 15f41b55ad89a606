package eventtext

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/payload"
	"github.com/ntconv/ntconv/schema"
)

// Options choose what a line holds beside the event itself. The zero value adds nothing.
type Options struct {
	Hex    bool // the payload's bytes
	CRC    bool // their CRC-32 (IEEE)
	Stacks bool // the addresses of the stack
	// Namer, if not nil, names the addresses. It must have seen the whole trace.
	Namer ntconv.Namer
}

// A Printer makes lines of the events of one source. It remembers what is the same for all events of a type, so its
// memory is bounded by the trace's metadata. It is for one goroutine at a time.
type Printer struct {
	clock  ntconv.Clock
	opts   Options
	types  map[*schema.Schema]*typeText
	last   *typeText
	events schema.Table
	keys   map[*ntconv.Field]fieldKey
	scope  []*ntconv.Field // fields seen so far of the objects that are being written, outermost first
	frames []ntconv.Frame

	start, end int   // of the line that is being made, in its buffer: end is where it is too long
	err        error // the line is too long

	labels    *ntconv.Labels // those of labelText
	labelText []byte
}

// typeText is what all lines of a type and version have in common.
type typeText struct {
	*schema.Schema
	json []byte // "provider":"...","id":1
	name []byte // "name":"..."
	text []byte // provider/name, safe for a terminal
}

// New returns a printer for the events of a source with that clock.
func New(clock ntconv.Clock, opts Options) *Printer {
	return &Printer{
		clock: clock,
		opts:  opts,
		types: make(map[*schema.Schema]*typeText),
		keys:  make(map[*ntconv.Field]fieldKey),
	}
}

// LimitLine is the ntconv.LimitError.Limit of lines that are too long. Its values are bytes.
const LimitLine = "line of an event"

// maxLine is how many bytes a line may have in addition to four for each byte of the payload: its bytes and its fields.
const maxLine = 64 << 20

// Err returns an *ntconv.LimitError if the last line that was appended is too long: a few bytes of an event can refer
// to a stack of gigabytes. That line is not complete, and must not be used.
func (p *Printer) Err() error { return p.err }

// begin begins a line of an event.
func (p *Printer) begin(dst []byte, e *ntconv.Event) {
	p.start, p.end, p.err = len(dst), len(dst)+maxLine+4*len(e.Payload), nil
}

// full reports whether the line is too long. Loops over parts of a line end then.
func (p *Printer) full(dst []byte) bool {
	if len(dst) <= p.end {
		return false
	}
	p.err = &ntconv.LimitError{
		Limit: LimitLine,
		Value: int64(p.end - p.start),
		Asked: int64(len(dst) - p.start),
		Unit:  "bytes",
	}
	return true
}

// typeOf returns the text of the event's type.
func (p *Printer) typeOf(e *ntconv.Event) *typeText {
	s := p.events.Of(e)
	if p.last != nil && p.last.Schema == s {
		return p.last
	}
	t := p.types[s]
	if t == nil {
		t = newTypeText(s)
		p.types[s] = t
	}
	p.last = t
	return t
}

func newTypeText(s *schema.Schema) *typeText {
	t := &typeText{Schema: s}
	t.json = appendQuoted(append(t.json, `"provider":`...), s.Provider)
	t.json = strconv.AppendUint(append(t.json, `,"id":`...), uint64(s.ID), 10)
	t.name = appendQuoted(append(t.name, `"name":`...), s.Name)
	t.text = appendWord(t.text, s.Provider)
	t.text = append(t.text, '/')
	if s.Name == "" {
		t.text = strconv.AppendUint(append(t.text, "id="...), uint64(s.ID), 10)
	} else {
		t.text = appendWord(t.text, s.Name)
	}
	return t
}

// appendQuoted appends a JSON string; invalid UTF-8 becomes U+FFFD, and what a terminal acts on is escaped.
func appendQuoted[S ~string | ~[]byte](dst []byte, s S) []byte {
	start := len(dst)
	dst, _ = jsontext.AppendQuote(dst, s) // the error only tells of what was replaced
	return append(dst[:start], message.JSON(dst[start:])...)
}

// A fieldKey is the JSON name of a field with its colon: as it is distinguished from those of other fields, and as it
// is printed, with what a terminal acts on escaped.
type fieldKey struct{ quoted, shown string }

// An object is one that is being written.
type object struct {
	start int          // where its fields begin in Printer.scope
	names payload.Keys // of its fields, nil until one has no known name
}

// key returns the JSON name of the next field of an object, quoted and with its colon.
func (p *Printer) key(f *ntconv.Field, o *object) string {
	k, ok := p.keys[f]
	switch {
	case !ok:
		if o.names == nil {
			o.names = make(payload.Keys)
			for _, before := range p.scope[o.start:] {
				o.names.Take(p.keys[before].quoted)
			}
		}
		k.quoted = o.names.Add(f.Name, len(p.scope)-o.start+1)
		k.shown = string(message.JSON([]byte(k.quoted)))
		p.keys[f] = k
	case o.names != nil:
		o.names.Take(k.quoted)
	}
	p.scope = append(p.scope, f)
	return k.shown
}
