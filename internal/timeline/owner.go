package timeline

import (
	"cmp"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// An ownerTable holds the processes and tracks of a timeline. Records refer to a track by its ID, which is its index in
// tracks plus 1. finish sets names, PIDs and TIDs; after it only lanes are added.
type ownerTable struct {
	namer      ntconv.Namer
	tracks     []*Track // without lanes
	processes  []*processState
	byProcess  map[*ntconv.Process]*processState
	byThread   map[*ntconv.Thread]uint32
	recent     [recentThreads]recentThread // cache by thread ID, because threads alternate
	infos      map[*ntconv.Process]*recording.Process
	reader     recording.ProcessReader
	renumbered int64
	lastTID    uint32          // latest TID of a track that is not a thread
	usedTIDs   map[uint32]bool // TIDs of all threads
	lanes      uint32          // number of lanes of all processes
}

// recentThreads is a power of 2, so that the index is computed without a division.
const recentThreads = 256

type recentThread struct {
	thread *ntconv.Thread
	track  uint32
}

// A processState is a process and its tracks.
type processState struct {
	Process
	own      [LossTrack + 1]*Track // GCTrack, CollectionTrack and LossTrack; nil if empty
	threads  []*Track
	counters []*Track
	byName   map[string]uint32 // track IDs of counters
	lanes    []*Track          // created by Each, which reuses those of earlier calls
}

func newOwnerTable(namer ntconv.Namer) ownerTable {
	return ownerTable{
		namer: namer, byProcess: map[*ntconv.Process]*processState{}, byThread: map[*ntconv.Thread]uint32{},
		infos: map[*ntconv.Process]*recording.Process{},
	}
}

// add appends a track and assigns the next ID.
func (t *ownerTable) add(k *Track) *Track {
	t.tracks = append(t.tracks, k)
	k.ID = uint32(len(t.tracks))
	return k
}

// at returns the track with an ID.
func (t *ownerTable) at(id uint32) *Track { return t.tracks[id-1] }

// process returns the state of a process, and creates it if necessary. p is nil for the unknown process.
func (t *ownerTable) process(p *ntconv.Process) *processState {
	s := t.byProcess[p]
	if s == nil {
		s = &processState{Process: Process{Process: p}}
		s.Track = t.add(&Track{Kind: ProcessTrack, Process: &s.Process})
		t.byProcess[p] = s
		t.processes = append(t.processes, s)
	}
	return s
}

// state returns the state of the process of a track.
func (t *ownerTable) state(k *Track) *processState { return t.byProcess[k.Process.Process] }

// thread returns the ID of the track of a thread, or of the track of the unknown process if p is nil.
func (t *ownerTable) thread(p *ntconv.Thread) uint32 {
	if p == nil {
		return t.process(nil).Track.ID
	}
	slot := &t.recent[p.TID%recentThreads]
	if slot.thread == p {
		return slot.track
	}
	id := t.byThread[p]
	if id == 0 {
		s := t.process(p.Process)
		k := t.add(&Track{Kind: ThreadTrack, Process: &s.Process, Thread: p})
		s.threads = append(s.threads, k)
		id = k.ID
		t.byThread[p] = id
	}
	*slot = recentThread{p, id}
	return id
}

// ownNames contains the names of the tracks of a process that are neither threads nor counters.
var ownNames = [...]string{GCTrack: "GC pauses", CollectionTrack: "GC collections", LossTrack: "Lost events"}

// own returns the ID of the track of kind k in the process of the track of.
func (t *ownerTable) own(of uint32, k TrackKind) uint32 { return t.ownOf(t.state(t.at(of)), k) }

func (t *ownerTable) ownOf(s *processState, k TrackKind) uint32 {
	if s.own[k] == nil {
		s.own[k] = t.add(&Track{Kind: k, Process: &s.Process, Name: ownNames[k]})
	}
	return s.own[k].ID
}

// counter returns the ID of the track of a counter. It borrows the name.
func (t *ownerTable) counter(s *processState, name []byte, unit string) uint32 {
	id := s.byName[string(name)]
	if id == 0 {
		if s.byName == nil {
			s.byName = map[string]uint32{}
		}
		k := t.add(&Track{Kind: CounterTrack, Process: &s.Process, Name: string(name), Unit: unit})
		s.counters = append(s.counters, k)
		id = k.ID
		s.byName[k.Name] = id
	}
	return id
}

// lane returns a lane of a process by its number, from 1, and creates it if it is the next one.
func (t *ownerTable) lane(s *processState, number uint32) *Track {
	if int(number) > len(s.lanes) {
		t.lanes++
		s.lanes = append(s.lanes, &Track{
			ID: uint32(len(t.tracks)) + t.lanes, Kind: LaneTrack, Process: &s.Process, TID: t.freeTID(),
			Name: "Lane " + strconv.FormatUint(uint64(number), 10), Lane: number,
		})
	}
	return s.lanes[number-1]
}

// learn records what an event states about its process.
func (t *ownerTable) learn(e *ntconv.Event) {
	if e.Thread == nil || e.Thread.Process == nil {
		return
	}
	info := t.infos[e.Thread.Process]
	if info == nil {
		info = new(recording.Process)
		t.infos[e.Thread.Process] = info
	}
	t.reader.Learn(info, e)
}

// finish assigns names, PIDs and TIDs to all processes and threads. Recorded numbers are used first, so that synthetic
// ones cannot take their place.
func (t *ownerTable) finish() {
	pids, tids := numbers{}, numbers{}
	for _, s := range t.processes {
		if p := s.Process.Process; p != nil {
			t.nameProcess(s)
			s.PID = pids.take(p.PID)
		}
	}
	t.usedTIDs = map[uint32]bool{}
	for _, s := range t.processes {
		if s.PID == 0 {
			s.PID = pids.next()
			t.countRenumbered(s.Process.Process != nil)
		}
		clear(tids.used)
		for _, k := range s.threads {
			k.Name = cmp.Or(t.namer.ThreadName(k.Thread), k.Thread.Name)
			k.TID = tids.take(k.Thread.TID)
		}
		for _, k := range s.threads {
			if k.TID == 0 {
				k.TID = tids.next()
				k.Name = cmp.Or(k.Name, nameWithoutTID(k.Thread))
				t.countRenumbered(k.Thread.TID != ntconv.TIDUnknown)
			}
			t.usedTIDs[k.TID] = true
		}
	}
	for _, k := range t.tracks {
		if k.Kind != ThreadTrack {
			k.TID = t.freeTID()
		}
	}
}

// nameWithoutTID returns the name of a thread that has neither a name nor a TID that outputs can show: readers would take
// the number that it gets instead for that of a thread.
func nameWithoutTID(t *ntconv.Thread) string {
	if t.TID == ntconv.TIDUnknown || t.TID == 0 {
		return "Unknown thread"
	}
	return "Thread " + strconv.FormatUint(t.TID, 10)
}

func (t *ownerTable) countRenumbered(recorded bool) {
	if recorded {
		t.renumbered++
	}
}

func (t *ownerTable) nameProcess(s *processState) {
	var info recording.Process
	if known := t.infos[s.Process.Process]; known != nil {
		info = *known
	}
	n := t.namer.Process(s.Process.Process)
	s.Command = cmp.Or(info.Command, n.CommandLine)
	s.Name = cmp.Or(n.Name, info.Name, s.Process.Process.Name)
	if s.Name == "" && s.Command != "" {
		s.Name = info.Service()
	}
}

// madeNumbers is the smallest synthetic PID or TID. It is greater than the IDs that operating systems assign and still
// fits into a positive 32-bit integer, which some viewers require.
const madeNumbers = 1_000_000_000

// freeTID returns a TID that no track of the timeline has.
func (t *ownerTable) freeTID() uint32 {
	t.lastTID = max(t.lastTID, 2*madeNumbers)
	for t.lastTID++; t.usedTIDs[t.lastTID]; {
		t.lastTID++
	}
	return t.lastTID
}

// numbers assigns distinct numbers.
type numbers struct {
	used map[uint32]bool
	last uint32
}

// take reserves a recorded number. It returns 0 if the number does not fit into 32 bits, is 0 or is already in use.
func (n *numbers) take(recorded uint64) uint32 {
	if recorded == 0 || recorded > math.MaxUint32 || n.used[uint32(recorded)] {
		return 0
	}
	if n.used == nil {
		n.used = map[uint32]bool{}
	}
	n.used[uint32(recorded)] = true
	return uint32(recorded)
}

// next reserves an unused synthetic number.
func (n *numbers) next() uint32 {
	for n.last = max(n.last, madeNumbers); ; {
		n.last++
		if id := n.take(uint64(n.last)); id != 0 {
			return id
		}
	}
}

func (t *ownerTable) list() []*Process {
	list := make([]*Process, len(t.processes))
	for i, s := range t.processes {
		list[i] = &s.Process
	}
	return list
}

// sorted returns all tracks except lanes, grouped by process.
func (t *ownerTable) sorted() []*Track {
	list := make([]*Track, 0, len(t.tracks))
	for _, s := range t.processes {
		list = append(list, s.Track)
		for _, k := range s.own {
			if k != nil {
				list = append(list, k)
			}
		}
		list = append(append(list, s.threads...), s.counters...)
	}
	return list
}
