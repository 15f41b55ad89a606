package timeline_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A script converts text to events, so that tests are readable. A line is: time in ns, thread as process.thread, event.
//
//	start NAME ID, stop NAME ID    of an event source; then activity=N and related=N
//	event NAME                     of an event source; then stack=PC,PC (leaf first)
//	lost N
//	clr ID VERSION U32...          of the runtime, with a payload of 32-bit numbers
//	sample                         of the sample profiler; then stack=
//	mark
type script struct {
	testing.TB
	processes map[uint64]*ntconv.Process
	threads   map[string]*ntconv.Thread
	types     map[string]*ntconv.Type
}

func newScript(tb testing.TB) *script {
	return &script{tb, map[uint64]*ntconv.Process{}, map[string]*ntconv.Thread{}, map[string]*ntconv.Type{}}
}

var wall = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

func info() *ntconv.Info {
	return &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: wall}, PointerSize: 8}
}

func (s *script) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *script) thread(text string) *ntconv.Thread {
	pid, tid, _ := strings.Cut(text, ".")
	t := s.threads[text]
	if t == nil {
		n := s.number(pid)
		p := s.processes[n]
		if p == nil {
			p = &ntconv.Process{PID: n, PointerSize: 8}
			s.processes[n] = p
		}
		t = &ntconv.Thread{TID: s.number(strings.TrimRight(tid, "'")), Process: p}
		s.threads[text] = t
	}
	return t
}

// source returns the type of an event of an event source.
func (s *script) source(name string, opcode uint8) *ntconv.Type {
	t := s.types[name]
	if t == nil {
		t = &ntconv.Type{Provider: "App", ID: uint32(len(s.types) + 1), Name: name, Opcode: opcode, HasOpcode: true, Fields: []ntconv.Field{
			{Name: "id", Type: ntconv.FieldType{Code: ntconv.TypeInt32}},
		}}
		s.types[name] = t
	}
	return t
}

func (s *script) runtime(provider string, id, version uint64) *ntconv.Type {
	key := fmt.Sprint(provider, id, version)
	t := s.types[key]
	if t == nil {
		t = &ntconv.Type{Provider: provider, ID: uint32(id), Version: uint8(version)}
		s.types[key] = t
	}
	return t
}

// events returns the events of a script.
func (s *script) events(text string) (events []*ntconv.Event) {
	s.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		e := &ntconv.Event{CPU: ntconv.CPUUnknown, Offset: -1, Time: ntconv.Ticks(s.number(words[0])), Thread: s.thread(words[1])}
		e.Capture = e.Thread
		words = s.options(e, words[2:])
		switch what, args := words[0], words[1:]; what {
		case "start":
			e.Type, e.Payload = s.source(args[0]+"Start", 1), binary.LittleEndian.AppendUint32(nil, uint32(s.number(args[1])))
		case "stop":
			e.Type, e.Payload = s.source(args[0]+"Stop", 2), binary.LittleEndian.AppendUint32(nil, uint32(s.number(args[1])))
		case "event":
			e.Type, e.Payload = s.source(args[0], 0), []byte{1, 0, 0, 0}
		case "clr":
			e.Type = s.runtime("Microsoft-Windows-DotNETRuntime", s.number(args[0]), s.number(args[1]))
			for _, n := range args[2:] {
				e.Payload = binary.LittleEndian.AppendUint32(e.Payload, uint32(s.number(n)))
			}
		case "rundown":
			e.Type = s.runtime("Microsoft-Windows-DotNETRuntimeRundown", 144, 0)
		case "sample":
			e.Type, e.Payload = s.runtime("Microsoft-DotNETCore-SampleProfiler", 0, 0), []byte{2, 0, 0, 0}
		case "lost":
			e.Kind, e.Lost, e.Thread = ntconv.KindLost, uint32(s.number(args[0])), nil
		default:
			s.Fatalf("unknown event %q", line)
		}
		events = append(events, e)
	}
	return events
}

// options removes the words of the form NAME=VALUE and applies them.
func (s *script) options(e *ntconv.Event, words []string) (rest []string) {
	var labels []ntconv.Label
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case !ok:
			rest = append(rest, w)
		case name == "stack":
			e.Stack = new(ntconv.Stack)
			for pc := range strings.SplitSeq(value, ",") {
				e.Stack.PCs = append(e.Stack.PCs, s.number(pc))
			}
		case name == "activity":
			labels = append(labels, ntconv.Label{Kind: ntconv.LabelActivityID, ID: [16]byte{15: byte(s.number(value))}})
		case name == "related":
			labels = append(labels, ntconv.Label{Kind: ntconv.LabelRelatedActivityID, ID: [16]byte{15: byte(s.number(value))}})
		default:
			s.Fatalf("unknown option %q", w)
		}
	}
	if labels != nil {
		e.Labels = ntconv.NewLabels(labels)
	}
	return rest
}

// chromeEvents returns the events of a trace for events of Chrome's format in time order, one per line.
func chromeEvents(text string) (events []*ntconv.Event) {
	var parser chromeevent.Parser
	encoder, owners := chromeevent.NewEncoder(), new(chromeevent.Owners)
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var c chromeevent.Event
		parser.Parse([]byte(strings.TrimSpace(line)), &c)
		thread := owners.Thread(c.PID, c.TID)
		encoder.Encode(&c, &ntconv.Event{Thread: thread, Capture: thread, CPU: ntconv.CPUUnknown, Time: ntconv.Ticks(c.Time)})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			kept := *e
			kept.Payload = slices.Clone(e.Payload)
			events = append(events, &kept)
		}
	}
	return events
}

// arrangeEvents returns the timeline of events, whose properties it checks, and its items as text.
func arrangeEvents(tb testing.TB, events []*ntconv.Event, o *timeline.Options) (*timeline.Timeline, string) {
	tb.Helper()
	tl := buildFrom(tb, ntconvtest.NewSource(info(), events...), nil, o)
	check(tb, tl)
	if n := tl.Accounted(); n != tl.Counts().Events {
		tb.Errorf("%d of %d events are accounted for", n, tl.Counts().Events)
	}
	var b strings.Builder
	if err := tl.Each(func(it *timeline.Item) error {
		describe(&b, it)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return tl, b.String()
}

var kinds = [...]string{
	timeline.SliceBegin: "begin", timeline.SliceEnd: "end", timeline.Instant: "instant", timeline.Counter: "counter", timeline.Sample: "sample",
	timeline.FlowBegin: "from", timeline.FlowEnd: "to", timeline.Raw: "raw",
}

// describe appends an item as a line: time, track, kind, name, and all other members that are not zero.
func describe(b *strings.Builder, it *timeline.Item) {
	track := it.Track.Name
	if it.Track.Kind == timeline.ThreadTrack || it.Track.Kind == timeline.ProcessTrack {
		track = fmt.Sprint(it.Track.Process.PID)
		if it.Track.Kind == timeline.ThreadTrack {
			track += "." + fmt.Sprint(it.Track.TID)
		}
	}
	fmt.Fprintf(b, "%d %s %s %s", it.Time, track, kinds[it.Kind], it.Name)
	if it.Kind == timeline.SliceBegin {
		fmt.Fprintf(b, " %d", it.Duration)
	}
	if it.Unfinished {
		b.WriteString(" unfinished")
	}
	if it.EndThread != nil {
		fmt.Fprintf(b, " ends on %d", it.EndThread.TID)
	}
	if it.Stack != timeline.NoStack {
		fmt.Fprintf(b, " stack %d", it.Stack)
	}
	if it.Bytes != 0 {
		fmt.Fprintf(b, " bytes %d", it.Bytes)
	}
	if it.Kind == timeline.Counter {
		fmt.Fprintf(b, " %v", it.Value)
	}
	if it.Weight != nil {
		fmt.Fprintf(b, "%v until %d", it.Weight.Values, it.Weight.Until)
	}
	if it.Encoded != nil {
		fmt.Fprintf(b, " (%s)", it.Encoded)
	}
	b.WriteByte('\n')
}

// want compares text; it ignores indentation.
func want(tb testing.TB, got, text string) {
	tb.Helper()
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	if got != b.String() {
		tb.Errorf("got\n%s\nwant\n%s", got, b.String())
	}
}
