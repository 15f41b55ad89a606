package perfetto

import (
	"strings"

	"github.com/ntconv/ntconv/internal/timeline"
)

// Order of the tracks of a process that are not threads.
const (
	rankGC = iota
	rankCollections
	rankLosses
	rankLanes
	rankCounters
)

// IDs of the sequences; the package comment lists them.
const (
	sequenceEvents   = 1
	sequenceKinds    = 1       // plus the number of a kind of profile up to sample.Imported
	sequenceThreads  = 16      // plus the track ID
	sequenceComputed = 1 << 31 // plus the number of another kind of profile
)

// begin writes the first packets: the clock of the event sequence, the strings that args refer to, and the tracks that
// are known already.
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

// startSequence writes the first packet of a sequence with a clock of its own. Timestamps of this clock are nanoseconds
// since the previous packet of the sequence. The snapshot relates it to the clocks of a trace, which all show the time
// since 1970-01-01 UTC. defaults are fields of TracePacketDefaults.
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

// maxInternedPacket is the size in bytes from which interned strings continue in another packet.
const maxInternedPacket = 64 << 10

// strings writes the strings of a table with their IDs.
func (e *encoder) strings(field uint64, t *stringTable) {
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

// labelOf returns the name of a track that is not a thread, and its rank among the tracks of its process. All lanes of
// a process have the same name, because the UI merges tracks with the same name and parent.
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

// appendCounter appends the descriptor of a counter. Perfetto has enumerators for three units; other units are text,
// which older versions do not show.
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
