package wire

import "github.com/ntconv/ntconv/internal/data/bin"

// Names of limits in [bin.LimitError]. [Limits] sets the first three; the format fixes the others.
const (
	LimitFields = "fields of an event type" // Limits.Fields
	LimitDepth  = "field nesting"           // Limits.Depth
	LimitName   = "name length"             // Limits.Name

	LimitMetadata  = "metadata row"      // 65,535 bytes: a 16-bit size
	LimitField     = "field"             // 65,535 bytes: a 16-bit size
	LimitOptional  = "optional metadata" // 65,535 bytes: a 16-bit size
	LimitThread    = "thread row"        // 65,535 bytes: a 16-bit size
	LimitRowFields = "fields in a list"  // 65,535 fields: a 16-bit count
	LimitBlock     = "block to write"    // 16,777,215 bytes: a 24-bit size
)

// TooManyFields returns the error of a metadata row with more fields than [Limits] allows.
func TooManyFields(limit int, asked int64) error {
	return &bin.LimitError{Limit: LimitFields, Value: int64(limit), Asked: asked}
}

// TooDeep returns the error of a type with more levels of nesting than [Limits] allows.
func TooDeep(limit, asked int) error {
	return &bin.LimitError{Limit: LimitDepth, Value: int64(limit), Asked: int64(asked), Unit: "levels"}
}

// NameTooLong returns the error of a name that is longer than [Limits] allows. unit is that of both numbers: "bytes" or
// "UTF-16 units".
func NameTooLong(limit, asked int, unit string) error {
	return &bin.LimitError{Limit: LimitName, Value: int64(limit), Asked: int64(asked), Unit: unit}
}
