package writer

import "github.com/ntconv/ntconv"

// threadState is what the writer knows about a thread.
type threadState struct {
	entry
	numbering
}

// A numbering numbers the events that a thread captured.
type numbering struct {
	seq    uint32 // number of the last event, as written; 0 before the first
	lost   uint32 // events that are missing since then, as the source says
	counts bool   // the numbers of the source are not used any more, see next
}

// next returns the number to write for the thread's next event. Events without one get the next: a number of zero, over
// and over, would look like two billion losses.
//
// In the order of time the events of a thread may have another order than in the input. Where their numbers would tell
// readers of other losses than the source tells of, they are counted from there on.
func (n *numbering) next(e *ntconv.Event, o *Options) uint32 {
	if e.Seq != n.seq+1 || n.lost != 0 {
		return n.step(e, o)
	}
	n.seq++ // nearly always; step would return the same
	return n.seq
}

// step is next for any event.
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

// bound returns the number to write for the thread in a mark.
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

// revealed returns how many events readers take for lost where the number before the next is last.
func (n *numbering) revealed(last uint32) uint32 {
	if missing := last - n.seq; int32(missing) > 0 {
		return missing
	}
	return 0
}
