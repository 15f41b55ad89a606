package html

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/profile/grouping"
	"github.com/ntconv/ntconv/internal/tables"
)

const (
	maxNodes  = 1 << 21 // nodes of the tree of all stacks
	maxFrames = 1 << 20 // frames; further ones are one frame
)

// A tree is the prefix tree of stacks, outermost frame first. Parents precede their children.
type tree struct {
	nodes    []node
	children map[node]int32
	leaves   map[int64]int32 // innermost node by stack_id; -1 before the stack is added, and for stacks without frames
	cut      int64           // stacks whose innermost frames are left out
}

// A node is a frame with the path to it. Roots have the parent -1. frame is -1 for a node that represents omitted frames.
type node struct{ parent, frame int32 }

func newTree() *tree { return &tree{children: make(map[node]int32)} }

// want states the stacks to keep, by stack_id. Call it before the first row of stacks.
func (t *tree) want(ids map[int64]int32) { t.leaves = ids }

// addStack adds a row of the table stacks if it is wanted.
func (t *tree) addStack(row *tables.Stack) {
	if _, ok := t.leaves[row.StackID]; !ok {
		return
	}
	at := int32(-1)
	for i := len(row.Frames) - 1; i >= 0; i-- {
		next, ok := t.child(at, row.Frames[i])
		if !ok {
			next, _ = t.child(at, -1)
			t.cut++
			at = next
			break
		}
		at = next
	}
	t.leaves[row.StackID] = at
}

// child returns the child of a node with a frame, and false if the tree would have too many nodes. Nodes for omitted
// frames are always added: there is at most one for each other node.
func (t *tree) child(parent, frame int32) (at int32, ok bool) {
	key := node{parent, frame}
	if at, ok := t.children[key]; ok {
		return at, true
	}
	if len(t.nodes) >= maxNodes && frame >= 0 {
		return 0, false
	}
	at = int32(len(t.nodes))
	t.nodes = append(t.nodes, key)
	t.children[key] = at
	return at, true
}

// renumber replaces the frames of nodes by other numbers, and merges children that have equal frames then.
func (t *tree) renumber(frame func(int32) int32) {
	merged, to := newTree(), make([]int32, len(t.nodes))
	for i, n := range t.nodes {
		if n.parent >= 0 {
			n.parent = to[n.parent]
		}
		if n.frame >= 0 {
			n.frame = frame(n.frame)
		}
		at, ok := merged.children[n]
		if !ok {
			at = int32(len(merged.nodes))
			merged.nodes = append(merged.nodes, n)
			merged.children[n] = at
		}
		to[i] = at
	}
	for id, leaf := range t.leaves {
		if leaf >= 0 {
			t.leaves[id] = to[leaf]
		}
	}
	t.nodes, t.children = merged.nodes, nil
}

// frames holds the frames of stacks. A frame of the page may be several rows of the table frames, which differ in their
// addresses or processes.
type frames struct {
	texts   texts
	rows    []frameRow // by frame_id - 1, before finish
	further int64      // rows beyond maxFrames

	ids       map[frame]int32 // after finish
	list      []frame
	functions []function
	byName    map[uint32]int32 // functions by name
}

// A frameRow is a row of the table frames. Strings are numbers in frames.texts.
type frameRow struct {
	frame
	system   uint32
	moduleID int32
	flags    ntconv.FrameFlags
	wait     bool
}

// A frame is a frame on the page.
type frame struct {
	name, module, file uint32
	line               int32
	kind               frameKind
	mine, waits        bool
	pool               dotnet.PoolRole
	function           int32 // index in frames.functions
}

// A function is what ntconv top lists: the frames of one name.
type function struct{ name, module uint32 }

// frameKind is the kind of a frame, as page data numbers it.
type frameKind uint8

const (
	kindManaged frameKind = iota
	kindNative
	kindKernel
	kindLabel
	kindUnresolved
)

var frameKinds = map[string]frameKind{
	tables.FrameManaged: kindManaged, tables.FrameNative: kindNative, tables.FrameKernel: kindKernel, tables.FrameLabel: kindLabel,
	tables.FrameUnresolved: kindUnresolved,
}

// addFrame adds a row of the table frames. Rows come in the order of frame_id, without gaps.
func (f *frames) addFrame(row *tables.Frame) {
	if len(f.rows) >= maxFrames {
		f.further++
		return
	}
	r := frameRow{
		frame: frame{
			name: f.texts.id(row.Name), module: f.texts.id(row.Module), file: f.texts.id(row.File), line: row.Line,
			kind: frameKinds[row.Kind],
		},
		system: f.texts.id(row.SystemName), moduleID: row.ModuleID, flags: ntconv.FrameFlags(row.Flags),
	}
	switch r.kind {
	case kindManaged:
		parts := dotnet.Parts{Namespace: row.Namespace, Type: row.TypeName, Method: row.MethodName}
		r.wait, r.pool = dotnet.IsWait(parts), dotnet.PoolRoleOf(parts)
	case kindNative, kindKernel:
		r.wait = dotnet.IsNativeWait(row.Name)
	}
	f.rows = append(f.rows, r)
}

// page returns the frame of the page for a frame_id. path returns the path of a module.
func (f *frames) page(id int32, path func(moduleID int32) string) int32 {
	if f.ids == nil {
		f.ids, f.byName = make(map[frame]int32), make(map[uint32]int32)
	}
	p := frame{name: f.texts.id("(further frames)"), kind: kindUnresolved}
	if i := int(id) - 1; i >= 0 && i < len(f.rows) {
		r := &f.rows[i]
		p = r.frame
		p.waits, p.mine = r.wait, f.isProgram(r, path)
		if p.name == 0 {
			p.name = f.texts.id(message.Unnamed(f.texts.at(p.module)))
		}
	}
	p.function = f.function(p.name, p.module)
	n, ok := f.ids[p]
	if !ok {
		n = int32(len(f.list))
		f.ids[p] = n
		f.list = append(f.list, p)
	}
	return n
}

// isProgram reports whether a frame is code of the program.
func (f *frames) isProgram(r *frameRow, path func(moduleID int32) string) bool {
	recorded := ntconv.Frame{Flags: r.flags}
	name := f.texts.at(r.name)
	if name != "" {
		system := name
		if r.system != 0 {
			system = f.texts.at(r.system)
		}
		recorded.Func = &ntconv.Function{Name: name, SystemName: system}
	}
	if r.moduleID != 0 {
		recorded.Mapping = &ntconv.Mapping{File: path(r.moduleID)}
	}
	return grouping.IsProgram(&recorded)
}

// function returns the index of the function with a name. Its module is that of the first frame.
func (f *frames) function(name, module uint32) int32 {
	n, ok := f.byName[name]
	if !ok {
		n = int32(len(f.functions))
		f.byName[name] = n
		f.functions = append(f.functions, function{name, module})
	}
	return n
}
