package imported

import (
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// SyncTick is the tick at which traces of imported profiles begin, in nanoseconds. It is not 0, because some readers
// treat 0 as unknown.
const SyncTick = 1_000_000_000

// SampleType returns the event type of samples with this origin and weight. id is unique among the types of a trace.
func SampleType(id uint32, o *Origin, w *Weight) *ntconv.Type {
	t := &ntconv.Type{Provider: clr.UniversalEvents, ID: id, Name: "cpu", Fields: o.Fields(), Attrs: o.Attrs()}
	if len(o.Types) > 0 {
		t.Attrs = append(t.Attrs, ntconv.Attr{Key: AttrWeight, Value: o.Types[w.Column].Type}, ntconv.Attr{Key: AttrWeightUnit, Value: w.Unit()})
	}
	return t
}

// Definition returns the event that defines a type. Sources of samples deliver it first, so that a profile without
// samples keeps its description.
func Definition(t *ntconv.Type) ntconv.Event {
	return ntconv.Event{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Type: t}
}

// attrCPUs is the attribute of a trace with its number of CPUs.
const attrCPUs = "HardwareThreadCount"

// Samples makes the events of samples of one type. It is the part of a source that does not depend on its format. It is
// not safe for concurrent use.
type Samples struct {
	Type    *ntconv.Type
	Capture *ntconv.Thread // of all events
	info    ntconv.Info
	weight  Weight
	seq     uint32 // of the latest event
	event   ntconv.Event
	payload []byte
}

// NewSamples returns the Samples of a profile in a format. Choose must have been called for w. wall is the time of
// SyncTick; the zero Time means that it is unknown. Comments and expressions of o that are too large for a trace are
// dropped and counted in report (CodeNotCarried).
func NewSamples(format string, o *Origin, w Weight, wall time.Time, report *ntconv.Report) Samples {
	o.Shorten(report)
	s := Samples{Type: SampleType(1, o, &w), Capture: &ntconv.Thread{Process: &ntconv.Process{PID: 0}}, weight: w}
	s.info = ntconv.Info{
		Format: format, PointerSize: 8, Clock: ntconv.Clock{Freq: 1e9, Tick: SyncTick, Wall: wall},
		Attrs: ntconv.Attrs{{Key: attrCPUs, Value: "1"}}, // samples are of CPU 0 unless they name another one
	}
	if n := o.Period; n > 0 && o.PeriodType.Unit == "nanoseconds" {
		s.info.Attrs = append(s.info.Attrs, ntconv.Attr{Key: "ExpectedCPUSamplingRate", Value: fmt.Sprint(n)})
	}
	return s
}

// setCPUs states the number of CPUs; 0 means that no sample names one.
func (s *Samples) setCPUs(n int64) {
	at := slices.IndexFunc(s.info.Attrs, func(a ntconv.Attr) bool { return a.Key == attrCPUs })
	s.info.Attrs[at].Value = fmt.Sprint(max(n, 1))
}

// Info implements ntconv.Source.
func (s *Samples) Info() *ntconv.Info { return &s.info }

// Seq returns the sequence number of the next event. 0 is not a valid number, so it is skipped on overflow.
func (s *Samples) Seq() uint32 {
	s.seq = max(s.seq+1, 1)
	return s.seq
}

// Definition returns the event that defines the type.
func (s *Samples) Definition() *ntconv.Event {
	s.event = Definition(s.Type)
	return &s.event
}

// A Sample is a sample without what Samples adds.
type Sample struct {
	Time   ntconv.Ticks
	Offset int64 // in the input; -1 if unknown
	CPU    int32 // as in ntconv.Event
	Thread *ntconv.Thread
	Labels *ntconv.Labels
	Stack  *ntconv.Stack
	Values []int64 // one per sample type
}

// Event returns the event of a sample. The event and its payload are valid until the next call.
func (s *Samples) Event(in *Sample) *ntconv.Event {
	s.payload = s.weight.AppendTo(s.payload[:0], in.Values)
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, Flags: ntconv.FlagSorted, Seq: s.Seq(), Time: in.Time, CPU: in.CPU, Offset: in.Offset,
		Type: s.Type, Thread: in.Thread, Labels: in.Labels, Capture: s.Capture, Stack: in.Stack, Payload: s.payload,
	}
	return &s.event
}

// maxAttrs is the maximum size of a type's attributes in bytes: a metadata row of a nettrace file has at most 65,535
// bytes.
const maxAttrs = 48 << 10

// Shorten drops the longest comments and expressions until the attributes fit into the type.
func (o *Origin) Shorten(report *ntconv.Report) {
	attrs := o.Attrs()
	size := sizeOf(attrs)
	if size <= maxAttrs {
		return
	}
	keys := attrs[len(attrs)-len(o.Comments):] // numbered, so dropping a comment removes the last key
	byLength := make([]int, len(o.Comments))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return len(o.Comments[b]) - len(o.Comments[a]) })
	out := make([]bool, len(o.Comments))
	for size > maxAttrs {
		text := &o.DropFrames
		for _, t := range []*string{&o.KeepFrames, &o.DocURL} {
			if len(*t) > len(*text) {
				text = t
			}
		}
		switch {
		case len(byLength) > 0 && len(o.Comments[byLength[0]]) >= len(*text):
			longest, last := byLength[0], len(byLength)-1
			size -= len(keys[last].Key) + len(o.Comments[longest])
			out[longest], byLength = true, byLength[1:]
		case *text != "":
			with := sizeOf(o.Attrs())
			*text = ""
			size -= with - sizeOf(o.Attrs())
		default:
			size = 0 // the limit on sample types bounds the other attributes
			continue
		}
		report.Note(ntconv.CodeNotCarried, 1, -1, "comments and expressions beyond 48 KiB")
	}
	var kept []string
	for i, c := range o.Comments {
		if !out[i] {
			kept = append(kept, c)
		}
	}
	o.Comments = kept
}

func sizeOf(attrs ntconv.Attrs) (n int) {
	for _, a := range attrs {
		n += len(a.Key) + len(a.Value)
	}
	return n
}
