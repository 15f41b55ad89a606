package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// lastings determine for how long the samples of a trace last: until the next sample of their thread, or until the first
// round of the sample profiler that did not see the thread (rounds.go), or as an event SampleWeight states. Builder,
// Stream, Weights and PartWeights differ only in what they do with an interval that ends. T is what they keep of the
// latest sample of each thread.
//
// An owner calls sample for each sample, and then wait if the sample is one of those whose interval it needs.
type lastings[T any] struct {
	samplers samplers[*lasting[T]]
	// ended receives each interval that ends after its owner called wait. It must be set before the first sample.
	ended      func(l *lasting[T], ticks uint64, by ending)
	blank      T      // data of a thread without samples
	nominal    uint64 // sampling interval in ticks
	recording  *recording.Range
	disordered bool // a sample was earlier than a previous one of its thread or recorder

	threads    map[*ntconv.Thread]*lasting[T]
	created    int
	lastThread *ntconv.Thread
	current    *lasting[T] // of lastThread
	recent     intern.Cache[*ntconv.Thread, *lasting[T]]
	absent     func(*lasting[T], ntconv.Ticks) // the method leave
}

// A lasting is the latest sample of a thread.
type lasting[T any] struct {
	sampleTimes
	number  int // position among the threads in the order of their first samples
	thread  *ntconv.Thread
	pending bool         // wait was called, and the interval has not ended
	at      ntconv.Ticks // time of the sample that waits
	data    T
}

// An ending is what ended the interval of a sample.
type ending uint8

const (
	endedBySample ending = iota // the next sample of the thread
	endedByRound                // the beginning of a round that did not see the thread
	endedByWeight               // an event SampleWeight
	endedLast                   // nothing: it is the last sample of the thread
)

// recentThreads is the binary logarithm of the number of threads in lastings.recent.
const recentThreads = 6

// newLastings returns the state of a trace whose range is that of a Recording.
func newLastings[T any](info *ntconv.Info, all *recording.Range) *lastings[T] {
	nominal := nominalTicks(info, nominalPeriod(info))
	s := &lastings[T]{
		samplers: newSamplers[*lasting[T]](nominal), nominal: nominal, recording: all,
		threads: map[*ntconv.Thread]*lasting[T]{}, recent: intern.NewCache[*ntconv.Thread, *lasting[T]](recentThreads),
	}
	s.absent = s.leave
	return s
}

// threadOf returns the state of a thread, and creates it if necessary.
func (s *lastings[T]) threadOf(t *ntconv.Thread) *lasting[T] {
	if s.current != nil && t == s.lastThread {
		return s.current
	}
	hash := hashOf(t)
	if l := s.recent.Get(hash, &t); l != nil && *l != nil {
		s.lastThread, s.current = t, *l
		return *l
	}
	l, ok := s.threads[t]
	if !ok {
		l = &lasting[T]{number: s.created, thread: t, data: s.blank}
		s.created++
		s.threads[t] = l
	}
	s.recent.Put(hash, &t, l)
	s.lastThread, s.current = t, l
	return l
}

// hashOf returns the hash of a thread for lastings.recent.
func hashOf(t *ntconv.Thread) uint64 {
	if t == nil {
		return 0
	}
	return t.TID
}

// sample ends the interval of the latest sample of the thread of e, and the intervals of threads that the recorder no
// longer sees. ok is false if e is earlier than that sample: such a sample ends nothing and gets no time, because this
// time would be counted twice. Calling it twice for a sample changes nothing.
func (s *lastings[T]) sample(e *ntconv.Event) (l *lasting[T], ok bool) {
	l = s.threadOf(e.Thread)
	n, inOrder, ok := s.samplers.of(e.Thread, e.Capture).sample(l, e.Time, s.absent)
	s.disordered = s.disordered || !inOrder
	if ok {
		s.end(l, n, endedBySample)
	}
	return l, ok
}

// wait makes the latest sample of a thread one whose interval ended receives.
func (l *lasting[T]) wait(at ntconv.Ticks) { l.pending, l.at = true, at }

// process returns the process of the thread, or nil.
func (l *lasting[T]) process() *ntconv.Process {
	if l.thread == nil {
		return nil
	}
	return l.thread.Process
}

func (s *lastings[T]) end(l *lasting[T], ticks uint64, by ending) {
	if l.pending {
		l.pending = false
		s.ended(l, ticks, by)
	}
}

// leave ends the interval of a thread's latest sample at the beginning of a round that did not see the thread.
func (s *lastings[T]) leave(l *lasting[T], since ntconv.Ticks) {
	if n, ok := l.leave(since); ok {
		s.end(l, n, endedByRound)
	}
}

// weigh applies an event of a weight class.
func (s *lastings[T]) weigh(e *ntconv.Event, class weightClass) {
	switch class {
	case weightSample:
		s.sample(e)
	case weightExplicit:
		if l, ok := s.threads[e.Thread]; ok {
			l.open = false
			s.end(l, weightTicks(e), endedByWeight)
		}
	case weightOmitted:
		s.samplers.interrupt(e.Capture, true)
	}
}

// remove ends the intervals of the given threads, which have exited, and discards their state.
func (s *lastings[T]) remove(list []ntconv.ThreadSeq) {
	for i := range list {
		t := list[i].Thread
		if l, ok := s.threads[t]; ok {
			delete(s.threads, t)
			s.lastThread, s.current = nil, nil
			s.recent.Put(hashOf(t), &t, nil)
			s.endLast(l)
		}
	}
}

// finish ends the intervals of all threads, in the order of their first samples.
func (s *lastings[T]) finish() {
	list := slices.SortedFunc(maps.Values(s.threads), func(a, b *lasting[T]) int { return cmp.Compare(a.number, b.number) })
	for _, l := range list {
		s.endLast(l)
	}
	s.clear()
}

// clear discards the state of all threads.
func (s *lastings[T]) clear() {
	clear(s.threads)
	s.lastThread, s.current = nil, nil
	s.recent = intern.NewCache[*ntconv.Thread, *lasting[T]](recentThreads)
}

// endLast ends the interval of a thread's last sample.
func (s *lastings[T]) endLast(l *lasting[T]) {
	if l.pending {
		s.end(l, l.remaining(s.nominal, s.recording.End(l.process())), endedLast)
	}
}
