package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/timeline"
)

// metadataCategory is the category that Chrome gives metadata events. speedscope finds profiles only if the first event
// of a file has a category.
const metadataCategory = `"cat":"__metadata"`

// Sort indexes of process tracks that are not threads; they come first. Thread n has the index 2n, its track of samples
// 2n+1.
const (
	sortGC = iota - 3
	sortCollections
	sortLosses
)

// Names of the metadata events that name processes and threads.
const (
	processName = "process_name"
	threadName  = "thread_name"
)

// writeNames writes the metadata events that name and sort processes and threads.
func (e *encoder) writeNames() {
	for i, p := range e.trace.Processes() {
		if p.Name != "" {
			e.meta(p.PID, p.PID, processName, "name", p.Name)
		}
		if p.Command != "" {
			e.meta(p.PID, p.PID, "process_labels", "labels", p.Command)
		}
		e.metaNumber(p.PID, p.PID, "process_sort_index", i)
	}
	for i, t := range e.trace.Tracks() {
		order := 2 * i
		switch t.Kind {
		case timeline.CounterTrack, timeline.LaneTrack, timeline.ProcessTrack: // a name would show an empty track
			continue
		case timeline.GCTrack:
			order = sortGC
		case timeline.CollectionTrack:
			order = sortCollections
		case timeline.LossTrack:
			order = sortLosses
		}
		e.nameThread(t.Process.PID, tidOf(t), nameOf(t), order)
		if s, ok := e.samples.(*sliceSampler); ok && t.Kind == timeline.ThreadTrack {
			e.nameThread(t.Process.PID, s.tid(t), nameOf(t)+" samples", order+1)
		}
	}
}

// writeMissingNames writes the names that an imported file had, but whose events a selection omitted.
func (e *encoder) writeMissingNames() {
	for _, p := range e.trace.Processes() {
		if p.Name != "" && !e.imported.names(processName, p.PID, 0) {
			e.meta(p.PID, p.PID, processName, "name", p.Name)
		}
	}
	for _, t := range e.trace.Tracks() {
		if t.Kind == timeline.ThreadTrack && t.Name != "" && !t.Renumbered() && !e.imported.names(threadName, t.Process.PID, t.TID) {
			e.meta(t.Process.PID, t.TID, threadName, "name", t.Name)
		}
	}
}

// nameOf returns the name of a track. A thread without a name is named by its TID: otherwise speedscope shows the file
// name.
func nameOf(t *timeline.Track) string {
	if t.Name == "" && t.Kind == timeline.ThreadTrack {
		return "Thread " + strconv.FormatUint(uint64(tidOf(t)), 10)
	}
	return t.Name
}

func (e *encoder) nameThread(pid, tid uint32, name string, order int) {
	if name != "" {
		e.meta(pid, tid, threadName, "name", name)
	}
	e.metaNumber(pid, tid, "thread_sort_index", order)
}

// tidOf returns the tid that represents a track, the PID for tracks without a TID.
func tidOf(t *timeline.Track) uint32 {
	if t.TID == 0 {
		return t.Process.PID
	}
	return t.TID
}

// metaHead appends a metadata event up to its args.
func (e *encoder) metaHead(pid, tid uint32, name string) []byte {
	b := append(e.out.next(), `{"ph":"M",`+metadataCategory+`,"name":"`...)
	b = append(append(b, name...), `","pid":`...)
	b = strconv.AppendUint(b, uint64(pid), 10)
	b = strconv.AppendUint(append(b, `,"tid":`...), uint64(tid), 10)
	return append(b, `,"ts":0,"args":{"`...)
}

func (e *encoder) meta(pid, tid uint32, name, arg, value string) {
	b := append(append(e.metaHead(pid, tid, name), arg...), `":`...)
	e.out.buf = append(e.text(b, value), '}', '}')
}

func (e *encoder) metaNumber(pid, tid uint32, name string, n int) {
	b := strconv.AppendInt(append(e.metaHead(pid, tid, name), `sort_index":`...), int64(n), 10)
	e.out.buf = append(b, '}', '}')
}

// A tidSet finds TIDs that no track of a process uses.
type tidSet struct {
	used map[uint32]bool
	next uint32
}

// tidSets returns the TIDs in use, per process.
func tidSets(tracks []*timeline.Track) map[*timeline.Process]*tidSet {
	sets := map[*timeline.Process]*tidSet{}
	for _, t := range tracks {
		s := sets[t.Process]
		if s == nil {
			s = &tidSet{used: map[uint32]bool{}, next: 1}
			sets[t.Process] = s
		}
		s.used[tidOf(t)] = true
	}
	return sets
}

// take returns an unused TID and marks it as used.
func (s *tidSet) take() uint32 {
	for s.used[s.next] {
		s.next++
	}
	s.used[s.next] = true
	return s.next
}
