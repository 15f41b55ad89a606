// Package pagedata decodes the pages of exporters/html for tests, from the specification in docs/html.md and with no
// code of the exporter, so that a mistake is not in both.
package pagedata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
)

// A Page is decoded page data.
type Page struct {
	Header  Header
	columns []byte
}

// A Header is the header of page data.
type Header struct {
	Version   int
	Generator string
	Strings   []string
	Trace     struct {
		Name, Format, Program, Command, Runtime, Machine, Start string
		StartNanos                                              string `json:"start_ns"`
		Duration                                                int64  `json:"duration_ns"`
		Events, Lost                                            int64
		Incomplete                                              bool
		Links                                                   string
		Notes                                                   []string
		Can, Cannot                                             []struct{ What, Command string }
	}
	Kinds  []Kind
	Series []Series
	Tables map[string]struct {
		Rows    int
		Columns map[string]struct {
			At, Length int
			Type       string
		}
	}
}

// A Kind is a kind of samples.
type Kind struct {
	Name, Doc, One, Many string
	Bin                  int64 `json:"bin_ns"`
	Long                 int64 `json:"long_ns"`
	Values               []Value
	Main                 int
	Estimated            bool
}

// A Value is a type of values; Error is the standard error of their total as a fraction of it.
type Value struct {
	Type, Unit string
	Error      float64
}

// A Series is a series of values of a counter.
type Series struct {
	Process                                            int
	Provider, Name, Title, Unit, Kind, Statistic, Tags string
}

// block matches the data of a page.
var block = regexp.MustCompile(`<script type="text/plain" id="(\w+)">([A-Za-z0-9+/=]*)</script>`)

// Decode returns the data with an id in a page: "data" or "before".
func Decode(page []byte, id string) (*Page, error) {
	data, err := Block(page, id)
	if err != nil {
		return nil, err
	}
	p, err := decode(data)
	if err != nil {
		return nil, err
	}
	if id == "data" {
		if err := p.addRest(page); err != nil {
			return nil, fmt.Errorf("rest: %w", err)
		}
	}
	return p, p.check()
}

// addRest adds the strings and columns of the element "rest".
func (p *Page) addRest(page []byte) error {
	data, err := Block(page, "rest")
	if err != nil {
		return err
	}
	var texts []string
	columns, err := piece(data, &texts)
	if err != nil {
		return err
	}
	p.Header.Strings = append(p.Header.Strings, texts...)
	p.columns = append(slices.Clip(p.columns), columns...)
	return nil
}

// Block returns the decompressed content of an element of a page: page data, or the JSON with the id "diff".
func Block(page []byte, id string) ([]byte, error) {
	for _, m := range block.FindAllSubmatch(page, -1) {
		if string(m[1]) == id {
			packed, err := base64.StdEncoding.DecodeString(string(m[2]))
			if err != nil {
				return nil, err
			}
			z, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(z)
		}
	}
	return nil, fmt.Errorf("the page has no data %q", id)
}

func decode(data []byte) (*Page, error) {
	const magic = "ntcpage1"
	if !bytes.HasPrefix(data, []byte(magic)) {
		return nil, errors.New("no page data")
	}
	p := &Page{}
	var err error
	if p.columns, err = piece(data[len(magic):], &p.Header); err != nil {
		return nil, err
	}
	if p.Header.Version != 1 || len(p.Header.Strings) == 0 || p.Header.Strings[0] != "" {
		return nil, fmt.Errorf("version %d, strings %.3q", p.Header.Version, p.Header.Strings)
	}
	return p, nil
}

// piece decodes the JSON whose length data begins with, and returns the columns after it.
func piece(data []byte, header any) (columns []byte, err error) {
	if len(data) < 4 {
		return nil, errors.New("no header")
	}
	n, rest := int64(binary.LittleEndian.Uint32(data)), data[4:]
	if n > int64(len(rest)) {
		return nil, errors.New("the header is longer than the data")
	}
	return rest[n:], json.Unmarshal(rest[:n], header)
}

// check decodes all columns.
func (p *Page) check() (err error) {
	covered := 0
	for name, t := range p.Header.Tables {
		for column, c := range t.Columns {
			if c.At < 0 || c.Length < 0 || c.At+c.Length > len(p.columns) {
				return fmt.Errorf("%s.%s is outside of the data", name, column)
			}
			covered += c.Length
			if c.Type == "float" {
				_, err = p.floats(name, column)
			} else {
				_, err = p.ints(name, column, 0)
			}
			if err != nil {
				return fmt.Errorf("%s.%s: %w", name, column, err)
			}
		}
	}
	if covered != len(p.columns) {
		return fmt.Errorf("columns have %d bytes of %d", covered, len(p.columns))
	}
	return nil
}

// Rows returns the number of rows of a table.
func (p *Page) Rows(table string) int { return p.Header.Tables[table].Rows }

// Ints returns a column of numbers; absent is the value in a column that does not exist.
func (p *Page) Ints(table, column string, absent int64) []int64 {
	list, _ := p.ints(table, column, absent) // check has decoded it
	return list
}

// Texts returns a column of strings.
func (p *Page) Texts(table, column string) []string {
	list := make([]string, p.Rows(table))
	for i, n := range p.Ints(table, column, 0) {
		list[i] = p.Header.Strings[n]
	}
	return list
}

// Floats returns a column of floating-point numbers.
func (p *Page) Floats(table, column string) []float64 {
	list, _ := p.floats(table, column)
	return list
}

func (p *Page) ints(table, column string, absent int64) ([]int64, error) {
	t := p.Header.Tables[table]
	list := make([]int64, t.Rows)
	c, ok := t.Columns[column]
	if !ok {
		for i := range list {
			list[i] = absent
		}
		return list, nil
	}
	b, last := p.columns[c.At:c.At+c.Length], int64(0)
	for i := range list {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, fmt.Errorf("row %d is not a number", i)
		}
		if b = b[n:]; c.Type == "delta" {
			v += last
		}
		list[i], last = v, v
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes after the last row", len(b))
	}
	return list, nil
}

func (p *Page) floats(table, column string) ([]float64, error) {
	t := p.Header.Tables[table]
	list := make([]float64, t.Rows)
	c, ok := t.Columns[column]
	if ok && c.Length != 8*t.Rows {
		return nil, fmt.Errorf("%d bytes for %d rows", c.Length, t.Rows)
	}
	for i := range list {
		if ok {
			list[i] = math.Float64frombits(binary.LittleEndian.Uint64(p.columns[c.At+8*i:]))
		}
	}
	return list, nil
}

// A Function has the values of a function: of samples in it, and of all samples with it on the stack.
type Function struct{ Flat, Cum int64 }

// Functions returns the values of all functions for a value of a kind, by name.
func (p *Page) Functions(kind string, value int) map[string]Function {
	table := "samples_" + kind
	nodes, values := p.Ints(table, "node", -1), p.Ints(table, fmt.Sprintf("value_%d", value), 0)
	parents, frames := p.Ints("nodes", "parent", -1), p.Ints("nodes", "frame", -1)
	functions, names := p.Ints("frames", "function", -1), p.Texts("functions", "name")
	all := map[string]Function{}
	for i, at := range nodes {
		seen := map[string]bool{}
		for leaf := true; at >= 0; at, leaf = parents[at], false {
			name := "(omitted)"
			if frames[at] >= 0 {
				name = names[functions[frames[at]]]
			}
			f := all[name]
			if leaf {
				f.Flat += values[i]
			}
			if !seen[name] {
				f.Cum += values[i]
			}
			seen[name], all[name] = true, f
		}
	}
	return all
}

// Total returns the sum of a value of a kind.
func (p *Page) Total(kind string, value int) (sum int64) {
	for _, v := range p.Ints("samples_"+kind, fmt.Sprintf("value_%d", value), 0) {
		sum += v
	}
	return sum
}
