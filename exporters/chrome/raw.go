package chrome

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
)

// An importedEvents recognizes events that were imported from this format, and encodes them as they were. It is called
// while events are written.
//
// What it encodes is a byte that says which time the event has, and all other members of its object in JSON, each after
// a comma. Nothing is encoded of parts of events and of what is invalid.
type importedEvents struct {
	decoder *chromeevent.Decoder
	known   map[*ntconv.Type]bool
	last    *ntconv.Type
	isLast  bool // last is a type of events that were imported

	top      []topMember
	topBytes int
	omitted  int64        // members of the outermost object beyond maxTopBytes
	seen     bool         // an event of the file has been encoded
	first    ntconv.Ticks // when the first one was in the trace
	complete bool         // the first one has the members by which speedscope recognizes the format
	named    map[nameKey]bool
}

// A nameKey is what an imported event names: the event's name, and the numbers as they are in JSON. tid is "" for a
// process.
type nameKey struct{ event, pid, tid string }

// The times of events that were imported.
const (
	noTime    = iota
	eventTime // that of the event of the trace
	ownTime   // nanoseconds in the file, as a varint: it is far before all other events, as that of metadata often is
)

// A topMember is a member of the outermost object of the file that was imported.
type topMember struct {
	name  string
	value []byte
}

// maxTopBytes bounds the memory for members of the outermost object.
const maxTopBytes = 64 << 20

func newImportedEvents(report *ntconv.Report) *importedEvents {
	return &importedEvents{
		decoder: chromeevent.NewDecoder(report),
		known:   map[*ntconv.Type]bool{},
		named:   map[nameKey]bool{},
	}
}

// append is timeline.Options.Raw.
func (r *importedEvents) append(dst []byte, e *ntconv.Event) (_ []byte, ok bool) {
	if e.Type != r.last {
		imported, known := r.known[e.Type]
		if !known {
			_, imported = chromeevent.Of(e.Type)
			r.known[e.Type] = imported
		}
		r.last, r.isLast = e.Type, imported
	}
	if !r.isLast {
		return dst, false
	}
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

// note notes an event that names a process or a thread. Its memory follows those.
func (r *importedEvents) note(c *chromeevent.Event) {
	switch {
	case c.Phase != chromeevent.PhaseMetadata:
	case c.Name == processName:
		r.named[nameKey{processName, string(c.PID), ""}] = true
	case c.Name == threadName:
		r.named[nameKey{threadName, string(c.PID), string(c.TID)}] = true
	}
}

// names reports whether an imported event names a process, or a thread of it.
func (r *importedEvents) names(event string, pid, tid uint32) bool {
	key := nameKey{event, strconv.FormatUint(uint64(pid), 10), ""}
	if event == threadName {
		key.tid = strconv.FormatUint(uint64(tid), 10)
	}
	return r.named[key]
}

// appendMember appends a member whose value is JSON, if there is one.
func appendMember(dst []byte, name string, value []byte) []byte {
	if value == nil {
		return dst
	}
	return append(append(dst, name...), value...)
}

func (r *importedEvents) addTop(c *chromeevent.Event) {
	if r.topBytes += len(c.Name) + len(c.Args); r.topBytes > maxTopBytes {
		r.omitted++
		return
	}
	r.top = append(r.top, topMember{c.Name, append([]byte(nil), c.Args...)})
}

// isWhole reports whether a timeline holds nothing but an imported file.
func (r *importedEvents) isWhole(c timeline.Counts) bool {
	return c.Raw > 0 && c.Slices+c.Instants+c.Counters+c.Losses == 0
}

// shift returns what times of the file have in addition to those of a timeline that begins at start. The ticks of such
// a file are nanoseconds.
func (r *importedEvents) shift(clock *ntconv.Clock, start time.Time) int64 {
	if start.IsZero() || clock.Freq != int64(time.Second) {
		return 0
	}
	return int64(r.first) - int64(clock.Time(r.first).Sub(start))
}

// raw writes an event as it was. Its time is that of the timeline, or its own if the whole trace is an imported file.
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
		b = appendMicros(append(b, `,"ts":`...), at)
	}
	if !e.o.Array {
		b = e.stack(b, it.Stack)
	}
	e.out.buf = append(b, '}')
}

// time appends a time of the timeline.
func (e *encoder) time(b []byte, at int64) []byte { return appendMicros(b, at+e.shift) }

// has reports whether an imported file has a member of the outermost object.
func (r *importedEvents) has(name string) bool {
	return slices.ContainsFunc(r.top, func(m topMember) bool { return m.name == name })
}

// importedHeader writes the members of the outermost object of an imported file. Stack frames and samples are not among
// them.
func (e *encoder) importedHeader() {
	for _, m := range e.imported.top {
		b := append(e.text(e.member(), m.name), ':')
		e.out.buf = append(b, m.value...)
	}
}
