package firefox

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// write writes the thread as an element of threads. Columns must be written in the order of their constants, because
// the spool delivers them in that order.
func (h *thread) write(w *jsoncolumns.Writer) {
	process := h.track.Process
	name, processName := h.name(), ""
	if process != nil {
		processName = process.Name
	}
	w.Text(
		`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[]`,
	)
	w.Text(`,"showMarkersInTimeline":true,"processName":`)
	w.String(processName)
	w.Text(`,"name":`)
	w.String(name)
	w.Text(`,"isMainThread":` + strconv.FormatBool(h.isProcess()))
	w.Text(`,"pid":"` + pidOf(h.track) + `","tid":`)
	w.Int(int64(h.track.TID))
	h.writeSamples(w)
	h.writeMarkers(w)
	if h.columns[allocationTime].Len > 0 {
		h.table(w, "nativeAllocations", h.columns[allocationTime].Len, `"weightType":"bytes",`,
			[]member{{"time", allocationTime}, {"weight", allocationWeight}, {"stack", allocationStack}})
	}
	h.writeStacks(w)
	w.Text("}")
}

// isProcess reports whether the thread shows its process: tracks that belong to no single thread.
func (h *thread) isProcess() bool { return h.track.Kind != timeline.ThreadTrack && h.measure == nil }

// name returns the name of the thread.
func (h *thread) name() string {
	name := h.track.Name
	if h.track.Kind != timeline.ThreadTrack && h.track.Process != nil {
		name = h.track.Process.Name
	}
	switch {
	case name != "":
	case h.track.Kind == timeline.ThreadTrack:
		name = "thread " + strconv.FormatUint(uint64(h.track.TID), 10)
	default:
		name = "process " + pidOf(h.track)
	}
	if h.measure != nil {
		name += ": " + h.measure.Type.Type
	}
	return name
}

// A member is a column and its name in the file.
type member struct {
	name   string
	column int
}

// table writes a member whose value is an object of columns. The columns must be in the order of their constants; more
// is JSON text that precedes them.
func (h *thread) table(w *jsoncolumns.Writer, name string, length int, more string, columns []member) {
	w.Text(",\n\"" + name + `":{"length":` + strconv.Itoa(length) + `,` + more)
	for i, m := range columns {
		if i > 0 {
			w.Text(",")
		}
		w.Text(`"` + m.name + `":`)
		w.Column(h.columns[m.column])
	}
	w.Text("}")
}

func (h *thread) writeSamples(w *jsoncolumns.Writer) {
	if h.weight == nil {
		w.Text(",\n\"samples\":{\"length\":0,\"weightType\":\"samples\",\"weight\":null,\"stack\":[],\"time\":[]}")
		return
	}
	columns := []member{{"stack", sampleStack}, {"time", sampleTime}, {"weight", sampleWeight}}
	if h.weight.Kind == sample.CPU {
		columns = append(columns, member{"threadCPUDelta", sampleCPU})
	}
	h.table(w, "samples", h.columns[sampleTime].Len, `"weightType":"`+weightTypes[h.weight.Dimension]+`",`, columns)
}

func (h *thread) writeMarkers(w *jsoncolumns.Writer) {
	h.table(w, "markers", h.columns[markerName].Len, "", []member{
		{"data", markerData}, {"name", markerName}, {"startTime", markerStart}, {"endTime", markerEnd},
		{"phase", markerPhase}, {"category", markerCategory},
	})
}

// writeStacks writes the tables of stacks, frames, functions and resources.
func (h *thread) writeStacks(w *jsoncolumns.Writer) {
	h.table(w, "stackTable", len(h.stacks), "", []member{{"frame", stackFrame}, {"prefix", stackPrefix}})
	n := len(h.frames)
	h.table(w, "frameTable", n, constants(n, "address", "-1", "inlineDepth", "0", "subcategory", "0", "nativeSymbol", "null",
		"innerWindowID", "0"),
		[]member{{"category", frameCategory}, {"func", frameFunc}, {"line", frameLine}, {"column", frameColumn}})
	n = len(h.funcs)
	h.table(w, "funcTable", n, constants(n, "isJS", "false", "relevantForJS", "false", "columnNumber", "null"),
		[]member{{"name", funcName}, {"resource", funcResource}, {"fileName", funcFile}, {"lineNumber", funcLine}})
	n = len(h.resources)
	h.table(w, "resourceTable", n, constants(n, "lib", "null", "host", "null", "type", "1"), []member{{"name", resourceName}})
	w.Text(`,"nativeSymbols":{"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]}`)
}

// constants returns members with n equal elements, each with a comma. pairs are their names and the elements.
func constants(n int, pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		list := strings.Repeat(pairs[i+1]+",", n)
		b.WriteString(`"` + pairs[i] + `":[` + strings.TrimSuffix(list, ",") + `],`)
	}
	return b.String()
}
