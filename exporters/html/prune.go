package html

// A pruned tree holds the nodes that a page shows, and the frames and functions of these nodes.
type pruned struct {
	nodes      []node  // frame is an index in frames, -1 for omitted frames
	to         []int32 // by node of the tree; -1 if no sample has it
	frames     []int32 // indexes of frames.list
	functions  []int32 // indexes of frames.functions
	functionOf map[int32]int32
}

// of returns the node of a stack, -1 if the stack is unknown or empty.
func (p *pruned) of(t *tree, stack int64) int32 {
	if leaf, ok := t.leaves[stack]; ok && leaf >= 0 {
		return p.to[leaf]
	}
	return -1
}

// prune returns the nodes that samples have. A node whose share of every kind is below narrow is merged with its
// siblings below narrow to a node for omitted frames, so that totals stay exact.
func prune(r *recording, narrow float64) *pruned {
	shares, used := r.shares()
	p := &pruned{to: make([]int32, len(r.tree.nodes)), functionOf: make(map[int32]int32)}
	omitted, frames := make(map[int32]int32), make(map[int32]int32)
	for i, n := range r.tree.nodes {
		p.to[i] = -1
		if !used[i] {
			continue
		}
		parent := int32(-1)
		if n.parent >= 0 {
			parent = p.to[n.parent]
		}
		switch {
		case parent >= 0 && p.nodes[parent].frame < 0:
			p.to[i] = parent
		case n.frame < 0 || shares[i] < narrow:
			at, ok := omitted[parent]
			if !ok {
				at = p.add(node{parent, -1})
				omitted[parent] = at
			}
			p.to[i] = at
		default:
			p.to[i] = p.add(node{parent, p.frame(r, frames, n.frame)})
		}
	}
	return p
}

func (p *pruned) add(n node) int32 {
	p.nodes = append(p.nodes, n)
	return int32(len(p.nodes) - 1)
}

// frame returns the index in p.frames of a frame, and adds it and its function if necessary.
func (p *pruned) frame(r *recording, frames map[int32]int32, id int32) int32 {
	n, ok := frames[id]
	if !ok {
		n = int32(len(p.frames))
		frames[id] = n
		p.frames = append(p.frames, id)
		f := r.frames.list[id].function
		if _, ok := p.functionOf[f]; !ok {
			p.functionOf[f] = int32(len(p.functions))
			p.functions = append(p.functions, f)
		}
	}
	return n
}

// shares returns the largest share of each node, with its children, of the total of a kind, and whether a sample has
// the node.
func (r *recording) shares() (shares []float64, used []bool) {
	n := len(r.tree.nodes)
	shares, used = make([]float64, n), make([]bool, n)
	sums := make([]float64, n)
	for _, k := range r.samples.kinds() {
		clear(sums)
		total, main := 0.0, r.samples.mainType(k)
		for i := range k.rows {
			v := float64(k.rows[i].count)
			if len(k.values) > 0 {
				v = max(float64(k.values[main][i]), -float64(k.values[main][i]))
			}
			total += v
			if leaf, ok := r.tree.leaves[k.rows[i].stack]; ok && leaf >= 0 {
				sums[leaf] += v
				used[leaf] = true
			}
		}
		for i := n - 1; i >= 0; i-- {
			if total > 0 {
				shares[i] = max(shares[i], sums[i]/total)
			}
			if parent := r.tree.nodes[i].parent; parent >= 0 {
				sums[parent] += sums[i]
				used[parent] = used[parent] || used[i]
			}
		}
	}
	return shares, used
}
