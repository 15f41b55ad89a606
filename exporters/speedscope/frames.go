package speedscope

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A frameTable numbers the frames of the file. Frames that speedscope displays alike share a number.
type frameTable struct {
	trace  timeline.Trace
	number []uint32 // number plus 1, by frame of the timeline; 0 means not assigned yet
	known  map[frameKey]uint32
	list   []frameKey
}

// A frameKey holds what speedscope displays of a frame. Frames that represent slices have a name and a category only.
type frameKey struct {
	name, file, category string
	line, column         int32
}

func newFrameTable(t timeline.Trace) frameTable {
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

// unitOf returns speedscope's unit for a measure. Times keep their unit.
func unitOf(m *timeline.Measure) string {
	switch m.Dimension {
	case timeline.Time:
		return map[int64]string{1: "nanoseconds", 1e3: "microseconds", 1e6: "milliseconds", 1e9: "seconds"}[m.Scale]
	case timeline.Memory:
		return "bytes"
	}
	return "none"
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
