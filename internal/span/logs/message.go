package logs

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// A pending is a record of which another form may follow.
type pending struct {
	Record
	key     messageKey
	form    form // latest
	latest  ntconv.Ticks
	thread  *ntconv.Thread
	hasText bool // Body is set

	args, exception []span.Attribute
	scopes          scopes // around the message
}

// A messageKey is what the forms of one message have in common.
type messageKey struct {
	level, factory, id uint64
	category, name     string
}

// attrTemplate is the key of the template in the arguments of a message, and of its attribute.
const attrTemplate = "{OriginalFormat}"

// message adds a form of a message: to the record that waits on its thread, or as a new record.
func (r *Reader) message(e *ntconv.Event, o *role) {
	o.read.Read(e, r.values[:])
	v := &r.values
	key := messageKey{v[fieldLevel].Uint(), v[fieldFactory].Uint(), v[fieldEventID].Uint(), r.text(fieldLogger), r.text(fieldEventName)}
	p := r.pending[e.Thread]
	if p != nil && (p.key != key || p.form >= o.form) {
		r.complete(p)
		p = nil
	}
	if p == nil {
		p = r.begin(e, key)
	}
	p.form, p.latest = o.form, e.Time
	if v[fieldText].Kind() == ntconv.ValueString && !p.hasText {
		p.Body, p.hasText = span.String(r.text(fieldText)), true
	}
	r.arguments(p)
	r.exception(p)
	if o.form == formJSON { // the last one
		r.complete(p)
	}
}

// text returns a field that is a string, "" if the event does not have it.
func (r *Reader) text(field int) string {
	if v := &r.values[field]; v.Kind() == ntconv.ValueString {
		r.buf = v.AppendString(r.buf[:0])
		return r.fields.Text(r.buf)
	}
	return ""
}

// begin returns a new record that waits for further forms.
func (r *Reader) begin(e *ntconv.Event, key messageKey) *pending {
	p := r.take()
	p.key, p.thread = key, e.Thread
	p.Time = r.unix(e.Time)
	p.Observed = p.Time
	p.setLevel(key.level)
	p.Scope, p.EventName = r.scopeNamed(key.category), key.name
	r.context(&p.Record)
	r.locate(&p.Record, e)
	if id := r.values[fieldEventID]; key.id != 0 {
		p.Attributes = append(p.Attributes, span.Attribute{Key: "logrecord.event.id", Value: span.Int(id.Int())})
	}
	p.scopes = r.scopes.of(p.scopes[:0], e)
	r.pending[e.Thread] = p
	r.queue = append(r.queue, p)
	return p
}

// context sets the span that a message states.
func (r *Reader) context(rec *Record) {
	id, parent := r.text(fieldTraceID), r.text(fieldSpanID)
	if hex.DecodedLen(len(id)) != len(rec.TraceID) || hex.DecodedLen(len(parent)) != len(rec.Context.ID) {
		return
	}
	_, err := hex.Decode(rec.TraceID[:], []byte(id))
	if _, err2 := hex.Decode(rec.Context.ID[:], []byte(parent)); err != nil || err2 != nil {
		rec.Context = span.Context{}
		return
	}
	if r.text(fieldFlags) == "1" {
		rec.Flags = span.FlagSampled
	}
}

// arguments adds the arguments of a form. Those of MessageJson replace those of Message, which has "" for null.
func (r *Reader) arguments(p *pending) {
	list := p.args[:0]
	switch v := &r.values[fieldArguments]; {
	case r.values[fieldArgumentsJSON].Kind() == ntconv.ValueString:
		list = r.appendJSON(list, fieldArgumentsJSON)
	case v.Kind() == ntconv.ValueList:
		list = r.appendPairs(list, v)
	default:
		return
	}
	p.args = list
}

// appendPairs appends a list of objects with a key and a value.
func (r *Reader) appendPairs(dst []span.Attribute, v *ntconv.Value) []span.Attribute {
	for pair := range v.Elems() {
		if len(dst) == maxArguments {
			break
		}
		var a span.Attribute
		for f, member := range pair.Fields() {
			r.buf = member.AppendString(r.buf[:0])
			switch f.Name {
			case "Key":
				a.Key = r.fields.Text(r.buf)
			case "Value":
				a.Value = span.String(r.fields.Text(r.buf))
			}
		}
		dst = append(dst, a)
	}
	return dst
}

// maxArguments limits the arguments of a message, and the states of a scope.
const maxArguments = 256

// appendJSON appends the members of a JSON object in a field. It ignores text that is not an object.
func (r *Reader) appendJSON(dst []span.Attribute, field int) []span.Attribute {
	r.json = r.values[field].AppendString(r.json[:0])
	if len(r.json) == 0 || r.json[0] != '{' || !jsonio.Valid(r.json) {
		return dst
	}
	for members := jsonio.MembersOf(r.json); ; {
		name, value, ok := members.Next()
		if !ok || len(dst) == maxArguments {
			return dst
		}
		dst, _ = r.fields.AppendJSON(dst, r.fields.Unquoted(name), value)
	}
}

// exceptionKeys are the attributes of the members of an exception.
var exceptionKeys = map[string]string{
	"TypeName": "exception.type", "Message": "exception.message", "VerboseMessage": "exception.stacktrace",
}

// exception adds the exception of a form, unless an earlier form had one.
func (r *Reader) exception(p *pending) {
	if len(p.exception) > 0 {
		return
	}
	add := func(name, text string) {
		if key := exceptionKeys[name]; key != "" && text != "" {
			p.exception = append(p.exception, span.Attribute{Key: key, Value: span.String(text)})
		}
	}
	if v := &r.values[fieldException]; v.Kind() == ntconv.ValueObject {
		for f, member := range v.Fields() {
			if member.Kind() == ntconv.ValueString {
				r.buf = member.AppendString(r.buf[:0])
				add(f.Name, r.fields.Text(r.buf))
			}
		}
	}
	if r.values[fieldExceptionJSON].Kind() == ntconv.ValueString {
		for _, a := range r.appendJSON(nil, fieldExceptionJSON) {
			add(a.Key, a.Value.Str())
		}
	}
}

// complete passes a record on with everything that its forms have stated.
func (r *Reader) complete(p *pending) {
	delete(r.pending, p.thread)
	i := slices.Index(r.queue, p)
	r.queue = slices.Delete(r.queue, i, i+1)
	p.Attributes = append(p.Attributes, p.args...)
	p.Attributes = append(p.Attributes, p.exception...)
	p.Attributes = p.scopes.append(p.Attributes)
	if !p.hasText {
		p.Body = span.String(formatted(p.args))
	}
	r.pass(p)
}

// formatted returns the template of a message with its arguments. Formats and alignments in the template are ignored,
// because the arguments are text.
func formatted(args []span.Attribute) string {
	i := slices.IndexFunc(args, func(a span.Attribute) bool { return a.Key == attrTemplate })
	if i < 0 {
		return ""
	}
	var b strings.Builder
	for rest := args[i].Value.Str(); rest != ""; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 || open+1 == len(rest) {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:open])
		if rest[open+1] == rest[open] { // an escaped brace
			b.WriteByte(rest[open])
			rest = rest[open+2:]
			continue
		}
		end := strings.IndexByte(rest[open:], '}')
		if rest[open] == '}' || end < 0 {
			b.WriteString(rest[open:])
			break
		}
		b.WriteString(argument(args, rest[open:open+end+1]))
		rest = rest[open+end+1:]
	}
	return b.String()
}

// argument returns the text of a hole such as {Price:F2}, or the hole if there is no such argument.
func argument(args []span.Attribute, hole string) string {
	name := hole[1 : len(hole)-1]
	if i := strings.IndexAny(name, ",:"); i >= 0 {
		name = name[:i]
	}
	for _, a := range args {
		if a.Key == name {
			if a.Value.Kind() == span.ValueEmpty {
				return "(null)" // as the formatter of Microsoft.Extensions.Logging
			}
			return string(a.Value.AppendText(nil))
		}
	}
	return hole
}
