package firefox

import (
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// tables holds the tables that describe stacks: those of a thread, or since version 60 those that all threads share.
// Strings are shared since version 56. A thread uses the shared tables for everything that it lacks.
type tables struct {
	stringArray []string // nil if the thread uses the shared strings
	hasStrings  bool
	stacks      int
	base        imported.Node // node of stack 0
	hasStacks   bool
	frameBase   uint32 // number of frame 0 among the frames of all tables

	frames    frameTable
	funcs     funcTable
	resources resourceTable
	sources   []int32            // file names, as string indexes
	functions []*ntconv.Function // cache of File.function by index

	libs    []lib             // before version 41; nil: those of the file
	isGecko bool              // the names of functions are locations
	mapped  []*ntconv.Mapping // of the functions of a Gecko profile
}

// A frameTable holds the columns of a frame table that are read. Absent columns are empty.
type frameTable struct {
	table
	fn, line, column, depth, category, lib, flags []int32
	location                                      []int32 // of Gecko profiles, in place of fn
}

// Bits of the column flags of frameTable, since version 71. If a bit is not set, the cell of its column is invalid.
const (
	frameInlined  = 1
	frameCategory = 4
	frameLine     = 16
	frameColumn   = 32
)

// A funcTable holds the columns of a function table that are read. Absent columns are empty.
type funcTable struct {
	table
	name, isJS, resource, file, source, line, flags []int32
}

// Bits of the column flags of funcTable, since version 75.
const (
	funcIsJS     = 1
	funcResource = 4
	funcSource   = 8
	funcLine     = 16
)

// A resourceTable holds the columns of a resource table that are read. Absent columns are empty.
type resourceTable struct {
	table
	name, lib, kind []int32
}

// kindLibrary is the type of resources that are libraries. Others are URLs of web pages.
const kindLibrary = 1

// A lib is an element of the member libs: a program or a library.
type lib struct {
	path, buildID string
	name          string
	start, end    uint64 // addresses in Gecko profiles
}

// tableMembers are the table members of an object. threadMembers appends the other members of a thread.
var tableMembers = []string{"stringArray", "stringTable", "stackTable", "frameTable", "funcTable", "resourceTable", "sources"}

// stringBytes is the memory charged for a string in addition to its bytes.
const stringBytes = 32

// stackColumns holds the stack table until finishTables converts it to nodes, because the tables that it refers to may
// follow it.
type stackColumns struct {
	table
	frame, prefix, offset []int32
}

// readTables reads the member tableMembers[member].
func (f *file) readTables(t *tables, s *stackColumns, member int) (err error) {
	switch tableMembers[member] {
	case "stringArray", "stringTable":
		t.hasStrings = true
		return f.Array(func(int) error {
			text, err := f.String()
			t.stringArray = append(t.stringArray, text)
			return f.charged(err, stringBytes+len(text))
		})
	case "stackTable":
		t.hasStacks = true
		s.table, err = f.readTable([]column{{name: "frame", ints: &s.frame}, {name: "prefix", ints: &s.prefix}, {name: "prefixOffset", ints: &s.offset}})
	case "frameTable":
		c := &t.frames
		c.table, err = f.readTable([]column{
			{name: "func", ints: &c.fn}, {name: "line", ints: &c.line}, {name: "column", ints: &c.column}, {name: "inlineDepth", ints: &c.depth},
			{name: "category", ints: &c.category}, {name: "lib", ints: &c.lib}, {name: "flags", ints: &c.flags},
			{name: "location", ints: &c.location},
		})
	case "funcTable":
		c := &t.funcs
		c.table, err = f.readTable([]column{
			{name: "name", ints: &c.name}, {name: "isJS", bools: &c.isJS}, {name: "resource", ints: &c.resource}, {name: "fileName", ints: &c.file},
			{name: "source", ints: &c.source}, {name: "lineNumber", ints: &c.line}, {name: "flags", ints: &c.flags},
		})
	case "resourceTable":
		c := &t.resources
		c.table, err = f.readTable([]column{{name: "name", ints: &c.name, sparse: true}, {name: "lib", ints: &c.lib, sparse: true}, {name: "type", ints: &c.kind, sparse: true}})
	default:
		_, err = f.readTable([]column{{name: "filename", ints: &t.sources}})
	}
	return err
}

// finishTables adds the stacks as nodes. All tables of the object must have been read.
func (f *file) finishTables(t *tables, s *stackColumns) error {
	if len(t.frames.fn) != t.frames.rows {
		return f.Fail(t.frames.place, fmt.Errorf("%w: the table has no column func", ntconv.ErrCorrupt))
	}
	t.frameBase = f.names.add(t)
	t.stacks, t.base = s.rows, imported.Node(f.b.Nodes())
	if len(s.frame) != s.rows {
		return f.Fail(s.place, fmt.Errorf("%w: the table has no column frame", ntconv.ErrCorrupt))
	}
	for i, frame := range s.frame {
		caller, ok := s.caller(i)
		if !ok {
			return f.Fail(s.place, fmt.Errorf("%w: the prefix of stack %d is not an earlier stack", ntconv.ErrCorrupt, i))
		}
		if frame < 0 || int(frame) >= t.frames.rows {
			return f.Fail(s.place, fmt.Errorf("%w: stack %d has frame %d; frameTable has %d", ntconv.ErrCorrupt, i, frame, t.frames.rows))
		}
		node := imported.NoStack
		if caller >= 0 {
			node = t.base + imported.Node(caller)
		}
		if _, err := f.b.AddNode(node, t.frameBase+uint32(frame)); err != nil {
			return f.Fail(s.place, err)
		}
	}
	*s = stackColumns{table: table{bytes: s.bytes}}
	return f.charged(nil, -int(s.bytes))
}

// caller returns the stack that stack i extends, or -1 if it is an outermost stack. ok is false if the reference is
// invalid.
func (s *stackColumns) caller(i int) (caller int, ok bool) {
	switch {
	case len(s.prefix) > 0:
		caller = int(s.prefix[i])
		if caller == none || caller == -1 {
			return -1, true
		}
	case len(s.offset) > 0:
		if s.offset[i] == 0 {
			return -1, true
		}
		caller = i - int(s.offset[i])
	default:
		return 0, false
	}
	return caller, caller >= 0 && caller < i
}

// readShared reads the tables that all threads share. A file must not have both shared stacks and stacks of threads.
func (f *file) readShared() error {
	t, s := new(tables), new(stackColumns)
	err := f.Object(tableMembers, func(i int) error { return f.readTables(t, s, i) })
	if err != nil {
		return err
	}
	f.shared = t
	if t.hasStacks && f.ownTables {
		return f.mixed()
	}
	return f.finishTables(t, s)
}

func (f *file) mixed() error {
	return f.Corrupt("some threads have a stackTable, and others share one")
}

// readLibs appends the elements of a member libs to list.
func (f *file) readLibs(list *[]lib) error {
	return f.Array(func(int) error {
		var l lib
		var code, breakpad, symbols string
		err := f.Object([]string{"name", "path", "codeId", "breakpadId", "pdbName", "start", "end"}, func(i int) (err error) {
			switch i {
			case 5:
				l.start, err = f.address()
			case 6:
				l.end, err = f.address()
			default:
				*[]*string{&l.name, &l.path, &code, &breakpad, &symbols}[i], err = f.String()
			}
			return err
		})
		if l.path == "" {
			l.path = l.name
		}
		if l.buildID = code; code == "" {
			l.buildID = breakpad
		}
		*list = append(*list, l)
		return f.charged(err, stringBytes+len(l.path)+len(l.buildID)+len(l.name)+32)
	})
}

// names holds the tables of all threads, and the functions and mappings that were built from them.
type names struct { // in the order of frameBase
	list      []*tables // number of frames of all tables
	frames    uint32    // of all of them
	functions map[function]*ntconv.Function
	mappings  map[lib]*ntconv.Mapping
}

// A function is the identity of a function.
type function struct {
	name, file string
	line       int32
}

func newNames() names {
	return names{functions: map[function]*ntconv.Function{}, mappings: map[lib]*ntconv.Mapping{}}
}

// add adds tables and returns the number of their first frame.
func (n *names) add(t *tables) uint32 {
	first := n.frames
	if t.frames.rows > 0 {
		n.list = append(n.list, t)
		n.frames += uint32(t.frames.rows)
	}
	return first
}

// stringsOf returns the strings that t refers to.
func (f *file) stringsOf(t *tables) []string {
	if t.hasStrings || f.shared == nil {
		return t.stringArray
	}
	return f.shared.stringArray
}

// sourcesOf returns the file names to which the column source of t refers.
func (f *file) sourcesOf(t *tables) []int32 {
	if t.sources != nil || f.shared == nil {
		return t.sources
	}
	return f.shared.sources
}

// checkNames validates all references from frames to functions, resources and strings.
func (f *file) checkNames() error {
	for _, t := range f.names.list {
		stringArray := len(f.stringsOf(t))
		for _, c := range []struct {
			table  *table
			name   string
			column []int32
			limit  int
		}{
			{&t.frames.table, "frameTable.func", t.frames.fn, t.funcs.rows},
			{&t.funcs.table, "funcTable.name", t.funcs.name, stringArray},
			{&t.funcs.table, "funcTable.fileName", t.funcs.file, stringArray},
			{&t.funcs.table, "funcTable.resource", t.funcs.resource, max(t.resources.rows, 1)}, // 0 may mean none
			{&t.funcs.table, "funcTable.source", t.funcs.source, max(len(f.sourcesOf(t)), 1)},
			{&t.resources.table, "resourceTable.name", t.resources.name, stringArray},
		} {
			required := c.name == "frameTable.func" || c.name == "funcTable.name"
			at := slices.IndexFunc(c.column, func(n int32) bool { return int(n) >= c.limit || n < 0 && required })
			if at >= 0 {
				return f.Fail(c.table.place, fmt.Errorf("%w: row %d of %s is %d; want less than %d", ntconv.ErrCorrupt, at, c.name, c.column[at], c.limit))
			}
		}
		if len(t.funcs.name) != t.funcs.rows {
			return f.Fail(t.funcs.place, fmt.Errorf("%w: the table has no column name", ntconv.ErrCorrupt))
		}
		for _, name := range f.sourcesOf(t) {
			if int(name) >= stringArray {
				return f.Fail(t.funcs.place, fmt.Errorf("%w: a name of a source is string %d of %d", ntconv.ErrCorrupt, name, stringArray))
			}
		}
	}
	return nil
}
