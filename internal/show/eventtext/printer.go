package eventtext

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/schema"
)

// Options select what a line contains in addition to the event itself. The zero value selects nothing.
type Options struct {
	Hex    bool // bytes of the payload
	CRC    bool // CRC-32 (IEEE) of the payload
	Stacks bool // addresses of the stack
	// Namer, if not nil, resolves the addresses of stacks. It must have observed the whole trace.
	Namer ntconv.Namer
}

// A Printer formats the events of one source. It caches the text that the events of a type share, so its memory is
// bounded by the trace's metadata. It is not safe for concurrent use.
//
// AppendJSON and AppendText set start, end and err (begin); full sets err. labelText belongs to labels, and both change
// together.
type Printer struct {
	clock  ntconv.Clock
	opts   Options
	types  map[*schema.Schema]*typeText
	last   *typeText
	events schema.Table
	frames []ntconv.Frame // buffer of framesOf

	encoder payload.Encoder
	record  recordText

	start, end int   // offsets in dst of the current line: its first byte, and the maximum length of dst
	err        error // set if the current line is too long

	labels    *ntconv.Labels // list whose text is labelText
	labelText []byte
}

// typeText is the text that all events of a type and version share.
type typeText struct {
	*schema.Schema
	json []byte // "provider":"...","id":1
	name []byte // "event":"..."
	text []byte // provider/name, safe for a terminal

	record bool // events are log records, or scopes around them
}

// New returns a Printer for the events of a source with the given clock.
func New(clock ntconv.Clock, opts Options) *Printer {
	return &Printer{
		clock: clock,
		opts:  opts,
		types: make(map[*schema.Schema]*typeText),
	}
}

// LimitLine is the Limit of the ntconv.LimitError for lines that are too long. Its values are bytes.
const LimitLine = "line of an event"

// maxLine is the maximum size of a line in bytes, in addition to four bytes for each byte of the payload. The payload
// allows for its bytes and fields.
const maxLine = 64 << 20

// Err returns an *ntconv.LimitError if the last appended line exceeds the limit: a few bytes of an event can refer to a
// stack of gigabytes. That line is incomplete; discard it.
func (p *Printer) Err() error { return p.err }

// begin starts a line of an event and clears Err.
func (p *Printer) begin(dst []byte, e *ntconv.Event) {
	p.start, p.end, p.err = len(dst), len(dst)+maxLine+4*len(e.Payload), nil
}

// full reports whether the line is too long, and then sets Err. Loops over parts of a line stop if it does.
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

// typeOf returns the shared text of the event's type.
func (p *Printer) typeOf(e *ntconv.Event) *typeText {
	s := p.events.Of(e)
	if p.last != nil && p.last.Schema == s {
		return p.last
	}
	t := p.types[s]
	if t == nil {
		t = newTypeText(s)
		t.record = isRecord(e.Type)
		p.types[s] = t
	}
	p.last = t
	return t
}

func newTypeText(s *schema.Schema) *typeText {
	t := &typeText{Schema: s}
	t.json = appendQuoted(append(t.json, `"provider":`...), s.Provider)
	t.json = strconv.AppendUint(append(t.json, `,"id":`...), uint64(s.ID), 10)
	t.name = appendQuoted(append(t.name, `"event":`...), s.Name)
	t.text = appendWord(t.text, s.Provider)
	t.text = append(t.text, '/')
	if s.Name == "" {
		t.text = strconv.AppendUint(append(t.text, "id="...), uint64(s.ID), 10)
	} else {
		t.text = appendWord(t.text, s.Name)
	}
	return t
}

// appendQuoted appends a JSON string. Invalid UTF-8 becomes U+FFFD, and characters that a terminal could interpret are
// escaped.
func appendQuoted[S ~string | ~[]byte](dst []byte, s S) []byte {
	start := len(dst)
	dst = jsonio.AppendQuoted(dst, s)
	return append(dst[:start], message.JSON(dst[start:])...)
}
