package writer

import "github.com/ntconv/ntconv"

// A threadState is the state of a thread in the writer.
type threadState struct {
	entry
	numbering
}

// A numbering assigns sequence numbers to the events that a thread captured.
type numbering struct {
	seq    uint32 // last number that was written; 0 before the first event
	lost   uint32 // losses since then that the source reported
	counts bool   // count events instead of using the numbers of the source, see next
}

// next returns the number to write for the thread's next event. It counts events without a number, because readers
// would take a repeated zero as two billion losses.
//
// In time order the events of a thread may have a different order than in the input. If their numbers would reveal
// other losses than the source reports, next ignores the source's numbers from then on and counts.
func (n *numbering) next(e *ntconv.Event, o *Options) uint32 {
	if e.Seq != n.seq+1 || n.lost != 0 {
		return n.step(e, o)
	}
	n.seq++ // fast path; step would return the same
	return n.seq
}

// step is the slow path of next.
func (n *numbering) step(e *ntconv.Event, o *Options) uint32 {
	seq := e.Seq
	numbered := seq != 0 || e.Flags&ntconv.FlagNumbered != 0
	n.counts = n.counts || o.Ordered && numbered && n.revealed(seq-1) != n.lost
	if o.Renumber || n.counts || !numbered {
		seq = n.seq + n.lost + 1
	}
	n.seq, n.lost = seq, 0
	return seq
}

// bound returns the number to write for the thread in a mark. seq is that of the source, or 0.
func (n *numbering) bound(seq uint32, o *Options) uint32 {
	n.counts = n.counts || o.Ordered && seq != 0 && max(int32(seq-n.seq), 0) != int32(n.lost)
	switch {
	case o.Renumber || n.counts || seq == 0:
		n.seq, n.lost = n.seq+n.lost, 0
		return n.seq
	case int32(seq-n.seq) > 0:
		n.seq, n.lost = seq, 0
	}
	return seq
}

// revealed returns the number of losses that readers infer if last is the number before the next one.
func (n *numbering) revealed(last uint32) uint32 {
	if missing := last - n.seq; int32(missing) > 0 {
		return missing
	}
	return 0
}
