package imported

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A Node identifies a stack: a frame and the node of its caller. Nodes are numbered in the order of their creation.
type Node uint32

// NoStack is the node without frames. It is the caller of outermost frames.
const NoStack Node = 0

// A tree stores all stacks of a profile. The caller of a node has a smaller number than the node, so there are no
// cycles.
type tree struct {
	caller   []Node
	frame    []uint32
	children map[edge]Node // nodes created by Child
}

type edge struct {
	caller Node
	frame  uint32
}

func newTree() tree {
	return tree{caller: []Node{NoStack}, frame: []uint32{0}, children: map[edge]Node{}}
}

// Memory per node in bytes, including the spare capacity of slices and maps.
const (
	nodeBytes  = 16
	childBytes = 48
	maxNodes   = 1<<32 - 1
)

// AddNode adds a node, even if an equal one exists. caller must be NoStack or an existing node; otherwise the error
// wraps ntconv.ErrCorrupt.
func (b *Builder) AddNode(caller Node, frame uint32) (Node, error) {
	n := Node(len(b.tree.caller))
	if caller >= n || uint64(n) >= maxNodes {
		return 0, fmt.Errorf("%w: caller %d of stack %d is not before it", ntconv.ErrCorrupt, caller, n)
	}
	b.tree.caller, b.tree.frame = append(b.tree.caller, caller), append(b.tree.frame, frame)
	return n, b.Charge(nodeBytes)
}

// Child returns the node for a frame called by caller. It adds the node if it is new.
func (b *Builder) Child(caller Node, frame uint32) (Node, error) {
	e := edge{caller, frame}
	if n, ok := b.tree.children[e]; ok {
		return n, nil
	}
	n, err := b.AddNode(caller, frame)
	if err != nil {
		return 0, err
	}
	b.tree.children[e] = n
	return n, b.Charge(childBytes)
}

// Caller returns the caller of a node.
func (b *Builder) Caller(n Node) Node { return b.tree.caller[n] }

// Nodes returns the number of nodes, including NoStack.
func (b *Builder) Nodes() int { return len(b.tree.caller) }

// A stacks cache builds the stacks of nodes. It keeps recent stacks, because consecutive samples often repeat them.
type stacks struct {
	tree   *tree
	frames func(uint32) ntconv.Frame
	limit  int
	report *ntconv.Report

	budget FrameBudget

	slots []stackSlot
	size  int // frames in all slots
}

// A stackSlot is an entry of the cache.
type stackSlot struct {
	node  Node
	stack *ntconv.Stack
	cut   uint64 // 1 if the stack was truncated
}

// Size of the cache: the number of slots, and the maximum number of frames in all slots, beyond which it is cleared.
const (
	stackSlots    = 1 << 12
	maxSlotFrames = 1 << 18
)

// of returns the stack of a node, and nil if it has no frames.
func (s *stacks) of(n Node) *ntconv.Stack {
	if n == NoStack {
		return nil
	}
	if s.slots == nil {
		s.slots = make([]stackSlot, stackSlots)
	}
	// Fibonacci hashing spreads consecutive nodes over the slots. A collision replaces the older stack.
	slot := &s.slots[(uint64(n)*0x9e3779b97f4a7c15)>>(64-12)]
	if slot.node != n {
		if slot.stack != nil {
			s.size -= len(slot.stack.Frames)
		}
		*slot = s.make(n)
		if s.size += len(slot.stack.Frames); s.size > maxSlotFrames {
			// A few deep stacks must not accumulate: clear the cache, but keep the stack to return.
			kept := *slot
			clear(s.slots)
			*slot, s.size = kept, len(kept.stack.Frames)
		}
	}
	// Each use of a truncated stack counts, not only its construction.
	if slot.cut > 0 {
		s.report.Add(ntconv.CodeStackCut, slot.cut, -1)
	}
	return slot.stack
}

// make builds the stack of a node other than NoStack.
func (s *stacks) make(n Node) stackSlot {
	slot, depth, limit := stackSlot{node: n}, 0, s.budget.Limit(s.limit)
	// The walk to the root is bounded by the limit, not by the depth of the tree.
	for at := n; at != NoStack; at = s.tree.caller[at] {
		if depth == limit {
			slot.cut = 1
			break
		}
		depth++
	}
	s.budget.Add(depth)
	frames := make([]ntconv.Frame, depth)
	for i := range frames {
		frames[i] = s.frames(s.tree.frame[n])
		n = s.tree.caller[n]
	}
	frames[depth-1].Flags &^= ntconv.FrameInlined // the outermost frame cannot be inlined
	slot.stack = &ntconv.Stack{Frames: frames}
	return slot
}
