package chrome

import (
	"bytes"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// names holds the distinct frames of a file.
type names struct {
	frames   []ntconv.Frame
	byKey    map[string]int32
	mappings map[string]*ntconv.Mapping
	nodes    int // nodes of all trees
	limit    int
	key      []byte
}

func newNames(limit int) *names {
	return &names{byKey: map[string]int32{}, mappings: map[string]*ntconv.Mapping{}, limit: limit}
}

// frame returns the index of a frame, and adds it if necessary. line and column are 0 if unknown.
func (n *names) frame(name, file, module []byte, line, column int32) int32 {
	n.key = append(append(n.key[:0], name...), 0)
	n.key = append(append(n.key, file...), 0)
	n.key = append(append(n.key, module...), 0)
	n.key = strconv.AppendInt(append(strconv.AppendInt(n.key, int64(line), 10), 0), int64(column), 10)
	if i, ok := n.byKey[string(n.key)]; ok {
		return i
	}
	f := ntconv.Frame{Func: &ntconv.Function{Name: string(name), File: string(file), StartLine: line}, Line: line, Column: column}
	if len(module) > 0 {
		if f.Mapping = n.mappings[string(module)]; f.Mapping == nil {
			f.Mapping = &ntconv.Mapping{File: string(module)}
			n.mappings[f.Mapping.File] = f.Mapping
		}
	}
	i := int32(len(n.frames))
	n.frames = append(n.frames, f)
	n.byKey[string(n.key)] = i
	return i
}

// A tree holds stacks as nodes that refer to their callers. IDs are those of the file.
type tree struct {
	names *names
	ids   map[string]int32
	nodes []node
}

// A node is a frame and its caller. Malformed files may contain cycles.
type node struct {
	parent int32 // index of the caller; -1 means none
	frame  int32 // index in names.frames, or one of the following
}

// Frames of nodes without a function.
const (
	undefinedFrame = -1 // the node is referenced, but not defined
	rootFrame      = -2 // the root, where stacks begin
	idleFrame      = -3 // the thread was idle
)

func (n *names) tree() *tree { return &tree{names: n, ids: map[string]int32{}} }

// node returns the index of the node with an ID. It adds an undefined node for a new ID, and returns an error if
// Limits.Names is exceeded.
func (t *tree) node(id []byte) (int32, error) {
	if i, ok := t.ids[string(id)]; ok {
		return i, nil
	}
	if t.names.nodes++; t.names.nodes > t.names.limit {
		return 0, errNamesLimit(t.names.limit)
	}
	i := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{-1, undefinedFrame})
	t.ids[string(id)] = i
	return i, nil
}

// stackFrame adds a member of stackFrames.
func (l *loader) stackFrame(id string, value []byte) error {
	i, err := l.frames.node([]byte(id))
	if err != nil {
		return err
	}
	name := unquoted(member(value, `"name"`))
	var module []byte
	if c := member(value, `"category"`); len(c) > 0 && c[0] == '"' {
		module = unquoted(c)
	}
	parent := int32(-1)
	if p := member(value, `"parent"`); !isNull(p) {
		if parent, err = l.frames.node(unquoted(p)); err != nil {
			return err
		}
	}
	l.frames.nodes[i] = node{parent, l.names.frame(name, nil, module, 0, 0)}
	return nil
}

// appendFrames appends the frames of a node and its callers, leaf first. cut is true if the stack exceeds the limit;
// this also ends a cycle of nodes.
func (t *tree) appendFrames(dst []ntconv.Frame, i int32, limit int) (frames []ntconv.Frame, cut bool) {
	for steps := 0; i >= 0; i = t.nodes[i].parent {
		f := t.nodes[i].frame
		if steps++; f >= 0 && len(dst) == limit || steps > 2*limit || steps > len(t.nodes) {
			return dst, true
		}
		if f >= 0 {
			dst = append(dst, t.names.frames[f])
		}
	}
	return dst, false
}

// A stackCache caches recent stacks. There is no stack per node, because a file has many nodes and each stack has a
// list of its frames.
type stackCache [1 << 12]struct {
	tree         *tree
	node         int32
	line, column int32
	stack        *ntconv.Stack
}

// stackOf returns the stack of a node, or nil if it has no frames. line and column are the position in the leaf, 0 if
// unknown.
func (l *loader) stackOf(t *tree, i, line, column int32) *ntconv.Stack {
	c := &l.cache[(uint32(i)^uint32(line)<<6)%uint32(len(l.cache))]
	if c.stack != nil && c.tree == t && c.node == i && c.line == line && c.column == column {
		return c.stack
	}
	frames, cut := t.appendFrames(nil, i, l.budget.Limit(l.o.Limits.Stack))
	l.budget.Add(len(frames))
	if cut {
		l.o.Report.Add(ntconv.CodeStackCut, 1, -1)
	}
	if len(frames) == 0 {
		return nil
	}
	if line > 0 {
		frames[0].Line, frames[0].Column = line, column
	}
	c.tree, c.node, c.line, c.column, c.stack = t, i, line, column, &ntconv.Stack{Frames: frames}
	return c.stack
}

// stack sets the stack of an event from its members sf and stack. A member that is not a stack is kept as an arg.
func (s *source) stack(e *chromeevent.Event, like *ntconv.Event) {
	if e.StackID != nil {
		i, ok := s.l.frames.ids[string(unquoted(e.StackID))]
		if ok && s.l.frames.nodes[i].frame != undefinedFrame {
			like.Stack = s.l.stackOf(s.l.frames, i, 0, 0)
		} else {
			s.o.Report.Note(ntconv.CodeUnknownStack, 1, like.Offset, "sf of events")
			addOther(e, `"sf":`, e.StackID)
		}
	}
	if e.StackNames != nil {
		stack := s.named(e.StackNames)
		if stack == nil || like.Stack != nil {
			addOther(e, `"stack":`, e.StackNames)
			return
		}
		like.Stack = stack
	}
}

// addOther adds a member to the members without a meaning.
func addOther(e *chromeevent.Event, name string, value []byte) {
	other := append([]byte(nil), e.Other...)
	if len(other) > 0 {
		other = append(other, ',')
	}
	e.Other = append(append(other, name...), value...)
}

// named returns the stack for a list of names, root first, or for a string with one name per line. It returns nil for
// other values.
func (s *source) named(value []byte) *ntconv.Stack {
	var list [][]byte
	if value[0] == '"' {
		for _, line := range bytes.Split(unquoted(value), []byte{'\n'}) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				list = append(list, line)
			}
		}
	}
	for v := range jsonio.EachElement(value) {
		if v[0] != '"' {
			return nil
		}
		list = append(list, unquoted(v))
	}
	if len(list) == 0 {
		return nil
	}
	if limit := s.o.Limits.Stack; len(list) > limit {
		list = list[len(list)-limit:]
		s.o.Report.Add(ntconv.CodeStackCut, 1, -1)
	}
	frames := make([]ntconv.Frame, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		frames = append(frames, s.l.names.frames[s.l.names.frame(list[i], nil, nil, 0, 0)])
	}
	return &ntconv.Stack{Frames: frames}
}
