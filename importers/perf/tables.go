package perf

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/events/owner"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

// tables are the distinct frames, threads and sample types of a text.
type tables struct {
	numbers   map[frameKey]uint32
	keys      []frameKey // by number
	frames    []ntconv.Frame
	mappings  map[string]*ntconv.Mapping
	functions map[ntconv.Function]*ntconv.Function
	columns   map[string]*column // by the name of the event
	threads   map[threadKey]uint32
	process   map[uint64]*ntconv.Process
}

type frameKey struct {
	symbol, file, source string // source is the file of a line number
	line                 int32
	flags                ntconv.FrameFlags
}

type threadKey struct {
	pid, tid uint64
	comm     string
}

func newTables() tables {
	return tables{
		numbers: map[frameKey]uint32{}, mappings: map[string]*ntconv.Mapping{}, functions: map[ntconv.Function]*ntconv.Function{}, columns: map[string]*column{},
		threads: map[threadKey]uint32{}, process: map[uint64]*ntconv.Process{},
	}
}

// toValid replaces invalid UTF-8, which names of threads may have.
func toValid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// frameBytes is the memory of a frame without its names, in bytes.
const frameBytes = 400

// frameOf returns the number of a frame, and the memory in bytes that it adds.
func (t *tables) frameOf(f *frameLine) (n uint32, size int64) {
	k := frameKey{file: toValid(string(f.file))}
	if f.inlined {
		k.flags |= ntconv.FrameInlined
	}
	if isKernel(f) {
		k.flags |= ntconv.FrameKernel
	}
	switch {
	case len(f.symbol) > 0 && string(f.symbol) != unknown:
		k.symbol = toValid(string(f.symbol))
	case k.file == "" || k.file == unknown:
		k.symbol, k.flags = fmt.Sprintf("0x%x", f.address), k.flags|ntconv.FrameUnresolved
	default: // perf script writes addresses in files as offsets, and addresses in generated code as they are
		k.symbol, k.flags = fmt.Sprintf("%s+0x%x", path.Base(k.file), f.address), k.flags|ntconv.FrameUnresolved
	}
	if k.file == unknown {
		k.file = ""
	}
	return t.number(k)
}

// isKernel reports whether a frame is of the kernel: addresses of the upper half belong to it on all systems that perf
// supports.
func isKernel(f *frameLine) bool {
	return f.address >= 1<<63 || bytes.HasPrefix(f.file, []byte("[kernel")) || bytes.HasPrefix(f.file, []byte("[guest.kernel"))
}

func (t *tables) number(k frameKey) (n uint32, size int64) {
	if n, ok := t.numbers[k]; ok {
		return n, 0
	}
	n = uint32(len(t.keys))
	t.numbers[k], t.keys = n, append(t.keys, k)
	f := ntconv.Frame{Line: k.line, Flags: k.flags}
	fn, file := ntconv.Function{Name: k.symbol, File: k.source}, k.file
	if sym, ok := dotnet.ParseSymbol(k.symbol); ok && k.flags&ntconv.FrameUnresolved == 0 {
		fn.Name, fn.SystemName = dotnet.FunctionNames(sym.Pretty(), sym.Raw(), sym.Module)
		file, f.Flags = sym.Module, f.Flags|ntconv.FrameManaged
	}
	f.Func = t.function(fn)
	if file != "" {
		f.Mapping = t.mappings[file]
		if f.Mapping == nil {
			f.Mapping = &ntconv.Mapping{File: file, Flags: ntconv.MappingHasFunctions}
			t.mappings[file] = f.Mapping
		}
	}
	t.frames = append(t.frames, f)
	return n, frameBytes + int64(2*len(k.symbol)+len(k.file)+len(k.source))
}

// function returns the unique function that equals f: the code of a .NET method has a symbol per tier.
func (t *tables) function(f ntconv.Function) *ntconv.Function {
	known := t.functions[f]
	if known == nil {
		known = &f
		t.functions[f] = known
	}
	return known
}

// atLine returns the number of the frame n at the position FILE:LINE of perf script -F +srcline, and the memory in bytes
// that it adds. ok is false if text is not a position.
func (t *tables) atLine(n uint32, text []byte) (at uint32, size int64, ok bool) {
	colon := bytes.LastIndexByte(text, ':')
	if colon <= 0 {
		return n, 0, false
	}
	line, err := strconv.ParseInt(string(text[colon+1:]), 10, 32)
	if err != nil || line < 0 {
		return n, 0, false
	}
	k := t.keys[n]
	if k.source != "" {
		return n, 0, true
	}
	k.source, k.line = toValid(string(text[:colon])), int32(line)
	at, size = t.number(k)
	return at, size, true
}

// frame returns the frame with a number.
func (t *tables) frame(n uint32) ntconv.Frame { return t.frames[n] }

// columnBytes is the memory of a column without its name, in bytes. Several names that are not UTF-8 may share a sample
// type, so the limit on sample types does not bound their number.
const columnBytes = 200

// A column is the sample type of an event.
type column struct {
	sample.Type
	number int // of the Builder
	events int
}

// column returns the sample type of an event. Its first occurrence decides the unit.
func (t *tables) column(b *imported.Builder, h *header) (*column, error) {
	if c := t.columns[string(h.event)]; c != nil {
		return c, nil
	}
	c := &column{Type: sample.Type{Type: toValid(string(h.event)), Unit: "count"}}
	if c.Type.Type == "" {
		c.Type.Type = "samples"
	}
	name, _, _ := strings.Cut(c.Type.Type, ":")
	if h.hasPeriod && (name == "cpu-clock" || name == "task-clock") {
		c.Unit = "nanoseconds"
	}
	t.columns[string(h.event)] = c
	var err error
	if c.number, err = b.Column(c.Type); err != nil {
		return nil, err
	}
	return c, b.Charge(columnBytes + int64(len(h.event)))
}

// mainEvent returns the name of the sample type with the most events, and the earlier one of equals.
func (t *tables) mainEvent() string {
	var main *column
	for _, c := range t.columns {
		if main == nil || c.events > main.events || c.events == main.events && c.number < main.number {
			main = c
		}
	}
	if main == nil {
		return ""
	}
	return main.Type.Type
}

// thread returns the number of the thread of an event.
func (t *tables) thread(b *imported.Builder, h *header) (uint32, error) {
	if n, ok := t.threads[threadKey{h.pid, h.tid, string(h.comm)}]; ok { // a key in place is not allocated
		return n, nil
	}
	k := threadKey{h.pid, h.tid, string(h.comm)}
	name := toValid(k.comm)
	p := t.process[h.pid]
	switch {
	case p == nil:
		p = owner.Process(h.pid, name)
		t.process[h.pid] = p
	case h.pid == h.tid && name != "": // the main thread names the process, and exec changes its name
		p.Name = name
	}
	n, err := b.AddThread(&ntconv.Thread{TID: h.tid, Name: name, Process: p}, nil)
	if err != nil {
		return 0, err
	}
	t.threads[k] = n
	return n, b.Charge(int64(len(k.comm)))
}

// label sets the labels of all threads, once the names of the processes are known.
func (t *tables) label(b *imported.Builder) {
	for k, n := range t.threads {
		name := owner.Name{Process: t.process[k.pid].Name, Thread: toValid(k.comm), PID: int64(k.pid), TID: int64(k.tid)}
		b.SetLabels(n, name.Labels())
	}
}
