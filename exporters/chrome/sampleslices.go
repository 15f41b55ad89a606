package chrome

import (
	"slices"

	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A sliceSampler writes a slice for every run of consecutive samples of a thread with the same frame at the same depth,
// on a track of its own next to the thread.
type sliceSampler struct {
	e      *encoder
	tids   map[*timeline.Process]*tidSet
	tracks map[profileKey]*sampleTrack
	own    map[*timeline.Track]uint32 // TIDs of the sample tracks
	named  map[*timeline.Track]bool   // threads whose sample track has samples
	list   []*sampleTrack
	ends   intern.Heap[pendingEnd, *pendingEnd] // may contain obsolete entries
	path   []timeline.Node
}

// A sampleTrack holds the open slices of one thread and sample kind: the frames of its latest sample.
type sampleTrack struct {
	number   int
	where    []byte
	category string
	open     []timeline.Node // the outermost first
	until    int64           // time at which the latest sample ends; 0 if unknown
	latest   int64           // time of the latest sample
}

// A pendingEnd is the time at which the slices of a track end unless another sample arrives first. It is obsolete if
// track.until differs from at.
type pendingEnd struct {
	at    int64
	track *sampleTrack
}

func newSliceSampler(e *encoder) *sliceSampler {
	s := &sliceSampler{
		e: e, tids: tidSets(e.trace.Tracks()), tracks: map[profileKey]*sampleTrack{},
		own: map[*timeline.Track]uint32{}, named: map[*timeline.Track]bool{},
	}
	for _, t := range e.trace.Tracks() {
		if t.Kind == timeline.ThreadTrack {
			s.tid(t)
		}
	}
	return s
}

// tid returns the TID of the track with a thread's samples. The first call per thread allocates it.
func (s *sliceSampler) tid(t *timeline.Track) uint32 {
	tid, ok := s.own[t]
	if !ok {
		set := s.tids[t.Process]
		if set == nil {
			set = &tidSet{used: map[uint32]bool{}, next: 1}
			s.tids[t.Process] = set
		}
		tid = set.take()
		s.own[t] = tid
	}
	return tid
}

// trackOf returns the track for a sample. The first sample kind of a thread uses the track that writeNames has named;
// each further kind gets a track and name of its own.
func (s *sliceSampler) trackOf(it *timeline.Item) *sampleTrack {
	key := profileKey{it.Track, it.Weight.Kind}
	if it.Thread != nil {
		key.track = it.Thread
	}
	t := s.tracks[key]
	if t == nil {
		tid := s.tid(key.track)
		if s.named[key.track] { // by samples of another kind
			tid = s.tids[key.track.Process].take()
			s.e.nameThread(key.track.Process.PID, tid, nameOf(key.track)+" samples ("+key.kind.String()+")", 0)
		}
		s.named[key.track] = true
		t = &sampleTrack{
			number:   len(s.list),
			where:    appendWhere(nil, key.track.Process.PID, tid),
			category: key.kind.String(),
		}
		s.tracks[key] = t
		s.list = append(s.list, t)
	}
	return t
}

// sample ends the frames that the previous stack of the thread does not share with this one, and begins the others.
func (s *sliceSampler) sample(it *timeline.Item) {
	t := s.trackOf(it)
	s.path = s.path[:0]
	for n := it.Stack; n != timeline.NoStack; {
		s.path = append(s.path, n)
		n, _ = s.e.trace.Node(n)
	}
	slices.Reverse(s.path)
	same := 0
	for same < len(t.open) && same < len(s.path) && t.open[same] == s.path[same] {
		same++
	}
	s.close(t, same, it.Time)
	for _, n := range s.path[same:] {
		s.write('B', t, n, it.Time)
		t.open = append(t.open, n)
	}
	t.latest, t.until = it.Time, 0
	if it.Weight.Until > it.Time {
		t.until = it.Weight.Until
		s.ends.Push(pendingEnd{t.until, t})
	}
}

// close ends the open slices of a track, except the outermost keep.
func (s *sliceSampler) close(t *sampleTrack, keep int, at int64) {
	for i := len(t.open) - 1; i >= keep; i-- {
		s.write('E', t, t.open[i], at)
	}
	t.open = t.open[:min(keep, len(t.open))]
}

func (s *sliceSampler) write(phase byte, t *sampleTrack, n timeline.Node, at int64) {
	_, frame := s.e.trace.Node(n)
	f := s.e.trace.Frame(frame)
	b := append(s.e.head(phase, functionName(&f), t.category), t.where...)
	s.e.out.buf = append(s.e.time(b, at), '}')
}

// advance ends the slices of tracks whose latest sample ended before now.
func (s *sliceSampler) advance(now int64) {
	for len(s.ends) > 0 && s.ends[0].at < now {
		end := s.ends.Pop()
		if end.track.until == end.at {
			s.close(end.track, 0, end.at)
			end.track.until = 0
		}
	}
}

// cut writes the ends of all open slices. They stay open for resume.
func (s *sliceSampler) cut(now int64) {
	for _, t := range s.list {
		for i := len(t.open) - 1; i >= 0; i-- {
			s.write('E', t, t.open[i], now)
		}
	}
}

func (s *sliceSampler) resume(now int64) {
	for _, t := range s.list {
		for _, n := range t.open {
			s.write('B', t, n, now)
		}
	}
}

// finish ends all slices. Slices whose end is unknown end with the trace.
func (s *sliceSampler) finish() {
	s.advance(1<<63 - 1)
	for _, t := range s.list {
		s.close(t, 0, max(s.e.now, t.latest))
	}
}

// Before compares by time, then by track number, so that equal traces give equal output. It implements intern.Heap.
func (a *pendingEnd) Before(b *pendingEnd) bool {
	return a.at < b.at || a.at == b.at && a.track.number < b.track.number
}
