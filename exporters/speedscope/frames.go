package speedscope

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
)

// A frameTable numbers the frames of the file. Frames that speedscope displays alike share a number.
type frameTable struct {
	trace  trace
	number []uint32 // number plus 1, by frame of the timeline; 0 means not assigned yet
	known  map[frameKey]uint32
	list   []frameKey
}

// A frameKey holds what speedscope displays of a frame. Frames that represent slices have a name and a category only.
type frameKey struct {
	name, file, category string
	line, column         int32
}

func newFrameTable(t trace) frameTable {
	return frameTable{trace: t, number: make([]uint32, t.Frames()), known: make(map[frameKey]uint32)}
}

// noFunction is the name of frames without a function. exporters/chrome uses the same name.
const noFunction = "(unknown)"

// frame returns the number of a stack frame.
func (t *frameTable) frame(frame uint32) uint32 {
	if n := t.number[frame]; n != 0 {
		return n - 1
	}
	f := t.trace.Frame(frame)
	fn := f.Func
	if fn == nil {
		fn = &ntconv.Function{Name: noFunction}
	}
	key := frameKey{name: fn.Name, file: fn.File, line: f.Line, column: f.Column}
	switch {
	case key.line == 0:
		key.line, key.column = fn.StartLine, 0
	case key.column < 0:
		key.column = 0
	}
	if key.file == "" && f.Mapping != nil {
		key.file = f.Mapping.File
	}
	n := t.add(key)
	t.number[frame] = n + 1
	return n
}

// slice returns the number of the frame that represents slices with this name and category.
func (t *frameTable) slice(name, category string) uint32 {
	return t.add(frameKey{name: name, category: category})
}

func (t *frameTable) add(key frameKey) uint32 {
	n, ok := t.known[key]
	if !ok {
		n = uint32(len(t.list))
		t.known[key] = n
		t.list = append(t.list, key)
	}
	return n
}

// write writes the frames as a JSON array of objects.
func (t *frameTable) write(w *jsoncolumns.Writer) {
	w.Text("[")
	for i, f := range t.list {
		if i > 0 {
			w.Text(",")
		}
		w.Text(`{"name":`)
		w.String(f.name)
		if f.file != "" {
			w.Text(`,"file":`)
			w.String(f.file)
		}
		if f.line > 0 {
			w.Text(`,"line":`)
			w.Int(int64(f.line))
			if f.column > 0 {
				w.Text(`,"col":`)
				w.Int(int64(f.column))
			}
		}
		w.Text("}")
	}
	w.Text("]")
}

// unitOf returns speedscope's unit for the unit of a sample type, and the factor for the values.
func unitOf(unit string) (name string, scale int64) {
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "nanosecond", "n": // from "ns"
		return "nanoseconds", 1
	case "microsecond", "u", "µ", "μ": // the micro sign and the Greek letter
		return "microseconds", 1
	case "millisecond", "m":
		return "milliseconds", 1
	case "second", "":
		if unit != "" {
			return "seconds", 1
		}
	case "byte", "b":
		return "bytes", 1
	case "kilobyte", "kb", "kib":
		return "bytes", 1 << 10
	case "megabyte", "mb", "mib":
		return "bytes", 1 << 20
	case "gigabyte", "gb", "gib":
		return "bytes", 1 << 30
	}
	return "none", 1
}

// times returns value * scale, clamped to the maximum of int64. scale must be positive. A negative value is returned
// unchanged.
func times(value, scale int64) int64 {
	if scale == 1 || value < 0 {
		return value
	}
	if high, low := bits.Mul64(uint64(value), uint64(scale)); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
