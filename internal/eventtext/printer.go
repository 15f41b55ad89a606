package eventtext

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/message"
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
	keys   map[*ntconv.Field]string
	scope  []*ntconv.Field // fields seen so far of the objects that are being written, outermost first
	frames []ntconv.Frame

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
		keys:  make(map[*ntconv.Field]string),
	}
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

// key returns the JSON name of a field, quoted and with its colon. start is where the field's object begins in p.scope.
// A name that an earlier field of the object has already gets the field's position as a suffix.
func (p *Printer) key(f *ntconv.Field, start int) string {
	k, ok := p.keys[f]
	if !ok {
		siblings := p.scope[start:]
		k = quotedKey(f.Name)
		for n := len(siblings) + 1; p.taken(k, siblings); n++ {
			k = quotedKey(f.Name + "_" + strconv.Itoa(n))
		}
		p.keys[f] = k
	}
	p.scope = append(p.scope, f)
	return k
}

func (p *Printer) taken(key string, by []*ntconv.Field) bool {
	for _, f := range by {
		if p.keys[f] == key {
			return true
		}
	}
	return false
}

func quotedKey(name string) string { return string(append(appendQuoted(nil, name), ':')) }
