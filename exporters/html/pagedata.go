package html

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math"
)

// The format of page data, which docs/html.md specifies: the magic number, the length of the header, the header in JSON
// and the columns, and in a block of its own the rest of the strings and columns. This file is the only place of the
// encoding; pagetables.go has the tables.
const (
	pageMagic   = "ntcpage1"
	pageVersion = 1
)

// Types of columns.
const (
	typeInt   = "int"   // zigzag varints
	typeDelta = "delta" // zigzag varints of the differences to the row before
	typeFloat = "float" // 8 bytes, little-endian
)

// pageHeader is the header without what pageWriter adds.
type pageHeader struct {
	generator   string
	events      int64
	can, cannot []Answer
	whole       bool // without a rest
}

// headerJSON is the header in JSON.
type headerJSON struct {
	Version   int                   `json:"version"`
	Generator string                `json:"generator"`
	Strings   []string              `json:"strings"`
	Trace     traceJSON             `json:"trace"`
	Kinds     []kindJSON            `json:"kinds"`
	Series    []seriesJSON          `json:"series"`
	Tables    map[string]*tableJSON `json:"tables"`
}

type traceJSON struct {
	Name       string   `json:"name"`
	Format     string   `json:"format"`
	Program    string   `json:"program"`
	Command    string   `json:"command"`
	Runtime    string   `json:"runtime"`
	Machine    string   `json:"machine"`
	Start      string   `json:"start"`
	StartNanos string   `json:"start_ns"`
	Duration   int64    `json:"duration_ns"`
	Events     int64    `json:"events"`
	Lost       int64    `json:"lost"`
	Incomplete bool     `json:"incomplete"`
	Links      string   `json:"links"` // how samples are linked to spans, a phrase
	Notes      []string `json:"notes"`
	Can        []Answer `json:"can"`
	Cannot     []Answer `json:"cannot"`
}

type kindJSON struct {
	Name      string      `json:"name"`
	Doc       string      `json:"doc"`
	One       string      `json:"one"`
	Many      string      `json:"many"`
	Bin       int64       `json:"bin_ns"`
	Values    []valueJSON `json:"values"`
	Main      int         `json:"main"`
	Estimated bool        `json:"estimated"`
	Long      int64       `json:"long_ns,omitempty"` // samples that last longer count for a gap
}

type valueJSON struct {
	Type  string  `json:"type"`
	Unit  string  `json:"unit"`
	Error float64 `json:"error,omitempty"` // standard error of the total as a fraction of it
}

type seriesJSON struct {
	Process   int32  `json:"process"`
	Provider  string `json:"provider"`
	Name      string `json:"name"`
	Title     string `json:"title"`
	Unit      string `json:"unit"`
	Kind      string `json:"kind"`
	Statistic string `json:"statistic"`
	Tags      string `json:"tags"`
}

type tableJSON struct {
	Rows    int                    `json:"rows"`
	Columns map[string]*columnJSON `json:"columns"`
}

type columnJSON struct {
	At     int    `json:"at"`
	Length int    `json:"length"`
	Type   string `json:"type"`
}

// A pageWriter collects strings and columns.
type pageWriter struct {
	header  headerJSON
	strings texts
	columns []byte
	first   cut // what the first picture needs; the rest is in a block of its own
	part    part
	sizes   [parts]int // bytes of the columns and the new strings of each part
}

// A cut is a place in page data: numbers of strings and of bytes of columns.
type cut struct{ strings, columns int }

// cut ends what the first picture needs.
func (w *pageWriter) cut() { w.first = cut{len(w.strings.list), len(w.columns)} }

// A part is a part of page data that can be reduced.
type part uint8

const (
	partOwners part = iota
	partTree
	partSamples
	partActivities
	partSeries
	parts
)

// measure begins a part of page data.
func (w *pageWriter) measure(p part) {
	size := len(w.columns) + w.strings.bytes + 3*len(w.strings.list) // quotes and a comma
	w.sizes[w.part] += size
	w.part = p
	w.sizes[p] -= size
}

// A pageTable writes the columns of one table. A column whose values all are the value of an absent column is omitted.
type pageTable struct {
	w    *pageWriter
	info *tableJSON
}

// table begins a table.
func (w *pageWriter) table(name string, rows int) pageTable {
	t := pageTable{w, &tableJSON{Rows: rows, Columns: map[string]*columnJSON{}}}
	w.header.Tables[name] = t.info
	return t
}

// ints writes a column of numbers. absent is the value of an absent column.
func (t pageTable) ints(name string, absent int64, value func(row int) int64) {
	t.column(name, typeInt, func() (plain bool) {
		plain = true
		for i := range t.info.Rows {
			v := value(i)
			plain = plain && v == absent
			t.w.columns = binary.AppendVarint(t.w.columns, v)
		}
		return plain
	})
}

// refs writes a column of row indexes; absent references are -1.
func (t pageTable) refs(name string, value func(row int) int32) {
	t.ints(name, -1, func(i int) int64 { return int64(value(i)) })
}

// texts writes a column of strings.
func (t pageTable) texts(name string, value func(row int) string) {
	t.ints(name, 0, func(i int) int64 { return int64(t.w.strings.id(value(i))) })
}

// flags writes a column of 0 and 1.
func (t pageTable) flags(name string, value func(row int) bool) {
	t.ints(name, 0, func(i int) int64 {
		if value(i) {
			return 1
		}
		return 0
	})
}

// deltas writes a column of numbers that grow slowly.
func (t pageTable) deltas(name string, value func(row int) int64) {
	t.column(name, typeDelta, func() bool {
		last := int64(0)
		for i := range t.info.Rows {
			v := value(i)
			t.w.columns = binary.AppendVarint(t.w.columns, v-last)
			last = v
		}
		return t.info.Rows == 0
	})
}

// floats writes a column of floating-point numbers.
func (t pageTable) floats(name string, value func(row int) float64) {
	t.column(name, typeFloat, func() bool {
		for i := range t.info.Rows {
			t.w.columns = binary.LittleEndian.AppendUint64(t.w.columns, math.Float64bits(value(i)))
		}
		return t.info.Rows == 0
	})
}

// column adds a column that write appends. If write returns true, the column is omitted.
func (t pageTable) column(name, kind string, write func() (omit bool)) {
	at := len(t.w.columns)
	if write() {
		t.w.columns = t.w.columns[:at]
		return
	}
	t.info.Columns[name] = &columnJSON{At: at, Length: len(t.w.columns) - at, Type: kind}
}

// blocks returns the page data, compressed: what the first picture needs and the rest, or all in one block. It is the same for
// equal contents.
func (w *pageWriter) blocks(whole bool) ([]block, error) {
	if whole {
		w.cut()
	}
	strings := w.strings.list
	if len(strings) == 0 {
		strings = []string{""}
	}
	first := max(1, w.first.strings) // the empty string is the first one
	w.header.Strings = strings[:first]
	data, err := piece(pageMagic, &w.header, w.columns[:w.first.columns])
	if err != nil || whole {
		return []block{{id: "data", data: data}}, err
	}
	rest, err := piece("", strings[first:], w.columns[w.first.columns:])
	return []block{{id: "data", data: data}, {id: "rest", data: rest, last: true}}, err
}

// piece returns a magic number, the length of a header, the header in JSON and columns, compressed.
func piece(magic string, header any, columns []byte) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // the page has the data as base64
	if err := e.Encode(header); err != nil {
		return nil, err
	}
	return compress(binary.LittleEndian.AppendUint32([]byte(magic), uint32(text.Len())), text.Bytes(), columns)
}

// compress returns the concatenated parts, compressed with gzip.
func compress(parts ...[]byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, b := range parts {
		if _, err := z.Write(b); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
