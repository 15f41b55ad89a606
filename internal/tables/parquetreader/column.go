package parquetreader

import (
	"fmt"
	"strings"
)

// A Physical is the physical type of a column: how its values are stored. The numbers are those of Type in
// parquet.thrift.
type Physical int

// Physical types.
const (
	Boolean Physical = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

// String returns the name that the specification uses.
func (p Physical) String() string {
	names := []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("type %d", int(p))
	}
	return names[p]
}

// A Logical is the logical type of a column: the meaning of its values.
type Logical int

// Logical types. NoLogical is a column without an annotation or with an unknown one. Each value covers the annotations
// of both generations of the format (LogicalType and ConvertedType in parquet.thrift).
const (
	NoLogical Logical = iota
	String
	Enum
	JSON
	BSON
	UUID
	Decimal
	Date
	Time
	Timestamp
	Integer
	Interval
	OtherLogical
)

var logicalNames = [...]string{
	"",
	"STRING",
	"ENUM",
	"JSON",
	"BSON",
	"UUID",
	"DECIMAL",
	"DATE",
	"TIME",
	"TIMESTAMP",
	"INTEGER",
	"INTERVAL",
	"other",
}

// String returns the name that the specification uses, and "" for NoLogical.
func (l Logical) String() string { return logicalNames[l] }

// A Column describes a leaf column of a file: one that holds values.
type Column struct {
	// Path contains the names of the groups around the column and its own name. Parquet has two groups per list or map:
	// a column in a list is "frames", "list", "element"; a map has the columns "tags", "key_value", "key" and "tags",
	// "key_value", "value".
	Path []string
	// Physical is the physical type.
	Physical Physical
	// Length is the number of bytes of a value of a FixedLenByteArray, and 0 otherwise.
	Length int
	// Logical is the logical type.
	Logical Logical
	// Unit is the number of nanoseconds per unit of a Time or Timestamp: 1, 1,000 or 1,000,000.
	Unit int64
	// UTC means that a Time or Timestamp is adjusted to UTC. Otherwise it is a local time of an unknown zone.
	UTC bool
	// Bits and Unsigned describe an Integer: its width and whether it is unsigned.
	Bits     int
	Unsigned bool
	// Scale is the number of decimal digits after the point of a Decimal.
	Scale int
	// Optional means that the column itself can be NULL, regardless of the groups around it.
	Optional bool
	// MaxDefinition and MaxRepetition are the largest levels of the column. A value is present if its definition level
	// is MaxDefinition. MaxRepetition is the number of lists and maps around the column.
	MaxDefinition, MaxRepetition int

	// leaf is the position among the leaf columns of the file.
	leaf int
}

// Name returns the path, joined by dots.
func (c *Column) Name() string { return strings.Join(c.Path, ".") }

// TypeName describes the type for messages, such as "INT64 TIMESTAMP in microseconds".
func (c *Column) TypeName() string {
	name := c.Physical.String()
	switch {
	case c.Logical == Integer && c.Unsigned:
		return fmt.Sprintf("%s UINT_%d", name, c.Bits)
	case c.Logical == Integer:
		return name
	case c.Logical == Timestamp || c.Logical == Time:
		return fmt.Sprintf("%s %v in %s", name, c.Logical, unitNames[c.Unit])
	case c.Logical != NoLogical:
		return name + " " + c.Logical.String()
	}
	return name
}

// unitNames maps nanoseconds per unit to the name of the unit.
var unitNames = map[int64]string{
	0:         "an unknown unit",
	1:         "nanoseconds",
	1000:      "microseconds",
	1_000_000: "milliseconds",
}
