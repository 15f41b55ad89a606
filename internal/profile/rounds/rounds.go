// Package rounds determines how long each sample of the .NET sample profiler lasts, from the rounds of the profiler, and
// adds these weights to traces that lack some of the samples.
//
// # Weights
//
// A sample is weighted by the time until the next sample of the same thread, because the sampling interval varies: while
// the CPUs are busy, the sample profiler pauses for tens of milliseconds, and counting samples would miss exactly this
// time.
//
// The profiler works in rounds, and a round sees every thread that has a managed frame. If a round does not see a
// thread, the thread's latest sample ends when that round begins, and the time until the thread's next sample belongs
// to no sample ([Unseen]). The last sample of a thread gets the thread's median interval, but ends at the latest with
// the recording of its process. A thread therefore never has more time than the recording. Intervals are in ticks, which
// is exact.
//
// A selection does not change weights: [Threads] also sees the samples that the selection omits. A file of a selection
// lacks these samples, so [Weights] adds events that state the weights that depend on them.
//
// # Rounds
//
// The sample profiler of .NET works in rounds: it suspends the runtime, records one sample of each thread that has a
// managed frame on its stack, in the order of the runtime's list of threads, and resumes. One thread records all
// samples, so the events of that capture thread are in the order in which they were taken, in every file. A thread that
// a complete round did not see had no managed frame: it had ended, or waited or ran in native code only.
//
// A file does not say where a round begins. A thread is seen once per round, so a sample of a thread that the current
// round has seen begins the next one. These are the rounds of the profiler, or rounds that begin at another thread of
// its list: both see each thread once, so that an absence for two rounds of the profiler is certain. The time at which
// the thread was first absent follows from the pause that the profiler makes between its rounds.
package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A timed is a record that its owner keeps per thread.
type timed interface {
	comparable
	times() *sampleTimes
}

// samplers are the recorders of samples of one trace. T is the owner's record of a thread.
type samplers[T timed] struct {
	pause uint64 // half the nominal sampling interval in ticks: within a round, samples follow each other faster
	byKey map[samplerKey]*sampler[T]
	key   samplerKey // of last
	last  *sampler[T]

	unseen *Unseen // time of threads that belongs to no sample
}

// A samplerKey identifies a recorder: by its capture thread, or by the process if threads record themselves.
type samplerKey struct {
	capture *ntconv.Thread
	process *ntconv.Process
}

func newSamplers[T timed](nominal uint64) samplers[T] {
	return samplers[T]{pause: nominal / 2, byKey: map[samplerKey]*sampler[T]{}, unseen: new(Unseen)}
}

// of returns the recorder of a sample.
func (s *samplers[T]) of(thread, capture *ntconv.Thread) *sampler[T] {
	key := samplerKey{capture: capture}
	if capture == thread && thread != nil {
		key = samplerKey{process: thread.Process}
	}
	if s.last != nil && key == s.key {
		return s.last
	}
	r, ok := s.byKey[key]
	if !ok {
		r = &sampler[T]{alone: key.capture == nil, pause: s.pause, unseen: s.unseen}
		s.byKey[key] = r
	}
	s.key, s.last = key, r
	return r
}

// recorder returns the recorder that a capture thread is, or nil.
func (s *samplers[T]) recorder(capture *ntconv.Thread) *sampler[T] {
	return s.byKey[samplerKey{capture: capture}]
}

// interrupt notes that events of a capture thread are missing: here, or from here to the end if more is true.
func (s *samplers[T]) interrupt(capture *ntconv.Thread, more bool) {
	r := s.recorder(capture)
	if r == nil && more {
		r = s.of(nil, capture)
	}
	if r != nil {
		r.interrupt(more)
	}
}

// A sampler follows the rounds of one recorder of samples. Memory follows the number of threads of a round.
//
//	field         set by               cleared by
//	round, start  next                 -
//	seen          see                  next (moves to before), interrupt
//	before        next                 next, interrupt
//	incomplete    interrupt(true)      -
//	latest        see                  -
type sampler[T timed] struct {
	alone      bool // each thread records itself, as in netperf: their order is unknown, and there are no rounds
	incomplete bool // samples were omitted from the input: that a round did not see a thread proves nothing
	pause      uint64
	round      uint64
	start      ntconv.Ticks  // time of the current round's first sample
	latest     ntconv.Ticks  // time of the latest sample
	seen       []sighting[T] // samples of the current round
	before     []sighting[T] // samples of the round before
	gaps       intervals     // of all threads
	unseen     *Unseen       // of all recorders
}

// A sighting is a sample in a round.
type sighting[T timed] struct {
	thread T
	at     ntconv.Ticks
}

// sample ends the interval of a thread's latest sample, if it has one, and begins one at a time. It returns the length of
// the former. ok is false if the sample is earlier than the thread's latest one; it then begins and ends nothing.
// inOrder is false if it is earlier than the latest sample of the thread or of the recorder. sample calls absent as see
// does. Calling it twice for a sample changes nothing.
func (s *sampler[T]) sample(t T, at ntconv.Ticks, absent func(t T, since ntconv.Ticks)) (n uint64, inOrder, ok bool) {
	inOrder = s.see(t, at, absent)
	x := t.times()
	s.unseen.end(x, at)
	if n, ok = x.Advance(at); !ok {
		return 0, false, false
	}
	x.all = &s.gaps
	if n > 0 {
		s.gaps.add(n)
	}
	return n, inOrder, true
}

// see notes a sample of a thread. If it begins a round, the current round is complete: see calls absent for each thread
// that the current round did not see and the one before did, with the time since which the thread was absent. It
// returns false if the sample is earlier than the recorder's latest one, in which case it notes nothing. Calling it
// twice for a sample changes nothing.
func (s *sampler[T]) see(t T, at ntconv.Ticks, absent func(t T, since ntconv.Ticks)) bool {
	if s.alone || s.incomplete {
		return true
	}
	x := t.times()
	if s.round > 0 && at < s.latest {
		return false
	}
	s.latest = at
	switch {
	case x.shared:
		return true
	case x.round > 0 && x.sampler != s.id():
		x.shared = true // two recorders see this thread, and only one of them knows its round
		return true
	case x.round > 0 && x.round == s.round && x.seenAt == at:
		return true
	}
	if s.round == 0 || x.round == s.round {
		s.next(at, absent)
	}
	x.round, x.sampler, x.seenAt = s.round, s.id(), at
	s.seen = append(s.seen, sighting[T]{t, at})
	return true
}

// id identifies the recorder in the records of threads.
func (s *sampler[T]) id() *intervals { return &s.gaps }

// next begins a round with a sample at a time.
func (s *sampler[T]) next(at ntconv.Ticks, absent func(t T, since ntconv.Ticks)) {
	if slices.ContainsFunc(s.before, s.isAbsent) {
		s.absences(at, absent)
	}
	clear(s.before) // threads may have ended
	s.before, s.seen = s.seen, s.before[:0]
	s.round++
	s.start = at
}

// isAbsent reports whether the current round did not see the thread of a sample of the round before.
func (s *sampler[T]) isAbsent(b sighting[T]) bool {
	x := b.thread.times()
	return x.sampler == s.id() && !x.shared && x.round < s.round
}

// absences calls absent for the threads that the current round did not see. A thread is absent since the first pause of
// the recorder after the thread's sample, because the next round begins there, or else since the current round began.
func (s *sampler[T]) absences(next ntconv.Ticks, absent func(t T, since ntconv.Ticks)) {
	since := s.start
	earlier := func(at ntconv.Ticks) {
		if uint64(next)-uint64(at) >= s.pause {
			since = next
		}
		next = at
	}
	for _, x := range slices.Backward(s.seen) {
		earlier(x.at)
	}
	for _, x := range slices.Backward(s.before) {
		earlier(x.at)
		if s.isAbsent(x) {
			absent(x.thread, since)
		}
	}
}

// interrupt discards the rounds so far, because events of the recorder are missing here. If more is true, samples are
// missing from here to the end, too.
func (s *sampler[T]) interrupt(more bool) {
	clear(s.seen)
	clear(s.before)
	s.seen, s.before = s.seen[:0], s.before[:0]
	s.round++ // no thread is in a round of this number
	s.incomplete = s.incomplete || more
}

// sampleTimes are the times of the samples of a thread: the latest one, and the lengths of the intervals before it.
type sampleTimes struct {
	last ntconv.Ticks // of the samples so far
	open bool         // an interval began at last
	gaps intervals
	all  *intervals // those of the recorder of the latest sample, from all threads
	away bool       // rounds since left did not see the thread
	left ntconv.Ticks

	round   uint64 // latest round that saw the thread, or 0
	seenAt  ntconv.Ticks
	sampler *intervals // identifies the recorder of that round
	shared  bool       // two recorders saw the thread
}

func (l *sampleTimes) times() *sampleTimes { return l }

// Advance ends the interval that began with the latest sample, begins one at a time, and returns the length of the
// former. Samples at the same time are one observation reported twice, so calling it twice for a sample changes
// nothing. A sample before the latest one begins and ends nothing, or else time would be counted twice; ok is false
// then.
func (l *sampleTimes) Advance(at ntconv.Ticks) (n uint64, ok bool) {
	if l.open {
		if at < l.last {
			return 0, false
		}
		if n = uint64(at) - uint64(l.last); n > 0 {
			l.gaps.add(n)
		}
	}
	l.last, l.open, l.away = at, true, false
	return n, true
}

// leave ends the interval that began with the latest sample at a time, with no successor, and returns its length. ok is
// false if there is none.
func (l *sampleTimes) leave(at ntconv.Ticks) (n uint64, ok bool) {
	if !l.open {
		return 0, false
	}
	l.open, l.away, l.left = false, true, at
	if at > l.last {
		n = uint64(at) - uint64(l.last)
		l.gaps.add(n)
		l.all.add(n)
	}
	return n, true
}

// remaining returns for how many ticks the latest sample of a thread counts if nothing says when it ended: the median
// interval of the thread, or else of all threads of its recorder, or else the nominal interval, and never beyond the
// end of the recording.
func (l *sampleTimes) remaining(nominal uint64, end ntconv.Ticks) uint64 {
	n := cmp.Or(l.gaps.median(), l.all.median(), nominal)
	if end <= l.last {
		return 0
	}
	return min(n, uint64(end)-uint64(l.last))
}

// Unseen is the time of threads that belongs to no sample: from the first round of the sample profiler that did not see
// a thread to the thread's next sample. Time before the first sample of a thread and after its last one is not
// included.
type Unseen struct {
	Gaps  uint64 // between two samples of a thread
	Ticks ntconv.Ticks
}

// end adds the time of a thread that has no sample, if there is any before a sample at a time.
func (u *Unseen) end(l *sampleTimes, at ntconv.Ticks) {
	if l.away && at > l.left {
		u.Gaps++
		u.Ticks = bin.AddClamped(u.Ticks, bin.Clamped[ntconv.Ticks](uint64(at)-uint64(l.left)))
	}
}

// Describe returns the time without a sample as a sentence.
func (u *Unseen) Describe(c ntconv.Clock) string {
	return fmt.Sprintf("%v of thread time has no sample", c.Duration(u.Ticks).Round(time.Microsecond))
}

// longSample is the number of nominal sampling intervals beyond which a sample is long. While CPUs are busy, the sample
// profiler pauses for tens of intervals.
const longSample = 100

// Long is the time of long samples: those that last for more than 100 nominal sampling intervals, because no sample of
// their thread followed earlier and no round shows that the thread was absent. The whole time counts for the stack
// before the gap, although the thread may have done something else meanwhile.
type Long struct {
	Samples uint64
	Ticks   ntconv.Ticks
	All     ntconv.Ticks // time of all samples
	Limit   ntconv.Ticks // a long sample lasts for more
}

// add adds a sample that lasts for n ticks.
func (l *Long) add(n uint64) {
	ticks := bin.Clamped[ntconv.Ticks](n)
	l.All = bin.AddClamped(l.All, ticks)
	if ticks > l.Limit {
		l.Samples++
		l.Ticks = bin.AddClamped(l.Ticks, ticks)
	}
}

// Describe returns the number of long samples with their share of the time of all samples as a sentence, and "" if
// they have less than 1%.
func (l *Long) Describe(c ntconv.Clock) string {
	if !l.matters() {
		return ""
	}
	return message.Group(int64(l.Samples)) + " " + ntconv.CodeLongSample.TextFor(l.Samples) + ": " + l.share(c)
}

// Note adds the long samples to a report if they have at least 1% of the time.
func (l *Long) Note(report *ntconv.Report, c ntconv.Clock) {
	if l.matters() {
		report.Note(ntconv.CodeLongSample, l.Samples, -1, l.share(c))
	}
}

func (l *Long) matters() bool { return l.Samples > 0 && l.Ticks >= l.All/100 }

func (l *Long) share(c ntconv.Clock) string {
	return fmt.Sprintf("%s of %s (%s) count for the stack before the gap", message.Duration(c.Duration(l.Ticks)),
		message.Duration(c.Duration(l.All)), message.Percent(int64(l.Ticks), int64(l.All)))
}
