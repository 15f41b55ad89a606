package parquet

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// A timeColumn decodes a column of times or durations.
type timeColumn struct {
	*fileColumn
	unit int64 // nanoseconds per unit of a number; 0 means not known yet
}

// textLayouts are the accepted text forms of times. Times without a zone are UTC.
var textLayouts = [...]string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	time.DateOnly,
}

// at returns a time in nanoseconds since 1970-01-01. It returns false if the value is NULL, not a time or out of range.
func (c *timeColumn) at(v parquetreader.Value) (int64, bool) {
	switch {
	case v.IsNull():
		return 0, false
	case c.isTime():
		return c.nanos(v)
	case c.isText():
		text := strings.TrimSpace(string(v.Bytes()))
		for _, layout := range textLayouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UnixNano(), t.Year() > 1678 && t.Year() < 2262
			}
		}
		return 0, false
	}
	return c.number(v)
}

// number converts a number to nanoseconds. It returns false if the value is NULL or out of range.
func (c *timeColumn) number(v parquetreader.Value) (int64, bool) {
	if v.IsNull() {
		return 0, false
	}
	if c.kind == kindFloat {
		whole, fraction := math.Modf(v.Float64())
		if !(math.Abs(whole) < math.MaxInt64/float64(c.unit)) { // also true for NaN
			return 0, false
		}
		return int64(whole)*c.unit + int64(math.Round(fraction*float64(c.unit))), true
	}
	if c.isDecimal() {
		return c.scaled(v, c.unit)
	}
	return scale(c.int(v), c.unit)
}

// A timeScan summarizes the times of all rows.
type timeScan struct {
	rows, invalid int64
	first         int64 // earliest time in nanoseconds since 1970-01-01
	sorted        bool
}

// scan reads the times of all rows into s.seen. It returns a *MappingError if no row has a time.
func (s *foreign) scan() error {
	s.seen = timeScan{first: math.MaxInt64, sorted: true}
	last := int64(math.MinInt64)
	for _, table := range s.f.names {
		file, err := s.f.file(table)
		if err != nil {
			return err
		}
		r := parquetreader.NewColumnsReader(file, []int{s.roles.at[roleTime]})
		var batch parquetreader.Columns
		for {
			if err := r.Read(&batch, batchRows); err == io.EOF {
				break
			} else if err != nil {
				return inTable(table, err)
			}
			for i := range batch.Rows {
				v := batch.Row(0, i)[0]
				s.guessUnit(v)
				at, ok := s.time.at(v)
				s.seen.rows++
				if !ok {
					s.seen.invalid++
					continue
				}
				s.seen.sorted = s.seen.sorted && at >= last
				s.seen.first, last = min(s.seen.first, at), at
			}
		}
	}
	if s.seen.rows > 0 && s.seen.invalid == s.seen.rows {
		return &MappingError{Role: roleTime, Column: s.time.name, Text: fmt.Sprintf("none of %d rows has a time", s.seen.rows), Columns: s.roles.list()}
	}
	if s.seen.first == math.MaxInt64 {
		s.seen.first = 0
	}
	return nil
}

// guessUnit chooses a unit for times that are numbers without a unit: the unit in which the first number is a time
// between 1973 and 5138.
func (s *foreign) guessUnit(v parquetreader.Value) {
	if s.time.unit != 0 || !s.time.isNumeric() || v.IsNull() {
		return
	}
	size := math.Abs(v.Float64())
	if s.time.kind != kindFloat {
		size = math.Abs(float64(s.time.int(v)))
	}
	unit := "ns"
	switch {
	case size < 1e11:
		unit = "s"
	case size < 1e14:
		unit = "ms"
	case size < 1e17:
		unit = "us"
	}
	s.time.unit, s.roles.unit[roleTime] = unitOf(unit), unit
}

// timeOf returns the decoder for the column of a role, or nil if no column has the role. Numbers without a unit have
// the unit of the time column.
func (s *foreign) timeOf(role string) *timeColumn {
	c := s.roles.of(role)
	if c == nil {
		return nil
	}
	t := &timeColumn{fileColumn: c, unit: unitOf(s.roles.unit[role])}
	if t.unit == 0 && c.isNumeric() {
		if _, unit, ok := cutUnit(c.name); ok {
			t.unit = unitOf(unit)
			s.roles.unit[role] = unit
		}
	}
	switch {
	case t.unit != 0 || role == roleTime:
	case c.Logical == parquetreader.Time:
		t.unit = c.Unit
	case s.time.isNumeric() && s.time.unit != 0:
		t.unit = s.time.unit
		s.roles.unit[role] = s.roles.unit[roleTime]
	case c.kind == kindFloat || c.isDecimal():
		t.unit, s.roles.unit[role] = int64(time.Second), "s"
	default:
		t.unit, s.roles.unit[role] = 1, "ns"
	}
	return t
}
