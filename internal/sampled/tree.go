package sampled

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A Node is a stack: a frame and the node of its caller. Nodes are numbered in the order in which they were added.
type Node uint32

// NoStack is the node without frames, the caller of outermost frames.
const NoStack Node = 0

// A tree is all stacks of a profile. A caller has a smaller number than what it calls, so there are no cycles.
type tree struct {
	caller   []Node
	frame    []uint32
	children map[edge]Node // of nodes that Child has made
}

type edge struct {
	caller Node
	frame  uint32
}

func newTree() tree {
	return tree{caller: []Node{NoStack}, frame: []uint32{0}, children: map[edge]Node{}}
}

// Costs of nodes in bytes, with what slices and maps hold in reserve.
const (
	nodeBytes  = 16
	childBytes = 48
	maxNodes   = 1<<32 - 1
)

// AddNode adds a node, also if there is an equal one. The caller must be NoStack or an earlier node.
func (b *Builder) AddNode(caller Node, frame uint32) (Node, error) {
	n := Node(len(b.tree.caller))
	if caller >= n || uint64(n) >= maxNodes {
		return 0, fmt.Errorf("%w: caller %d of stack %d is not before it", ntconv.ErrCorrupt, caller, n)
	}
	b.tree.caller, b.tree.frame = append(b.tree.caller, caller), append(b.tree.frame, frame)
	return n, b.Charge(nodeBytes)
}

// Child returns the node of a frame that caller calls. It adds the node if there is none.
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

// Nodes returns the number of nodes, with NoStack.
func (b *Builder) Nodes() int { return len(b.tree.caller) }

// Stacks returns the stacks of the nodes of a tree. Recent ones are kept, because samples repeat them.
type stacks struct {
	tree   *tree
	frames func(uint32) ntconv.Frame
	limit  int
	report *ntconv.Report

	budget FrameBudget

	slots []stackSlot
	size  int // frames of all slots
}

type stackSlot struct {
	node  Node
	stack *ntconv.Stack
	cut   uint64 // 1 if the stack lost frames
}

const (
	stackSlots    = 1 << 12
	maxSlotFrames = 1 << 18
)

// of returns the stack of a node, nil if it has no frames.
func (s *stacks) of(n Node) *ntconv.Stack {
	if n == NoStack {
		return nil
	}
	if s.slots == nil {
		s.slots = make([]stackSlot, stackSlots)
	}
	slot := &s.slots[(uint64(n)*0x9e3779b97f4a7c15)>>(64-12)]
	if slot.node != n {
		if slot.stack != nil {
			s.size -= len(slot.stack.Frames)
		}
		*slot = s.make(n)
		if s.size += len(slot.stack.Frames); s.size > maxSlotFrames {
			kept := *slot
			clear(s.slots)
			*slot, s.size = kept, len(kept.stack.Frames)
		}
	}
	if slot.cut > 0 {
		s.report.Add(ntconv.CodeStackCut, slot.cut, -1)
	}
	return slot.stack
}

// make returns the stack of a node that is not NoStack.
func (s *stacks) make(n Node) stackSlot {
	slot, depth, limit := stackSlot{node: n}, 0, s.budget.Limit(s.limit)
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
	frames[depth-1].Flags &^= ntconv.FrameInlined // there is no frame that it was inlined into
	slot.stack = &ntconv.Stack{Frames: frames}
	return slot
}
