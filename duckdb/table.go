package main

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// A table is the result of a statement.
type table struct {
	null  string // text for NULL, except in JSON
	names []string
	types []string // SQL types
	rows  [][]driver.Value
}

// print writes the table in an output mode.
func (t *table) print(w io.Writer, mode string) error {
	switch mode {
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w, "[", ",\n", "]\n")
	case "jsonlines":
		return t.json(w, "", "\n", "\n")
	case "markdown":
		return t.markdown(w)
	case "line":
		return t.lines(w)
	}
	return t.box(w)
}

// cells returns the values as strings.
func (t *table) cells() [][]string {
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		for k, v := range row {
			if v == nil {
				rows[i] = append(rows[i], t.null)
			} else {
				rows[i] = append(rows[i], t.text(k, v))
			}
		}
	}
	return rows
}

func (t *table) csv(w io.Writer) error {
	for i, row := range append([][]string{t.names}, t.cells()...) {
		row = slices.Clone(row)
		for k, cell := range row {
			if i == 0 || t.rows[i-1][k] != nil {
				row[k] = quoteCSV(cell)
			}
		}
		if _, err := fmt.Fprintln(w, strings.Join(row, ",")); err != nil {
			return err
		}
	}
	return nil
}

func quoteCSV(s string) string {
	if s != "" && !strings.ContainsAny(s, ",\"'\n\r ") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// json writes an object per row, with text before, between and after the rows.
func (t *table) json(w io.Writer, before, between, after string) error {
	if len(t.rows) == 0 && before == "" {
		return nil
	}
	var rows []string
	for _, row := range t.rows {
		var fields []string
		for k, v := range row {
			name, _ := json.Marshal(t.names[k])
			fields = append(fields, string(name)+":"+t.jsonValue(k, v))
		}
		rows = append(rows, "{"+strings.Join(fields, ",")+"}")
	}
	_, err := io.WriteString(w, before+strings.Join(rows, between)+after)
	return err
}

// markdown writes a table whose columns have equal width.
func (t *table) markdown(w io.Writer) error {
	escape := strings.NewReplacer("|", "\\|", "\n", "<br>")
	rows := append([][]string{t.names}, t.cells()...)
	var b strings.Builder
	for i, row := range rows {
		padded := make([]string, len(row))
		rule := make([]string, len(row))
		for k, cell := range row {
			width := 0
			for _, other := range rows {
				width = max(width, utf8.RuneCountInString(escape.Replace(other[k])))
			}
			cell = escape.Replace(cell)
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			padded[k], rule[k] = cell+pad, strings.Repeat("-", width+2)
			if t.isNumber(k) {
				padded[k], rule[k] = pad+cell, strings.Repeat("-", width+1)+":"
			}
		}
		b.WriteString("| " + strings.Join(padded, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Join(rule, "|") + "|\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines writes a line per value, and an empty one between rows.
func (t *table) lines(w io.Writer) error {
	width := 0
	for _, name := range t.names {
		width = max(width, utf8.RuneCountInString(name))
	}
	var b strings.Builder
	for i, row := range t.cells() {
		if i > 0 {
			b.WriteByte('\n')
		}
		for k, cell := range row {
			b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(t.names[k])) + t.names[k] + " = " + cell + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// isNumber reports whether a column has numbers only.
func (t *table) isNumber(k int) bool {
	return len(t.rows) > 0 && !slices.ContainsFunc(t.rows, func(row []driver.Value) bool { return row[k] != nil && !isNumber(row[k]) })
}

// jsonValue returns a value of a column for JSON.
func (t *table) jsonValue(column int, v driver.Value) string {
	if _, ok := v.(time.Time); ok {
		v = t.text(column, v)
	}
	return jsonValue(v)
}

// jsonValue returns numbers and booleans unchanged, and all other values as strings.
func jsonValue(v driver.Value) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "null"
		}
		return text(x)
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, *big.Int, duckdb.Decimal:
		return text(x)
	case []any:
		var list []string
		for _, e := range x {
			list = append(list, jsonValue(e))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	b, _ := json.Marshal(text(v))
	return string(b)
}

// box writes columns of equal width in a frame; numbers are right-aligned.
func (t *table) box(w io.Writer) error {
	rows := append([][]string{t.names}, t.cells()...)
	rules := make([]string, len(t.names))
	number := make([]bool, len(t.names))
	for k := range t.names {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[k]))
		}
		rules[k] = strings.Repeat("─", width)
		number[k] = t.isNumber(k)
	}
	var b strings.Builder
	b.WriteString("┌─" + strings.Join(rules, "─┬─") + "─┐\n")
	for i, row := range rows {
		padded := make([]string, len(row))
		for k, cell := range row {
			pad := strings.Repeat(" ", utf8.RuneCountInString(rules[k])-utf8.RuneCountInString(cell))
			if number[k] {
				padded[k] = pad + cell
			} else {
				padded[k] = cell + pad
			}
		}
		b.WriteString("│ " + strings.Join(padded, " │ ") + " │\n")
		if i == 0 {
			b.WriteString("├─" + strings.Join(rules, "─┼─") + "─┤\n")
		}
	}
	b.WriteString("└─" + strings.Join(rules, "─┴─") + "─┘\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func isNumber(v driver.Value) bool {
	switch v.(type) {
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, *big.Int, duckdb.Decimal:
		return true
	}
	return false
}

// text returns a value of a column as a string.
func (t *table) text(column int, v driver.Value) string {
	if at, ok := v.(time.Time); ok {
		switch t.types[column] {
		case "DATE":
			return at.UTC().Format(time.DateOnly)
		case "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S":
			return strings.TrimSuffix(text(at), "+00")
		case "TIME":
			return at.UTC().Format("15:04:05.999999")
		}
	}
	if b, ok := v.([]byte); ok && t.types[column] == "UUID" && len(b) == 16 {
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return text(v)
}

// text returns a value as DuckDB casts it to VARCHAR, for the types that the queries of this module return.
func text(v driver.Value) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return x
	case float64:
		return float(x, 64)
	case float32:
		return float(float64(x), 32)
	case []byte:
		return `\x` + strings.ToUpper(hex.EncodeToString(x))
	case time.Time:
		return x.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
	case duckdb.Decimal:
		return decimal(x)
	case []any:
		var list []string
		for _, e := range x {
			list = append(list, text(e))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case duckdb.OrderedMap:
		var list []string
		for i, key := range x.Keys() {
			list = append(list, text(key)+"="+text(x.Values()[i]))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case map[string]any:
		var list []string
		for _, name := range slices.Sorted(maps.Keys(x)) {
			list = append(list, fmt.Sprintf("'%s': %s", name, text(x[name])))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case duckdb.Interval:
		d := time.Duration(x.Micros) * time.Microsecond
		return fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprint(v)
}

// decimal returns a number with all digits of its scale.
func decimal(d duckdb.Decimal) string {
	digits, sign := d.Value.String(), ""
	if d.Value.Sign() < 0 {
		digits, sign = digits[1:], "-"
	}
	scale := int(d.Scale)
	if scale == 0 {
		return sign + digits
	}
	digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// float returns a number with a decimal point or an exponent, to distinguish it from an integer.
func float(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, bits), "+"))
	}
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if abs := math.Abs(x); abs != 0 && (abs < 1e-4 || abs >= 1e15) {
		return strconv.FormatFloat(x, 'e', -1, bits)
	}
	if !strings.ContainsAny(s, ".IN") {
		s += ".0"
	}
	return s
}
