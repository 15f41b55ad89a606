// Package profiles stores what OTLP states of an imported profile beyond the properties that all profiles have: its
// resource, scope, attributes and original payload. The samples are imported samples as of any format (package imported),
// whose type names the profile.
package profiles

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// A Profile is a message Profile of profiles.proto without its samples, times and period, which the attributes of the type
// of its samples have.
type Profile struct {
	Number     uint64       // of the profile in its input, from 1; see NumberOf
	Time       uint64       // start in nanoseconds since 1970; 0 if unknown
	ID         span.TraceID // zero if there is none
	Type, Unit string       // of the values of its samples
	Attributes []span.Attribute

	DroppedAttributes uint32
	PayloadFormat     string
	Payload           string // bytes of the original profile; "" if there is none

	Scope    *span.Scope
	Resource *span.Resource
	Process  *ntconv.Process
}

// Stored is the kind of imported profiles. A Decoder sets Process, too.
var Stored = &stored.Kind[Profile]{
	Name: "Profile",
	ID:   5,
	Head: []ntconv.Field{
		stored.Scalar("number", ntconv.TypeVarUint), stored.Scalar("timeUnixNano", ntconv.TypeUint64), stored.Text("profileId"),
		stored.Text("sampleType"), stored.Text("sampleUnit"), stored.Text("originalPayloadFormat"),
	},
	Lists: []ntconv.Field{
		stored.Attributes(), stored.Dropped("Attributes"), stored.Array("originalPayload", ntconv.FieldType{Code: ntconv.TypeUint8}),
	},
	WriteHead: func(p *stored.Payload, v *Profile, size int) {
		p.Varuint(v.Number)
		p.Uint64(v.Time)
		p.ID(v.ID[:], v.ID.IsZero())
		p.Text(stored.Cut(v.Type, size))
		p.Text(stored.Cut(v.Unit, size))
		p.Text(stored.Cut(v.PayloadFormat, size))
	},
	WriteLists: func(p *stored.Payload, v *Profile) {
		p.Attributes(v.Attributes, v.DroppedAttributes)
		p.Text(v.Payload)
	},
	Abridge: func(v *Profile) Profile { return Profile{Attributes: stored.Abridged(v.Attributes)} },
	ReadHead: func(c *stored.Cursor, v *Profile) {
		v.Number, v.Time = c.Varuint(), c.Uint64()
		c.ID(v.ID[:])
		v.Type, v.Unit = c.Text(), c.Text()
		v.PayloadFormat = c.Text()
	},
	ReadLists: func(c *stored.Cursor, v *Profile) {
		v.Attributes, v.DroppedAttributes = c.Attributes()
		v.Payload = c.Text()
	},
	Reset: func(*Profile) Profile { return Profile{} },
	Origin: func(v *Profile) stored.Origin {
		return stored.Origin{Scope: &v.Scope, Resource: &v.Resource, Process: &v.Process}
	},
}

// attrNumber is the attribute of a type of samples with the number of their profile.
const attrNumber = "otlp.profile"

// NumberAttr returns the attribute for the type of a profile's samples.
func NumberAttr(number uint64) ntconv.Attr {
	return ntconv.Attr{Key: attrNumber, Value: strconv.FormatUint(number, 10)}
}

// NumberOf returns the number of the profile that samples of type t belong to, 0 if there is none.
func NumberOf(t *ntconv.Type) uint64 {
	if t == nil {
		return 0
	}
	text, _ := t.Attrs.Get(attrNumber)
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}
