package meters

import (
	"cmp"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A slicePath is the names of a slice and of those around it. Equal paths are one.
type slicePath struct {
	up    *slicePath // nil for the empty path
	fn    *ntconv.Function
	depth int
	stack *ntconv.Stack // kept if it is short
}

// slicePaths are the paths of a trace.
type slicePaths struct {
	root  *slicePath
	known map[pathKey]*slicePath
	names map[string]*ntconv.Function
}

type pathKey struct {
	up   *slicePath
	name string
}

const (
	// maxSliceDepth limits the frames of a slice, of which every distinct path holds a copy. Deeper slices are added to
	// the one at the limit.
	maxSliceDepth = 1024
	// maxKeptDepth limits the stacks that are kept, because a stack of frames takes ten times the memory of its numbers.
	maxKeptDepth = 64
)

func newSlicePaths() slicePaths {
	return slicePaths{root: new(slicePath), known: map[pathKey]*slicePath{}, names: map[string]*ntconv.Function{}}
}

// of returns the path of a slice in a path.
func (p *slicePaths) of(up *slicePath, name string) *slicePath {
	if up.depth == maxSliceDepth {
		return up
	}
	key := pathKey{up, cmp.Or(name, imported.NoName)}
	path := p.known[key]
	if path == nil {
		fn := p.names[key.name]
		if fn == nil {
			fn = &ntconv.Function{Name: key.name}
			p.names[key.name] = fn
		}
		path = &slicePath{up: up, fn: fn, depth: up.depth + 1}
		p.known[key] = path
	}
	return path
}

// frames returns the stack of a path.
func (p *slicePath) frames() *ntconv.Stack {
	if p.stack != nil {
		return p.stack
	}
	stack := &ntconv.Stack{Frames: make([]ntconv.Frame, 0, p.depth)}
	for x := p; x.up != nil; x = x.up {
		stack.Frames = append(stack.Frames, ntconv.Frame{Func: x.fn})
	}
	if p.depth <= maxKeptDepth {
		p.stack = stack
	}
	return stack
}

// pathOf returns the path of a slice. It stays as it is when first asked for: a sample of a slice in it may have it.
func (m *sliceMeter) pathOf(n *slice) *slicePath {
	if n.path != nil {
		return n.path
	}
	n.path = m.paths.root // ends the search if spans are parents of each other
	up, parent := m.paths.root, n.parent
	if n.of != nil {
		parent.ID = n.of.ParentID
	}
	if p := m.open[parent]; p != nil {
		up = m.pathOf(p)
	} else if p := m.async.resolved[parent]; p != nil {
		up = p
	}
	n.path = m.paths.of(up, n.name)
	return n.path
}
