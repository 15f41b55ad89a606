package timeline

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile"
)

// A stackTable numbers stacks from 1 by content, process and epoch while events are written. finish resolves them to a
// tree of frames and discards everything that only number needs.
type stackTable struct {
	namer    ntconv.Namer
	contents *profile.Stacks
	ids      map[stackKey]uint32
	leaves   map[leafKey]uint32        // numbers of stacks with an additional innermost frame
	list     []stackEntry              // by number
	recent   [recentStacks]recentStack // cache of number, by content

	nodes  []Node // by number; set by finish
	tree   []node
	frames frameTable
}

// recentStacks is a power of 2, so that the index is computed without a division.
const recentStacks = 256

// A stackKey determines the frames of a stack, see ntconv.Namer.Epoch.
type stackKey struct {
	process        *ntconv.Process
	content, epoch uint32
}

type recentStack struct {
	stackKey
	number uint32
}

type stackEntry struct {
	process *ntconv.Process
	content uint32
	at      ntconv.Ticks // time of the first event with the stack
	leaf    string       // if not empty, the entry is the stack with the number content and this innermost frame
}

// A leafKey is a stack with an additional innermost frame.
type leafKey struct {
	stack uint32
	leaf  string
}

// A node is an element of the tree: a frame called by parent.
type node struct {
	parent Node
	frame  uint32
}

func newStackTable(namer ntconv.Namer) stackTable {
	return stackTable{
		namer: namer, contents: profile.NewStacks(), ids: map[stackKey]uint32{},
		leaves: map[leafKey]uint32{}, list: make([]stackEntry, 1), tree: make([]node, 1),
	}
}

// number returns the number of the stack of an event, or 0 if it has none.
func (t *stackTable) number(e *ntconv.Event) uint32 {
	if e.Stack == nil {
		return 0
	}
	content := t.contents.ID(e.Stack)
	if content == 0 {
		return 0
	}
	k := stackKey{content: content}
	if e.Thread != nil {
		k.process = e.Thread.Process
	}
	k.epoch = t.namer.Epoch(k.process, e.Stack, e.Time)
	slot := &t.recent[content%recentStacks]
	if slot.stackKey == k {
		return slot.number
	}
	n := t.ids[k]
	if n == 0 {
		n = uint32(len(t.list))
		t.ids[k] = n
		t.list = append(t.list, stackEntry{process: k.process, content: content, at: e.Time})
		t.namer.Want(k.process, e.Stack)
	}
	*slot = recentStack{k, n}
	return n
}

// withLeaf returns the number of a stack, which may be 0, with an additional innermost frame.
func (t *stackTable) withLeaf(stack uint32, leaf string) uint32 {
	k := leafKey{stack, leaf}
	n := t.leaves[k]
	if n == 0 {
		n = uint32(len(t.list))
		t.leaves[k] = n
		t.list = append(t.list, stackEntry{content: stack, leaf: leaf})
	}
	return n
}

// node returns the node of a stack. Call it after finish. ok is false for invalid numbers.
func (t *stackTable) node(number uint32) (n Node, ok bool) {
	if int(number) >= len(t.nodes) {
		return NoStack, false
	}
	return t.nodes[number], true
}

// finish resolves all stacks.
func (t *stackTable) finish() {
	tree := treeBuilder{t: t, secret: rand.Uint64() | 1}
	t.frames.init()
	t.nodes = make([]Node, len(t.list))
	var frames []ntconv.Frame
	for i := 1; i < len(t.list); i++ {
		s := &t.list[i]
		if s.leaf != "" {
			frame := ntconv.Frame{Func: &ntconv.Function{Name: s.leaf}}
			t.nodes[i] = tree.child(t.nodes[s.content], t.frames.number(&frame)) // its stack has a smaller number
			continue
		}
		frames = t.namer.AppendFrames(frames[:0], s.process, t.contents.At(s.content), s.at)
		n := NoStack
		for j := len(frames) - 1; j >= 0; j-- {
			n = tree.child(n, t.frames.number(&frames[j]))
		}
		t.nodes[i] = n
	}
	t.contents, t.ids, t.leaves, t.list, t.recent = nil, nil, nil, nil, [recentStacks]recentStack{}
	t.frames.discardIndex()
}

// A treeBuilder finds nodes by parent and frame. secret randomizes the hash, so that input cannot cause collisions.
type treeBuilder struct {
	t      *stackTable
	index  intern.Index
	secret uint64
}

// child returns the node of a frame that is called by n.
func (b *treeBuilder) child(n Node, frame uint32) Node {
	// One multiplication would map consecutive numbers to an arithmetic progression, which clusters in the index for
	// some secrets. Two do not.
	hi, lo := bits.Mul64(uint64(n)<<32|uint64(frame)^b.secret, b.secret)
	hi, lo = bits.Mul64(hi^lo^b.secret, b.secret)
	p := b.index.Probe(hi ^ lo)
	want := node{n, frame}
	for p.Next() {
		if b.t.tree[p.ID] == want {
			return Node(p.ID)
		}
	}
	id := uint32(len(b.t.tree))
	b.index.Insert(&p, id)
	b.t.tree = append(b.t.tree, want)
	return Node(id)
}

// A frameTable numbers frames from 0 by function, mapping and line.
type frameTable struct {
	recent intern.Cache[frameKey, uint32] // by address
	list   []ntconv.Frame                 // by number
	known  map[frameKey]uint32            // without placeholders, of which each use may have a new Function
	index  intern.Index                   // numbers + 1, by content
	seed   maphash.Seed
}

// A frameKey identifies a frame by pointers. Sources may create equal Functions, so equal frames may have different
// keys.
type frameKey struct {
	function *ntconv.Function
	mapping  *ntconv.Mapping
	line     int32
}

func (t *frameTable) init() {
	t.known, t.recent, t.seed = map[frameKey]uint32{}, intern.NewCache[frameKey, uint32](12), maphash.MakeSeed()
}

// discardIndex frees all memory that only number needs.
func (t *frameTable) discardIndex() { *t = frameTable{list: t.list} }

func (t *frameTable) number(f *ntconv.Frame) uint32 {
	k := frameKey{f.Func, f.Mapping, f.Line}
	if n := t.recent.Get(f.PC, &k); n != nil {
		return *n
	}
	n, ok := t.known[k]
	if !ok {
		n = t.find(f)
		if f.Flags&ntconv.FrameUnresolved == 0 {
			t.known[k] = n
		}
	}
	t.recent.Put(f.PC, &k, n)
	return n
}

// find returns the number of a frame by content, and assigns one if necessary.
func (t *frameTable) find(f *ntconv.Frame) uint32 {
	p := t.index.Probe(t.hash(f))
	for p.Next() {
		g := &t.list[p.ID-1]
		if g.Line == f.Line && same(g.Func, f.Func) && same(g.Mapping, f.Mapping) {
			return p.ID - 1
		}
	}
	t.list = append(t.list, *f)
	t.index.Insert(&p, uint32(len(t.list)))
	return uint32(len(t.list)) - 1
}

// hash covers all that find compares.
func (t *frameTable) hash(f *ntconv.Frame) uint64 {
	h := uint64(uint32(f.Line)) + 1
	if f.Func != nil {
		h = h*spread ^ maphash.Comparable(t.seed, *f.Func)
	}
	if f.Mapping != nil {
		h = h*spread ^ maphash.Comparable(t.seed, *f.Mapping)
	}
	return h * spread
}

// spread is 2^64 divided by the golden ratio, as in intern.Cache.
const spread = 0x9e3779b97f4a7c15

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
