package tables

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// maxFieldCount is the maximum number of fields that ParseFields returns. It exceeds what a nettrace file needs.
const maxFieldCount = 1 << 20

// A fieldJSON is a field of a payload in the columns recorded_fields and layout of event_types. Type is the name of the
// type code as ntconv.TypeCode.String returns it, or the number of a code without a name.
type fieldJSON struct {
	Name  string      `json:"name"`
	Extra string      `json:"extra,omitempty"` // hexadecimal
	Type  string      `json:"type"`
	Elem  *typeJSON   `json:"elem,omitempty"`
	Count uint16      `json:"count,omitempty"`
	Of    []fieldJSON `json:"fields,omitempty"`
}

// A typeJSON is the type of an array element.
type typeJSON struct {
	Type  string      `json:"type"`
	Elem  *typeJSON   `json:"elem,omitempty"`
	Count uint16      `json:"count,omitempty"`
	Of    []fieldJSON `json:"fields,omitempty"`
}

// AppendFields appends fields as a JSON array to dst and returns the extended slice. It appends nothing if there are no
// fields. ParseFields restores all members of a field, except for names that are not valid UTF-8.
func AppendFields(dst []byte, fields []ntconv.Field) []byte {
	if len(fields) == 0 {
		return dst
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(fieldsToJSON(fields)); err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func fieldsToJSON(fields []ntconv.Field) []fieldJSON {
	var list []fieldJSON
	for i := range fields {
		f := &fields[i]
		t := typeToJSON(&f.Type)
		list = append(
			list,
			fieldJSON{
				Name:  f.Name,
				Extra: hex.EncodeToString(f.Extra),
				Type:  t.Type,
				Elem:  t.Elem,
				Count: t.Count,
				Of:    t.Of,
			},
		)
	}
	return list
}

func typeToJSON(t *ntconv.FieldType) *typeJSON {
	if t == nil {
		return nil
	}
	return &typeJSON{Type: codeName(t.Code), Elem: typeToJSON(t.Elem), Count: t.Count, Of: fieldsToJSON(t.Fields)}
}

// codeName returns the name of a type code, or its number if it has no name.
func codeName(c ntconv.TypeCode) string {
	if name := c.String(); name != fmt.Sprintf("type(%d)", uint8(c)) {
		return name
	}
	return strconv.Itoa(int(c))
}

// codes returns the type codes by name.
func codes() map[string]ntconv.TypeCode {
	m := make(map[string]ntconv.TypeCode, 256)
	for c := range 256 {
		m[codeName(ntconv.TypeCode(c))] = ntconv.TypeCode(c)
	}
	return m
}

// ParseFields parses the output of AppendFields; an empty string has no fields. The string is untrusted: nesting and
// the number of fields are limited. Errors wrap ntconv.ErrCorrupt, or are an *ntconv.LimitError.
func ParseFields(text string) ([]ntconv.Field, error) {
	if text == "" {
		return nil, nil
	}
	if _, err := jsonio.Skip([]byte(text), 0); errors.Is(err, jsonio.ErrDepth) { // the decoder recurses
		return nil, &ntconv.LimitError{
			Limit: "nesting of fields as JSON", Value: jsonio.MaxDepth, Asked: jsonio.MaxDepth + 1, Unit: "levels",
		}
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var list []fieldJSON
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%w: description of fields: %w", ntconv.ErrCorrupt, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: description of fields: text after its end", ntconv.ErrCorrupt)
	}
	p := fieldParser{codes: codes()}
	return p.fields(list)
}

type fieldParser struct {
	codes map[string]ntconv.TypeCode
	count int
}

func (p *fieldParser) fields(list []fieldJSON) ([]ntconv.Field, error) {
	if p.count += len(list); p.count > maxFieldCount {
		return nil, &ntconv.LimitError{Limit: "fields of a type", Value: maxFieldCount, Asked: int64(p.count)}
	}
	var fields []ntconv.Field
	for i := range list {
		j := &list[i]
		f := ntconv.Field{Name: j.Name}
		var err error
		if f.Extra, err = hex.DecodeString(j.Extra); err != nil {
			return nil, fmt.Errorf("%w: field %q: extra: %w", ntconv.ErrCorrupt, j.Name, err)
		}
		if len(f.Extra) == 0 {
			f.Extra = nil
		}
		t, err := p.fieldType(&typeJSON{Type: j.Type, Elem: j.Elem, Count: j.Count, Of: j.Of})
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", j.Name, err)
		}
		f.Type = *t
		fields = append(fields, f)
	}
	return fields, nil
}

func (p *fieldParser) fieldType(j *typeJSON) (*ntconv.FieldType, error) {
	if j == nil {
		return nil, nil
	}
	code, ok := p.codes[j.Type]
	if !ok {
		return nil, fmt.Errorf("%w: unknown type %.40q; want a name such as int32, or a number of at most %d",
			ntconv.ErrCorrupt, j.Type, math.MaxUint8)
	}
	t := &ntconv.FieldType{Code: code, Count: j.Count}
	var err error
	if t.Elem, err = p.fieldType(j.Elem); err != nil {
		return nil, err
	}
	t.Fields, err = p.fields(j.Of)
	return t, err
}
