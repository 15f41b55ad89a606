package firefox

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Collected columns of a thread, in the order in which they are written.
const (
	sampleStack = iota
	sampleTime
	sampleWeight
	sampleCPU
	markerData
	markerName
	markerStart
	markerEnd
	markerPhase
	markerCategory
	allocationTime
	allocationWeight
	allocationStack
	stackFrame
	stackPrefix
	frameCategory
	frameFunc
	frameLine
	frameColumn
	funcName
	funcResource
	funcFile
	funcLine
	resourceName
	numColumns
)

// A thread is an element of the profile's threads. It shows a thread of the trace, or a process with everything that
// concerns all of its threads. Each further sample type is a thread of its own, because a thread has one sample table.
type thread struct {
	track   *timeline.Track
	measure *timeline.Measure // nil unless this is the thread of a further sample type
	number  int64             // position among the threads
	columns [numColumns]*jsoncolumns.Column

	weight *timeline.Measure // measure of the samples; nil if there are none
	busy   int64             // total weight of samples that are not known to wait

	stacks    map[timeline.Node]uint32 // index in the stack table
	node      timeline.Node            // key of the latest lookup; the zero value is NoStack
	stack     uint32                   // its result
	frames    map[uint32]uint32
	funcs     map[function]uint32
	resources map[uint32]uint32 // index in the resource table, by name
}

// A function is a row of the function table.
type function struct {
	name     uint32 // index in the string table
	resource int64  // index in the resource table; -1 means none
	file     int64  // index in the string table; -1 means none
	line     int32
}

// newThread returns a thread whose columns have keys in the order of their constants.
func newThread(set *jsoncolumns.Set, t *timeline.Track, number int64) *thread {
	h := &thread{
		track: t, number: number, stacks: make(map[timeline.Node]uint32), frames: make(map[uint32]uint32), funcs: make(map[function]uint32),
		resources: make(map[uint32]uint32),
	}
	for i := range h.columns {
		h.columns[i] = set.Column(spool.Key{Time: number, Rank: int64(i)})
	}
	return h
}

// null adds null to a column.
func (h *thread) null(column int) { h.columns[column].Text("null") }

// millis adds a time or duration in milliseconds.
func (h *thread) millis(column int, nanos int64) {
	c := h.columns[column]
	c.End(appendMillis(c.Begin(), nanos))
}

// addStack adds the stack table index of a node, or null for NoStack.
func (e *encoder) addStack(h *thread, column int, n timeline.Node) {
	if n == timeline.NoStack {
		h.null(column)
		return
	}
	h.columns[column].Int(int64(e.stackOf(h, n)))
}

// stackOf returns the index of a node in the thread's stack table, and adds rows for the node and its callers if
// necessary. Callers have smaller indexes than their callees.
func (e *encoder) stackOf(h *thread, n timeline.Node) uint32 {
	if n == h.node {
		return h.stack
	}
	index, ok := h.stacks[n]
	if !ok {
		e.path = e.path[:0]
		for at := n; at != timeline.NoStack; {
			if index, ok = h.stacks[at]; ok {
				break
			}
			e.path = append(e.path, at)
			at, _ = e.trace.Node(at)
		}
		for i := len(e.path) - 1; i >= 0; i-- {
			_, frame := e.trace.Node(e.path[i])
			h.columns[stackFrame].Int(int64(e.frameOf(h, frame)))
			if ok {
				h.columns[stackPrefix].Int(int64(index))
			} else {
				h.null(stackPrefix)
			}
			index, ok = uint32(len(h.stacks)), true
			h.stacks[e.path[i]] = index
		}
	}
	h.node, h.stack = n, index
	return index
}

// noFunction is the name of frames without a function. exporters/chrome uses the same name.
const noFunction = "(unknown)"

// frameOf returns the index of a frame in the thread's frame table, and adds a row if necessary.
func (e *encoder) frameOf(h *thread, frame uint32) uint32 {
	index, ok := h.frames[frame]
	if ok {
		return index
	}
	f := e.trace.Frame(frame)
	fn := f.Func
	if fn == nil {
		fn = &ntconv.Function{Name: noFunction}
	}
	key := function{name: e.strings.id(fn.Name), resource: -1, file: -1, line: fn.StartLine}
	if f.Mapping != nil && f.Mapping.File != "" {
		key.resource = int64(e.resourceOf(h, baseName(f.Mapping.File)))
	}
	if fn.File != "" {
		key.file = int64(e.strings.id(fn.File))
	}
	h.columns[frameCategory].Int(int64(categoryOf(&f)))
	h.columns[frameFunc].Int(int64(e.funcOf(h, key)))
	h.positive(frameLine, f.Line)
	h.positive(frameColumn, f.Column)
	index = uint32(len(h.frames))
	h.frames[frame] = index
	return index
}

// positive adds a number, or null if it is not positive.
func (h *thread) positive(column int, n int32) {
	if n > 0 {
		h.columns[column].Int(int64(n))
	} else {
		h.null(column)
	}
}

// funcOf returns the index of a function in the thread's function table, and adds a row if necessary.
func (e *encoder) funcOf(h *thread, key function) uint32 {
	index, ok := h.funcs[key]
	if ok {
		return index
	}
	h.columns[funcName].Int(int64(key.name))
	h.columns[funcResource].Int(key.resource)
	if key.file >= 0 {
		h.columns[funcFile].Int(key.file)
	} else {
		h.null(funcFile)
	}
	h.positive(funcLine, key.line)
	index = uint32(len(h.funcs))
	h.funcs[key] = index
	return index
}

// resourceOf returns the index of a library in the thread's resource table, and adds a row if necessary.
func (e *encoder) resourceOf(h *thread, name string) uint32 {
	id := e.strings.id(name)
	index, ok := h.resources[id]
	if !ok {
		h.columns[resourceName].Int(int64(id))
		index = uint32(len(h.resources))
		h.resources[id] = index
	}
	return index
}

// A stringTable assigns indexes to the strings of the file, which all threads share.
type stringTable struct {
	ids  map[string]uint32
	list []string
}

func (t *stringTable) id(s string) uint32 {
	id, ok := t.ids[s]
	if !ok {
		if t.ids == nil {
			t.ids = make(map[string]uint32)
		}
		id = uint32(len(t.list))
		t.ids[s] = id
		t.list = append(t.list, s)
	}
	return id
}

func (t *stringTable) write(w *jsoncolumns.Writer) {
	w.Text("[")
	for i, s := range t.list {
		if i > 0 {
			w.Text(",")
		}
		w.String(s)
	}
	w.Text("]")
}
