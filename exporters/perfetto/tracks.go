package perfetto

import (
	"strings"

	"github.com/ntconv/ntconv/internal/timeline"
)

// Order of the tracks of a process that are not its threads.
const (
	rankGC = iota
	rankCollections
	rankLosses
	rankLanes
	rankCounters
)

// Sequences: see the comment of the package.
const (
	sequenceEvents  = 1
	sequenceKinds   = 1  // plus the number of a profile kind
	sequenceThreads = 16 // plus the number of a track
)

// begin writes the first packets: the clock of the sequence of events, the strings that args refer to, and all tracks
// that are known.
func (e *encoder) begin(tracks []*timeline.Track, args *argEncoder) error {
	e.startSequence(sequenceEvents, nil)
	e.strings(internedNames, &e.names)
	e.strings(internedCategories, &e.categories)
	e.strings(internedArgNames, &args.names)
	e.strings(internedStringValues, &args.values)
	for _, t := range tracks {
		e.track(t)
	}
	return e.flush()
}

// startSequence writes the first packet of a sequence with a clock of its own. Its timestamps are nanoseconds since the
// previous packet of the sequence; the snapshot relates them to the clocks of a trace, which all show the time since
// 1970-01-01 UTC. defaults are fields of TracePacketDefaults.
func (e *encoder) startSequence(id uint64, defaults []byte) {
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetSequence, id)
	b = appendUint(b, packetSequenceFlags, flagStateCleared)
	b, m := openMessage(b, packetDefaults)
	b = appendUint(b, defaultsClock, clockSequence)
	b = closeMessage(append(b, defaults...), m)
	b, m = openMessage(b, packetClockSnapshot)
	for _, clock := range [...]uint64{clockBoottime, clockRealtime, clockMonotonic, clockSequence} {
		var c int
		b, c = openMessage(b, snapshotClock)
		b = appendUint(b, clockID, clock)
		b = appendUint(b, clockTimestamp, e.start)
		if clock == clockSequence {
			b = appendUint(b, clockIncremental, 1)
		}
		b = closeMessage(b, c)
	}
	b = closeMessage(b, m)
	e.buf = closeMessage(b, packet)
}

// maxInternedPacket is the size from which interned strings continue in another packet.
const maxInternedPacket = 64 << 10

// strings writes the strings of a table.
func (e *encoder) strings(field uint64, t *textTable) {
	for i := 0; i < len(t.list); {
		b, packet := openMessage(e.buf, tracePacket)
		b = appendUint(b, packetSequence, sequenceEvents)
		b, m := openMessage(b, packetInternedData)
		for start := len(b); i < len(t.list) && len(b)-start < maxInternedPacket; i++ {
			b = appendEntry(b, field, uint64(i+1), valid(t.list[i]))
		}
		e.buf = closeMessage(closeMessage(b, m), packet)
	}
}

// track writes the descriptor of a track.
func (e *encoder) track(t *timeline.Track) {
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetSequence, sequenceEvents)
	b, m := openMessage(b, packetTrackDescriptor)
	b = appendUint(b, trackUUID, uint64(t.ID))
	if t.Kind != timeline.ProcessTrack && t.Process.Track != nil {
		b = appendUint(b, trackParent, uint64(t.Process.Track.ID))
	}
	switch t.Kind {
	case timeline.ProcessTrack:
		b = appendUint(appendProcess(b, t.Process), trackChildOrdering, orderingExplicit)
	case timeline.ThreadTrack:
		var thread int
		b, thread = openMessage(b, trackThread)
		b = closeMessage(appendThread(b, t), thread)
	case timeline.CounterTrack:
		b = appendText(b, trackName, t.Name)
		b = appendUint(b, trackOrderRank, rankCounters)
		b = appendCounter(b, t.Unit)
	default:
		name, rank := labelOf(t)
		b = appendText(b, trackName, name)
		b = appendUint(b, trackOrderRank, rank)
	}
	e.buf = closeMessage(closeMessage(b, m), packet)
	e.described[t] = struct{}{}
}

// labelOf returns the name of a track that is not a thread, and its place among the tracks of its process. The lanes of
// a process have one name, because the UI shows tracks with the same name and parent as one.
func labelOf(t *timeline.Track) (name string, rank uint64) {
	switch t.Kind {
	case timeline.GCTrack:
		name, rank = "GC pauses", rankGC
	case timeline.CollectionTrack:
		name, rank = "Garbage collections", rankCollections
	case timeline.LossTrack:
		name, rank = "Lost events", rankLosses
	default:
		return "Async operations", rankLanes
	}
	if t.Name != "" {
		name = t.Name
	}
	return name, rank
}

func appendProcess(b []byte, p *timeline.Process) []byte {
	b, m := openMessage(b, trackProcess)
	b = appendUint(b, processPID, uint64(p.PID))
	if p.Command != "" {
		b = appendText(b, processCmdline, p.Command)
	}
	if p.Name != "" {
		b = appendText(b, processName, p.Name)
	}
	return closeMessage(b, m)
}

// appendThread appends the fields of a ThreadDescriptor.
func appendThread(b []byte, t *timeline.Track) []byte {
	b = appendUint(b, threadPID, uint64(t.Process.PID))
	b = appendUint(b, threadTID, uint64(t.TID))
	if t.Name != "" {
		b = appendText(b, threadName, t.Name)
	}
	return b
}

// appendCounter appends the descriptor of a counter. Perfetto knows three units; others are text, which older versions
// do not show.
func appendCounter(b []byte, unit string) []byte {
	b, m := openMessage(b, trackCounter)
	switch strings.ToLower(unit) {
	case "":
	case "ns", "nanoseconds":
		b = appendUint(b, counterUnit, unitNanoseconds)
	case "b", "by", "byte", "bytes", "{byte}":
		b = appendUint(b, counterUnit, unitBytes)
	case "count":
		b = appendUint(b, counterUnit, unitCount)
	default:
		b = appendText(b, counterUnitName, unit)
	}
	return closeMessage(b, m)
}
