package chrome

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// An importedEvents encodes the original members of events that were imported from this format. The timeline calls it
// during Write.
//
// The encoding of an event is one byte (noTime, eventTime or ownTime) and all other members of its object in JSON, each
// after a comma. Continuations of split events and invalid events have an empty encoding.
type importedEvents struct {
	decoder  *chromeevent.Decoder
	top      []topMember
	topBytes int
	omitted  int64        // members of the outermost object beyond maxTopBytes
	seen     bool         // an imported event has been encoded
	first    ntconv.Ticks // time of the first encoded event
	complete bool         // the first encoded event has the members by which speedscope recognizes the format
	named    map[nameKey]bool
}

// A nameKey identifies a process or thread that a metadata event names: the event's name, pid and tid as they appear in
// JSON. tid is "" for a process.
type nameKey struct{ event, pid, tid string }

// The first byte of an encoded event states which time it has.
const (
	noTime    = iota
	eventTime // the time of the trace event
	ownTime   // the file's time in nanoseconds as a varint: metadata events often have a time far before all others
)

// A topMember is a member of the outermost object of the imported file.
type topMember struct {
	name  string
	value []byte
}

// maxTopBytes limits the memory for members of the outermost object. Further members are counted in omitted.
const maxTopBytes = 64 << 20

func newImportedEvents(report *ntconv.Report) *importedEvents {
	return &importedEvents{decoder: chromeevent.NewDecoder(report), named: map[nameKey]bool{}}
}

// append implements timeline.Options.Raw. It encodes all events.
func (r *importedEvents) append(dst []byte, e *ntconv.Event) (_ []byte, ok bool) {
	c, ok := r.decoder.Decode(e)
	switch {
	case !ok:
		return dst, true
	case c.TopLevel:
		r.addTop(c)
		return dst, true
	}
	if !r.seen {
		const needed = chromeevent.HasCategory | chromeevent.HasPID | chromeevent.HasTID
		r.seen, r.complete = true, c.Has&needed == needed
		r.first = e.Time
	}
	r.note(c)
	switch {
	case c.Has&chromeevent.HasTime == 0:
		dst = append(dst, noTime)
	case c.Time == int64(e.Time):
		dst = append(dst, eventTime)
	default:
		dst = binary.AppendVarint(append(dst, ownTime), c.Time)
	}
	dst = chromeevent.AppendMembers(dst, c)
	dst = appendMember(dst, `,"pid":`, c.PID)
	return appendMember(dst, `,"tid":`, c.TID), true
}

// note records that an imported event names a process or a thread.
func (r *importedEvents) note(c *chromeevent.Event) {
	switch {
	case c.Phase != chromeevent.PhaseMetadata:
	case c.Name == processName:
		r.named[nameKey{processName, string(c.PID), ""}] = true
	case c.Name == threadName:
		r.named[nameKey{threadName, string(c.PID), string(c.TID)}] = true
	}
}

// names reports whether an imported event of this name names the process, or the thread tid of it.
func (r *importedEvents) names(event string, pid, tid uint32) bool {
	key := nameKey{event, strconv.FormatUint(uint64(pid), 10), ""}
	if event == threadName {
		key.tid = strconv.FormatUint(uint64(tid), 10)
	}
	return r.named[key]
}

// appendMember appends a member whose value is JSON. It appends nothing for a nil value.
func appendMember(dst []byte, name string, value []byte) []byte {
	if value == nil {
		return dst
	}
	return append(append(dst, name...), value...)
}

// addTop stores a member of the outermost object of the imported file. It copies the value, because c is reused.
func (r *importedEvents) addTop(c *chromeevent.Event) {
	if r.topBytes += len(c.Name) + len(c.Args); r.topBytes > maxTopBytes {
		r.omitted++
		return
	}
	r.top = append(r.top, topMember{c.Name, append([]byte(nil), c.Args...)})
}

// isWhole reports whether the timeline contains only events of an imported file.
func (r *importedEvents) isWhole(c track.Counts) bool {
	return c.Raw > 0 && c.Slices+c.Instants+c.Counters+c.Losses == 0
}

// shift returns the difference between times in the file and times of the timeline t, in nanoseconds. It is 0 if the
// ticks of the trace are not nanoseconds, because the importer always writes nanoseconds.
func (r *importedEvents) shift(clock *ntconv.Clock, t *timeline.Timeline) int64 {
	if clock.Freq != int64(time.Second) {
		return 0
	}
	return int64(r.first) - t.Since(r.first)
}

// raw writes an imported event with its original members. Its time is the time of the timeline, unless the whole trace
// is an imported file: then an event with ownTime keeps the time of the file.
func (e *encoder) raw(it *timeline.Item) {
	if len(it.Encoded) < 2 {
		return
	}
	kind, members := it.Encoded[0], it.Encoded[1:]
	at := it.Time + e.shift
	if kind == ownTime {
		own, n := binary.Varint(members)
		if n <= 0 || n == len(members) {
			return
		}
		if members = members[n:]; e.whole {
			at = own
		}
	}
	b := append(append(e.out.next(), '{'), members[1:]...) // without the first comma
	if kind != noTime {
		b = chromeevent.AppendMicros(append(b, `,"ts":`...), at)
	}
	if !e.o.Array {
		b = e.stack(b, it.Stack)
	}
	e.out.buf = append(b, '}')
}

// time appends a time of the timeline as it appears in the file.
func (e *encoder) time(b []byte, at int64) []byte { return chromeevent.AppendMicros(b, at+e.shift) }

// member returns the value of a member of the imported file's outermost object, or nil.
func (r *importedEvents) member(name string) []byte {
	for i := range r.top {
		if r.top[i].name == name {
			return r.top[i].value
		}
	}
	return nil
}

// importedMembers writes the members of the imported file's outermost object that follow traceEvents. The importer does
// not keep stackFrames and samples among them.
func (e *encoder) importedMembers() {
	for _, m := range e.imported.top {
		b := append(e.text(append(e.out.buf, ','), m.name), ':')
		e.out.buf = append(b, m.value...)
	}
}
