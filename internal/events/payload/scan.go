package payload

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// Reasons for rejecting JSON. Decoder.fail adds the position and ntconv.ErrValue.
var (
	errSyntax  = errors.New("invalid JSON")
	errType    = errors.New("value of the wrong type")
	errRange   = errors.New("number out of range")
	errSize    = errors.New("too many fields without a value for the size of the JSON")
	errUnknown = errors.New("member is not a field")
	errTwice   = errors.New("member occurs twice")
	errOrder   = errors.New("members are not in the order of the fields")
	errTrail   = errors.New("text after the object")
)

// fail returns an error at the current position in the JSON. It wraps ntconv.ErrValue and err.
func (d *Decoder) fail(err error) error {
	return fmt.Errorf("byte %d of the JSON: %w: %w", d.json.Pos, ntconv.ErrValue, err)
}

// readText reads a string and returns it as UTF-8. The result aliases the JSON, or d.text if the string has escapes.
func (d *Decoder) readText() ([]byte, error) {
	d.json.Peek()
	start := d.json.Pos
	text, escapes, ok := d.json.String()
	switch {
	case !ok && d.json.Pos == start:
		return nil, d.fail(errType)
	case !ok:
		return nil, d.fail(errSyntax)
	case !escapes:
		return text, nil
	}
	if d.text, _, ok = jsonio.AppendUnescaped(d.text[:0], text); !ok {
		d.json.Pos = start
		return nil, d.fail(errSyntax)
	}
	return d.text, nil
}

// skip skips a value. It checks only what is necessary to find the end.
func (d *Decoder) skip() error {
	if !d.json.Skip() {
		return d.fail(errSyntax)
	}
	return nil
}
