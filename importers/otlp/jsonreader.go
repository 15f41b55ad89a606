package otlp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// recognizeJSON reports whether head begins with an object that has a field of OTLP.
func recognizeJSON(head []byte) bool {
	text := bytes.NewReader(bytes.TrimPrefix(head, byteOrderMark))
	dec := jsonio.NewDecoder(text)
	for depth := 0; ; {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		switch {
		case t.Kind() == '[' && depth == 0 || t.Kind() == '{':
			depth++
		case t.Kind() != '"':
			return false
		default:
			if _, ok := signalOfField(t.String()); ok {
				return true
			}
			if dec.SkipValue() != nil {
				return false
			}
		}
	}
}

// A jsonReader reads OTLP/JSON. It holds the text of one element of resourceSpans, or of the list of another signal, at a
// time.
type jsonReader struct {
	*decoder
	in     *limitedReader
	dec    *jsontext.Decoder
	base   int64 // offset of the decoder's first byte in the input
	inList bool  // the decoder is inside a list of resources, such as resourceSpans

	res      *span.Resource
	sections jsonio.Elements // of scopeSpans
	list     jsonio.Elements // of spans
	sc       *span.Scope
	decoded  items
	err      error // error to return after the current element
	waiting  waitingProfiles
}

// A limitedReader returns a LimitError after left bytes. element resets left for each element.
type limitedReader struct {
	r           *rewinder
	left, limit int
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, &ntconv.LimitError{Limit: LimitMessage, Value: int64(l.limit), Asked: int64(l.limit) + 1, Unit: "bytes"}
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// newJSONReader returns a reader of in, which is positioned at the start of the input.
func newJSONReader(in *bufio.Reader, d *decoder) *jsonReader {
	d.place.message = -1
	j := &jsonReader{decoder: d, in: &limitedReader{&rewinder{r: in}, d.limits.Message, d.limits.Message}}
	if head, _ := in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // Peek has read them
		j.base = int64(len(byteOrderMark))
	}
	j.dec = jsonio.NewDecoder(j.in)
	return j
}

// next returns the next item. At the end of the input, or after an error, it first returns the items that precede it.
func (j *jsonReader) next() (item, error) {
	for {
		if it, ok := j.decoded.next(j.decoder, j.res, j.sc); ok {
			return it, nil
		}
		if n, ok := j.list.Next(); ok {
			j.place.item++
			j.decoded.decode(j.decoder, n, true)
			continue
		}
		if n, ok := j.nextSection(); ok {
			j.openSection(n)
			continue
		}
		if j.err != nil {
			return item{}, j.err
		}
		if err := j.openGroup(); err != nil && !j.resume(err) {
			return item{}, err
		}
	}
}

// nextSection returns the next element of scopeSpans. The last one may be incomplete if the input is truncated.
func (j *jsonReader) nextSection() (text []byte, ok bool) {
	if text, ok = j.sections.Next(); !ok {
		text = j.sections.Rest()
		j.sections = jsonio.Elements{}
	}
	return text, len(text) > 0 && (ok || text[0] == '{')
}

// eachField calls f for the complete members of an object that is an element of resourceSpans or scopeSpans. If the
// text ends inside a list, eachField returns the beginning of the list.
func eachField(text []byte, f func(name string, value []byte)) (list jsonio.Elements, partial bool) {
	for members := jsonio.MembersOf(text); ; {
		name, value, ok := members.Next()
		if !ok {
			rest := members.Rest()
			return jsonio.ElementsOf(rest), len(rest) > 0 && rest[0] == '['
		}
		name, _ = jsonio.AppendUnquoted(nil, name)
		f(string(name), value)
	}
}

// schemaURL decodes the member schemaUrl.
func (j *jsonReader) schemaURL(value []byte) string {
	j.json.reset(value)
	return j.strJSON("schemaUrl")
}

// openGroup reads the next element of a list of resources.
func (j *jsonReader) openGroup() error {
	text, err := j.element()
	if err != nil && text == nil {
		return err
	}
	j.err = err
	j.place.message++
	j.place.item = -1
	j.res = &span.Resource{Absent: true}
	j.sections = jsonio.Elements{}
	names := &messageNames[j.place.signal]
	list, partial := eachField(text, func(name string, value []byte) {
		switch {
		case name == "resource":
			if !j.resourceJSON(j.res, value) {
				j.corrupt("resource is not valid")
			}
		case is(name, names.scopeFields):
			j.sections = jsonio.ElementsOf(value)
		case name == "schemaUrl", name == "schema_url":
			j.res.SchemaURL = j.schemaURL(value)
		default:
			j.unknown(names.fields[0] + "." + name)
		}
	})
	if partial { // only scopes are a list among the fields of this object
		j.sections = list
	}
	return nil
}

// openSection decodes the scope of an element of scopeSpans or its like, and makes its items the current list.
func (j *jsonReader) openSection(text []byte) {
	j.sc = &span.Scope{Absent: true}
	j.list = jsonio.Elements{}
	names := &messageNames[j.place.signal]
	list, partial := eachField(text, func(name string, value []byte) {
		switch {
		case name == "scope":
			if !j.scopeJSON(j.sc, value) {
				j.corrupt("scope is not valid")
			}
		case is(name, names.elementFields):
			j.list = jsonio.ElementsOf(value)
		case name == "schemaUrl", name == "schema_url":
			j.sc.SchemaURL = j.schemaURL(value)
		default:
			j.unknown(names.scopeFields[0] + "." + name)
		}
	})
	if partial {
		j.list = list
	}
}

// element returns the text of the next element of a list of resources, valid until the next call. If the input is truncated
// within an element, it returns both the incomplete text and the error.
func (j *jsonReader) element() ([]byte, error) {
	for {
		if text, ok := j.waiting.next(); ok {
			j.begin(profiles)
			return text, nil
		}
		j.in.left = j.limits.Message
		kind := j.dec.PeekKind()
		j.place.offset = j.base + j.dec.InputOffset()
		if j.inList && kind == '{' {
			j.profiles.dict = nil
			text, err := j.dec.ReadValue()
			if err == nil {
				return text, nil
			}
			return j.truncated(err), j.fail(err)
		}
		t, err := j.dec.ReadToken()
		if err == io.EOF && j.dec.StackDepth() == 0 {
			return nil, io.EOF
		}
		if err != nil {
			return nil, j.fail(err)
		}
		if err := j.token(t); err != nil {
			return nil, err
		}
	}
}

// token processes a token outside the elements of a list of resources.
func (j *jsonReader) token(t jsontext.Token) error {
	depth := j.dec.StackDepth()
	switch kind := t.Kind(); {
	case kind == ']':
		j.inList = false
		return nil
	case kind == '}':
		return j.endObject(depth)
	case kind == '{', kind == '[' && depth == 1:
		return nil
	case kind == '"' && depth > 0 && !j.inList:
		return j.field(t.String())
	case j.inList && kind == 'n':
		return nil
	}
	return located(j.place.offset, jsonio.Path(j.dec.StackPointer()), fmt.Errorf("%w: want an object, got %v", ntconv.ErrCorrupt, t.Kind()))
}

// field starts reading a list of resources, or skips the value of any other field.
func (j *jsonReader) field(name string) error {
	s, ok := signalOfField(name)
	if name == "dictionary" {
		return j.dictionaryField()
	}
	if ok && s == profiles {
		return j.profilesField()
	}
	if !ok {
		j.unknown(name)
		return j.fail(j.dec.SkipValue())
	}
	j.begin(s)
	switch {
	case j.dec.PeekKind() == '[':
		_, err := j.dec.ReadToken()
		j.inList = err == nil
		return j.fail(err)
	case j.dec.PeekKind() != 'n':
		j.place.message++
		j.corrupt(messageNames[s].fields[0] + " is not a list")
		j.place.message--
	}
	return j.fail(j.dec.SkipValue())
}

// truncated returns the beginning of an element that the input does not complete. It returns nil if err is not a
// truncation.
func (j *jsonReader) truncated(err error) []byte {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return bytes.TrimLeft(j.dec.UnreadBuffer(), ", \t\r\n")
}

// fail converts an error of the JSON decoder to an error of this package. It returns errors of the reader unchanged.
func (j *jsonReader) fail(err error) error {
	var limit *ntconv.LimitError
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit):
		return located(j.place.offset, fmt.Sprintf("%s %d", messageNames[j.place.signal].fields[0], j.place.message+1), limit)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return located(j.base+j.dec.InputOffset()+int64(len(j.dec.UnreadBuffer())), jsonio.Path(j.dec.StackPointer()), ntconv.ErrTruncated)
	case errors.As(err, &syntax):
		return located(j.base+syntax.ByteOffset, jsonio.Path(syntax.JSONPointer), fmt.Errorf("%w: %w", ntconv.ErrCorrupt, syntax.Err))
	}
	return err
}
