package jsonio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
)

// LimitValue is the Limit of the *ntconv.LimitError for a string or a Raw value that is too large. The unit is bytes.
const LimitValue = "value in the JSON of a profile"

// DefaultValue is the default of Options.Value in bytes: 16 MiB.
const DefaultValue = 16 << 20

// Options configures a Reader. The zero value selects the defaults.
type Options struct {
	Format string         // name of the format, for errors
	Value  int            // maximum size in bytes of one string or one Raw value; 0 means DefaultValue
	Report *ntconv.Report // counts strings that are not UTF-8; may be nil
}

// NewDecoder returns a jsontext.Decoder that permits duplicate names and invalid UTF-8.
func NewDecoder(r io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// A Reader reads JSON text. Its errors are of type *ntconv.FormatError with the position, and wrap ntconv.ErrTruncated,
// ntconv.ErrCorrupt or ntconv.ErrLimit; errors of the underlying io.Reader are returned unchanged. Do not use a Reader
// after an error. It is not safe for concurrent use.
type Reader struct {
	o   Options
	in  *window
	dec *jsontext.Decoder
	at  int64 // byte offset of the latest value, after a byte order mark; begin and fail set it
}

// New returns a Reader of the text in r. It skips a byte order mark. It reads from r only when a value is requested.
func New(r io.Reader, o Options) *Reader {
	if o.Value <= 0 {
		o.Value = DefaultValue
	}
	j := &Reader{o: o, in: &window{r: r, limit: o.Value, line: 1, passed: -1}}
	j.dec = NewDecoder(j.in)
	j.in.consumed = j.dec.InputOffset
	j.in.value = func() int64 { return j.at }
	return j
}

// Kind returns the kind of the next value without reading it: '{', '[', '"', '0' for a number, 't', 'f' or 'n'. At the
// end of a list or object it returns ']' or '}'. It returns 0 if there is an error, which the next call of another
// method returns.
func (j *Reader) Kind() jsontext.Kind { return j.dec.PeekKind() }

// A Place is the position of a value. It is immutable and stays valid.
type Place struct {
	Offset int64  // byte offset in the decompressed input, including a byte order mark
	text   string // line, column and path
}

// Place returns the position of the latest value that was read.
func (j *Reader) Place() Place {
	line, column := j.in.position(j.at)
	text := fmt.Sprintf("line %d, column %d", line, column)
	if p := Path(j.dec.StackPointer()); p != "" {
		text += ", " + p
	}
	return Place{j.in.skipped + j.at, text}
}

// Path returns a JSON pointer for an error. It truncates long ones, because they grow with the nesting depth of the
// text.
func Path(p jsontext.Pointer) string {
	const size = 100
	if len(p) > size {
		return string(p[:size]) + "..."
	}
	return string(p)
}

// Fail returns err as a *ntconv.FormatError with the position p.
func (j *Reader) Fail(p Place, err error) error {
	return &ntconv.FormatError{Format: j.o.Format, Offset: p.Offset, Where: p.text, Err: err}
}

// Corrupt returns an error about the latest value that was read, formatted as by fmt.Sprintf. It wraps
// ntconv.ErrCorrupt.
func (j *Reader) Corrupt(format string, args ...any) error {
	return j.Fail(j.Place(), fmt.Errorf("%w: %s", ntconv.ErrCorrupt, fmt.Sprintf(format, args...)))
}

// fail converts an error of the decoder to an error of this package.
func (j *Reader) fail(err error) error {
	var limit *ntconv.LimitError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &limit):
		j.at = j.dec.InputOffset()
		return j.Fail(j.Place(), limit)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		j.at = j.in.total
		return j.Fail(j.Place(), ntconv.ErrTruncated)
	case errors.As(err, &syntax):
		j.at = syntax.ByteOffset
		return j.Fail(j.Place(), fmt.Errorf("%w: %w", ntconv.ErrCorrupt, syntax.Err))
	}
	return err
}

// begin stores the offset of the next value in j.at and returns its kind.
func (j *Reader) begin() jsontext.Kind {
	kind := j.dec.PeekKind()
	j.at = j.dec.InputOffset()
	for _, c := range j.dec.UnreadBuffer() {
		if !isBetween[c] {
			break
		}
		j.at++
	}
	return kind
}

// isBetween contains the bytes that may occur between values.
var isBetween = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ':': true}

// want returns an error unless the next value has the given kind. name describes the kind in the message, with its
// article.
func (j *Reader) want(kind jsontext.Kind, name string) error {
	got := j.begin()
	if got == kind {
		return nil
	}
	if got == 0 {
		_, err := j.dec.ReadToken()
		return j.fail(err)
	}
	return j.Corrupt("want %s, got %s", name, kindName(got))
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a Boolean"
	case 'n':
		return "null"
	}
	return "the end of a list or an object"
}

// Object reads an object. For each member whose name is in names, which has at most 64 elements, it calls member with
// the index of the name; member must read the value. Object skips members with other names. A second member with the
// same name in names is an error, because readers disagree on which one is valid. Null is treated as an object without
// members.
func (j *Reader) Object(names []string, member func(i int) error) error {
	if null, err := j.null(); null {
		return err
	}
	if err := j.want('{', "an object"); err != nil {
		return err
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return j.fail(err)
	}
	var seen uint64
	for j.dec.PeekKind() != '}' {
		i, err := j.name(names)
		switch {
		case err != nil:
			return err
		case i < 0:
			err = j.Skip()
		case seen&(1<<i) != 0:
			return j.Corrupt("member %q occurs twice", names[i])
		default:
			seen |= 1 << i
			err = member(i)
		}
		if err != nil {
			return err
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return j.fail(err)
	}
	return nil
}

// name reads the name of a member and returns its index in names, or -1.
func (j *Reader) name(names []string) (int, error) {
	j.begin()
	text, err := j.dec.ReadValue()
	if err != nil {
		return 0, j.fail(err)
	}
	if text = text[1 : len(text)-1]; !IsPlain(text) {
		text, _, _ = AppendUnescaped(nil, text)
	}
	return slices.Index(names, string(text)), nil
}

// Array reads a list. It calls elem for each element with its index; elem must read the value. Null is treated as an
// empty list.
func (j *Reader) Array(elem func(i int) error) error {
	if null, err := j.null(); null {
		return err
	}
	if err := j.want('[', "a list"); err != nil {
		return err
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return j.fail(err)
	}
	for i := 0; ; i++ {
		if k := j.dec.PeekKind(); k == ']' || k == 0 {
			if _, err := j.dec.ReadToken(); err != nil {
				return j.fail(err)
			}
			return nil
		}
		if err := elem(i); err != nil {
			return err
		}
	}
}

// null reads the next value if it is null, and reports whether it was.
func (j *Reader) null() (bool, error) {
	if j.dec.PeekKind() != 'n' {
		return false, nil
	}
	return true, j.Skip()
}

// Skip reads and discards the next value of any kind.
func (j *Reader) Skip() error {
	j.begin()
	if err := j.dec.SkipValue(); err != nil {
		return j.fail(err)
	}
	return nil
}

// Raw reads the next value of any kind and returns its JSON text without surrounding white space. The text is borrowed
// until the next call of a method.
func (j *Reader) Raw() ([]byte, error) {
	j.begin()
	text, err := j.dec.ReadValue()
	if err != nil {
		return nil, j.fail(err)
	}
	return text, nil
}

// String reads a string. Invalid UTF-8 and unpaired surrogates become U+FFFD, counted as CodeRepaired. A number or a
// Boolean is returned as its JSON text, null as "".
func (j *Reader) String() (string, error) {
	switch kind := j.begin(); kind {
	case '{', '[', ']', '}', 0:
		return "", j.want('"', "a string")
	case 'n':
		return "", j.Skip()
	}
	text, err := j.dec.ReadValue()
	if err != nil {
		return "", j.fail(err)
	}
	if text[0] != '"' {
		return string(text), nil
	}
	if inner := text[1 : len(text)-1]; IsPlain(inner) && utf8.Valid(inner) {
		return string(inner), nil
	}
	plain, exact := AppendUnquoted(nil, text)
	if !exact {
		j.o.Report.Note(ntconv.CodeRepaired, 1, j.in.skipped+j.at, "strings with invalid Unicode")
	}
	return string(plain), nil
}

// Bool reads a Boolean, or a number, which is true unless its text is 0. Null is false.
func (j *Reader) Bool() (bool, error) {
	switch kind := j.begin(); kind {
	case 't', 'f', '0', 'n':
		text, err := j.dec.ReadValue()
		if err != nil {
			return false, j.fail(err)
		}
		return kind == 't' || kind == '0' && string(text) != "0", nil
	}
	return false, j.want('t', "a Boolean")
}

// Number reads a number and returns its text, borrowed until the next call of a method. ok is false for null.
func (j *Reader) Number() (text []byte, ok bool, err error) {
	switch j.begin() {
	case '0':
	case 'n':
		return nil, false, j.Skip()
	default:
		return nil, false, j.want('0', "a number")
	}
	if text, err = j.dec.ReadValue(); err != nil {
		return nil, false, j.fail(err)
	}
	return text, true, nil
}

// Decimal reads a number as a Decimal. ok is false for null.
func (j *Reader) Decimal() (d Decimal, ok bool, err error) {
	text, ok, err := j.Number()
	if ok {
		d = ParseDecimal(text)
	}
	return d, ok, err
}

// Scaled reads a number and returns it times 10 to the power of digits, rounded to the nearest integer. ok is false for
// null. exact is false if the result was rounded. A result that does not fit into an int64 is an error.
func (j *Reader) Scaled(digits int) (v int64, exact, ok bool, err error) {
	d, ok, err := j.Decimal()
	if !ok || err != nil {
		return 0, true, false, err
	}
	v, exact, fits := d.Scale(digits)
	if !fits {
		return 0, false, false, j.Corrupt("the number is out of range")
	}
	return v, exact, true, nil
}

// Index reads a number that must be an integer in low..high. It returns none for null.
func (j *Reader) Index(low, high, none int64) (int64, error) {
	text, ok, err := j.Number()
	if err != nil || !ok {
		return none, err
	}
	if v, ok := smallInt(text); ok && v >= low && v <= high {
		return v, nil
	}
	v, exact, ok := ParseDecimal(text).Scale(0)
	switch {
	case !ok:
		return 0, j.Corrupt("the number is out of range")
	case !exact:
		return 0, j.Corrupt("want an integer")
	case v < low || v > high:
		return 0, j.Corrupt("want %d to %d, got %d", low, high, v)
	}
	return v, nil
}

// smallInt returns the value of at most 18 decimal digits, the fast path for integers.
func smallInt(text []byte) (v int64, ok bool) {
	if len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// End returns an error unless only white space follows.
func (j *Reader) End() error {
	j.begin()
	switch _, err := j.dec.ReadToken(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return j.fail(err)
	}
	return j.Corrupt("want the end of the text")
}
