package rounds

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// Threads determine for how long the samples of a trace last: until the next sample of their thread, or until the first
// round of the sample profiler that did not see the thread (rounds.go), or as an event SampleWeight states. The
// builders of profiles, Weights and PartWeights differ only in what they do with an interval that ends. T is what they
// keep of the latest sample of each thread.
//
// An owner calls Sample for each sample, and then Wait if the sample is one of those whose interval it needs.
type Threads[T any] struct {
	samplers samplers[*Thread[T]]
	// Ended receives each interval that ends after its owner called Thread.Wait. It must be set before the first sample.
	Ended      func(l *Thread[T], ticks uint64, by Ending)
	Blank      T      // data of a thread without samples
	nominal    uint64 // sampling interval in ticks
	long       Long
	recording  *recording.Range
	Disordered bool // a sample was earlier than a previous one of its thread or recorder

	threads    map[*ntconv.Thread]*Thread[T]
	created    int
	lastThread *ntconv.Thread
	current    *Thread[T] // of lastThread
	recent     intern.Cache[*ntconv.Thread, *Thread[T]]
	absent     func(*Thread[T], ntconv.Ticks) // the method leave
}

// A Thread is the latest sample of a thread.
type Thread[T any] struct {
	sampleTimes
	number  int // position among the threads in the order of their first samples
	thread  *ntconv.Thread
	pending bool         // Wait was called, and the interval has not ended
	At      ntconv.Ticks // time of the sample that waits
	Data    T
}

// An Ending is what ended the interval of a sample.
type Ending uint8

const (
	BySample  Ending = iota // the next sample of the thread
	ByRound                 // the beginning of a round that did not see the thread
	ByWeight                // an event SampleWeight
	ByNothing               // nothing: it is the last sample of the thread
)

// recentThreads is the binary logarithm of the number of threads in Threads.recent.
const recentThreads = 6

// NewThreads returns the state of a trace whose range is that of a Recording.
func NewThreads[T any](info *ntconv.Info, all *recording.Range) *Threads[T] {
	nominal := uint64(ntconv.Clock{Freq: info.Clock.Freq}.TicksAt(time.Duration(NominalPeriod(info))))
	s := &Threads[T]{
		samplers: newSamplers[*Thread[T]](nominal), nominal: nominal, recording: all,
		long:    Long{Limit: ntconv.Ticks(bin.MulClamped(bin.Clamped[int64](nominal), longSample))},
		threads: map[*ntconv.Thread]*Thread[T]{}, recent: intern.NewCache[*ntconv.Thread, *Thread[T]](recentThreads),
	}
	s.absent = s.leave
	return s
}

// Of returns the state of a thread, and creates it if necessary.
func (s *Threads[T]) Of(t *ntconv.Thread) *Thread[T] {
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
		l = &Thread[T]{number: s.created, thread: t, Data: s.Blank}
		s.created++
		s.threads[t] = l
	}
	s.recent.Put(hash, &t, l)
	s.lastThread, s.current = t, l
	return l
}

// hashOf returns the hash of a thread for Threads.recent.
func hashOf(t *ntconv.Thread) uint64 {
	if t == nil {
		return 0
	}
	return t.TID
}

// Sample ends the interval of the latest sample of the thread of e, and the intervals of threads that the recorder no
// longer sees. ok is false if e is earlier than that sample: such a sample ends nothing and gets no time, because this
// time would be counted twice. Calling it twice for a sample changes nothing.
func (s *Threads[T]) Sample(e *ntconv.Event) (l *Thread[T], ok bool) {
	l = s.Of(e.Thread)
	n, inOrder, ok := s.samplers.of(e.Thread, e.Capture).sample(l, e.Time, s.absent)
	s.Disordered = s.Disordered || !inOrder
	if ok {
		s.end(l, n, BySample)
	}
	return l, ok
}

// Wait makes the latest sample of a thread one whose interval Threads.Ended receives.
func (l *Thread[T]) Wait(at ntconv.Ticks) { l.pending, l.At = true, at }

// process returns the process of the thread, or nil.
func (l *Thread[T]) process() *ntconv.Process {
	if l.thread == nil {
		return nil
	}
	return l.thread.Process
}

func (s *Threads[T]) end(l *Thread[T], ticks uint64, by Ending) {
	if l.pending {
		l.pending = false
		s.long.add(ticks)
		s.Ended(l, ticks, by)
	}
}

// leave ends the interval of a thread's latest sample at the beginning of a round that did not see the thread.
func (s *Threads[T]) leave(l *Thread[T], since ntconv.Ticks) {
	if n, ok := l.leave(since); ok {
		s.end(l, n, ByRound)
	}
}

// Apply applies the effect of an event, which is not ClassNone.
func (s *Threads[T]) Apply(e *ntconv.Event, class Class) {
	switch class {
	case classSample:
		s.Sample(e)
	case classStated:
		if l, ok := s.threads[e.Thread]; ok {
			l.open = false
			s.end(l, weightTicks(e), ByWeight)
		}
	case classOmitted:
		s.samplers.interrupt(e.Capture, true)
	}
}

// Lost notes that events of a capture thread are missing here. Repeating the call for the same loss changes nothing.
func (s *Threads[T]) Lost(capture *ntconv.Thread) { s.samplers.interrupt(capture, false) }

// Unseen returns the time so far that belongs to no sample.
func (s *Threads[T]) Unseen() Unseen { return *s.samplers.unseen }

// Long returns the time so far of samples whose interval ended after a call of Thread.Wait, and the
// part that belongs to long ones.
func (s *Threads[T]) Long() Long { return s.long }

// Note adds the time without a sample, and long samples if they matter, to a report. Call it after Finish.
func (s *Threads[T]) Note(report *ntconv.Report, c ntconv.Clock) {
	unseen := s.Unseen()
	report.Note(ntconv.CodeUnseen, unseen.Gaps, -1, unseen.Describe(c))
	s.long.Note(report, c)
}

// Remove ends the intervals of the given threads, which have exited, and discards their state.
func (s *Threads[T]) Remove(list []ntconv.ThreadSeq) {
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

// Finish ends the intervals of all threads, in the order of their first samples.
func (s *Threads[T]) Finish() {
	list := slices.SortedFunc(maps.Values(s.threads), func(a, b *Thread[T]) int { return cmp.Compare(a.number, b.number) })
	for _, l := range list {
		s.endLast(l)
	}
	s.Clear()
}

// Clear discards the state of all threads.
func (s *Threads[T]) Clear() {
	clear(s.threads)
	s.lastThread, s.current = nil, nil
	s.recent = intern.NewCache[*ntconv.Thread, *Thread[T]](recentThreads)
}

// endLast ends the interval of a thread's last sample.
func (s *Threads[T]) endLast(l *Thread[T]) {
	if l.pending {
		s.end(l, l.remaining(s.nominal, s.recording.End(l.process())), ByNothing)
	}
}

// defaultPeriod is the sampling interval of traces that state none, in nanoseconds.
const defaultPeriod = int64(time.Millisecond)

// NominalPeriod returns the nominal sampling interval of a trace in nanoseconds.
func NominalPeriod(info *ntconv.Info) int64 {
	s, _ := info.Attrs.Get("ExpectedCPUSamplingRate")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return n
	}
	return defaultPeriod
}
