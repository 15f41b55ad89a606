package split

import "github.com/ntconv/ntconv"

// numbers counts the events of each capture thread over all parts. A Splitter and Join count alike, so that only
// numbers that the recorder counted otherwise must be stated.
type numbers struct {
	threads map[*ntconv.Thread]*numbering
	last    *ntconv.Thread
	of      *numbering // of last
}

// A numbering is the state of one thread.
type numbering struct {
	seq  uint32 // number of the last event, or of the last one that is known to be lost
	lost uint32 // losses since then
}

func (n *numbers) thread(t *ntconv.Thread) *numbering {
	if t == n.last && t != nil {
		return n.of
	}
	of := n.threads[t]
	if of == nil {
		if n.threads == nil {
			n.threads = map[*ntconv.Thread]*numbering{}
		}
		of = &numbering{}
		n.threads[t] = of
	}
	n.last, n.of = t, of
	return of
}

// lose counts a loss.
func (n *numbers) lose(e *ntconv.Event) { n.thread(e.Capture).lost += e.Lost }

// next returns the number that counting yields for an event.
func (n *numbers) next(e *ntconv.Event) uint32 {
	of := n.thread(e.Capture)
	return of.seq + of.lost + 1
}

// set notes the number of an event.
func (n *numbers) set(e *ntconv.Event, seq uint32) {
	of := n.thread(e.Capture)
	of.seq, of.lost = seq, 0
}

// bound returns the number that counting yields for a thread in a mark.
func (n *numbers) bound(t *ntconv.Thread) uint32 {
	of := n.thread(t)
	of.seq, of.lost = of.seq+of.lost, 0
	return of.seq
}

// setBound notes the number of a thread in a mark. It is a lower bound.
func (n *numbers) setBound(t *ntconv.Thread, seq uint32) {
	if of := n.thread(t); int32(seq-of.seq) > 0 {
		of.seq = seq
	}
}

// end discards the numbers of the threads that a mark ends or flushes.
func (n *numbers) end(m *ntconv.Mark) {
	switch {
	case m.Kind == ntconv.MarkThreadsRemoved:
		for _, t := range m.Threads {
			delete(n.threads, t.Thread)
		}
	case m.Flags&ntconv.MarkFlushThreads != 0:
		clear(n.threads)
	default:
		return
	}
	n.last, n.of = nil, nil
}

// isNumbered reports whether the recorder numbered an event.
func isNumbered(e *ntconv.Event) bool { return e.Seq != 0 || e.Flags&ntconv.FlagNumbered != 0 }
