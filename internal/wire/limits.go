package wire

import "github.com/ntconv/ntconv/internal/bin"

// Names of limits, for [bin.LimitError]. Those of [Limits] come first; the others are fixed by the format.
const (
	LimitFields = "fields of an event type" // Limits.Fields
	LimitDepth  = "field nesting"           // Limits.Depth
	LimitName   = "name length"             // Limits.Name

	LimitMetadata  = "metadata row"      // 16 bits count its bytes
	LimitField     = "field"             // 16 bits count its bytes
	LimitOptional  = "optional metadata" // 16 bits count its bytes
	LimitThread    = "thread row"        // 16 bits count its bytes
	LimitRowFields = "fields in a list"  // 16 bits count them
	LimitBlock     = "block to write"    // 24 bits count its bytes
)

// TooManyFields returns the error of a metadata row with more fields than [Limits] allow.
func TooManyFields(limit int, asked int64) error {
	return &bin.LimitError{Limit: LimitFields, Value: int64(limit), Asked: asked}
}

// TooDeep returns the error of a type that is nested deeper than [Limits] allow.
func TooDeep(limit, asked int) error {
	return &bin.LimitError{Limit: LimitDepth, Value: int64(limit), Asked: int64(asked), Unit: "levels"}
}

// NameTooLong returns the error of a name that is longer than [Limits] allow, in UTF-16 units or bytes.
func NameTooLong(limit, asked int, unit string) error {
	return &bin.LimitError{Limit: LimitName, Value: int64(limit), Asked: int64(asked), Unit: unit}
}
