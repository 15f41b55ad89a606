package payload

import (
	"errors"

	"github.com/ntconv/ntconv"
)

// A Decoder makes payloads of one layout from JSON. It is not safe for concurrent use.
type Decoder struct{}

// NewDecoder returns a decoder for payloads with these fields and that pointer size, 4 or 8 bytes.
func NewDecoder(fields []ntconv.Field, pointerSize int) *Decoder { return new(Decoder) }

// Append appends the payload to dst that an object in JSON describes. Empty JSON is an empty payload. The members may have any
// order. A payload ends before trailing fields that are null or missing; other fields without a value are zero. Malformed
// JSON, a member that is not a field, and a value that its field cannot hold are errors that wrap ntconv.ErrValue, and dst is
// returned as it was. The JSON may be untrusted: memory is proportional to its size.
func (d *Decoder) Append(dst, json []byte) (payload []byte, err error) {
	return dst, errors.ErrUnsupported
}
