// Package pprof reads profiles in the format of profile.proto, and the older text and binary formats that google/pprof
// reads, as a source of events.
//
// Every sample becomes one event Universal.Events/cpu, which PerfView knows. Its first field, Value, is the weight: the
// value of one type of the profile, in milliseconds where it is a time. A field for every type follows, with the value
// as it is. What else a profile says about itself stands in the attributes of the event's type (docs/pprof.md lists
// them), and exporters/pprof makes the same profile of it again.
//
// # Names
//
// Stacks have frames with names and no PCs. A format that holds only addresses needs symbol.Synthesize.
//
// # Time
//
// A sample with a label end_timestamp_ns, timestamp_ns or timestamp (nanoseconds since 1970) has that time. All others
// are spread evenly over the profile's duration, in their order.
//
// # Processes and threads
//
// Labels pid, "thread id" and thread, in their usual spellings, say whose a sample is. Without them there is one
// process with ID 1 and one thread. Threads that have only names get IDs of their own. A process has the name that a
// label (process, process_name, "process name") states. Without one it has the name of the file that most of its stacks
// begin in, because PerfView treats other stacks as broken.
package pprof

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/origin"
	"github.com/ntconv/ntconv/internal/pproflegacy"
)

// Options change how a profile is read. The zero value is a good choice.
type Options struct {
	// SampleType is the type of value that becomes the weight of an event, by name. Empty: the one that the profile
	// shows first. If several types have the same name, NAME#2 is the second of them, NAME#3 the third.
	SampleType string
	// LabelFrames are keys of labels that are also made frames, the first one outermost, for viewers that show no
	// labels.
	LabelFrames []string
	// OnLabel, if not nil, is called by New for every label of every sample, in their order, with the key of the label.
	// It shows which keys a profile has before the first event, for example whether those of LabelFrames exist.
	OnLabel func(key string)
	Limits  Limits
	// Decompression has the limits for profiles that are compressed with gzip or zstd. Limits.Bytes holds in addition.
	Decompression ntconv.DecompressionLimits
	Report        *ntconv.Report // may be nil
}

// New reads a profile, compressed with gzip, zstd or not at all, and returns it as events. It reads r to its end. The
// source holds the decompressed profile and its decoded tables.
//
// A defect of the profile is an *ntconv.FormatError with its place, which wraps ntconv.ErrTruncated, ErrCorrupt,
// ErrLimit, or ErrFormat if the input is empty. If the profile does not have Options.SampleType, the error is a
// *SampleTypeError. Errors of r are returned unchanged.
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	in, err := iox.FromReader("profile", r, iox.InputOptions{Limits: iox.LimitsOf(o.Decompression)})
	if err != nil {
		return nil, err
	}
	stream, err := in.Stream()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	data, err := readAll(stream, o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	m, err := decode(data, &o)
	if err != nil {
		return nil, err
	}
	s := &source{message: m, o: &o}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s, nil
}

// readAll reads at most that many bytes.
func readAll(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	var read *iox.Error
	if errors.As(err, &read) && read.Op == "read" {
		err = read.Err // r knows its name
	}
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, located(
			most,
			"profile",
			&ntconv.LimitError{Limit: LimitBytes, Value: int64(most), Asked: int64(len(data)), Unit: "bytes"},
		)
	}
	return data, nil
}

// decode reads a profile in any of its formats.
func decode(data []byte, o *Options) (*message, error) {
	m, err := decodeProto(data, o)
	if err == nil || !pproflegacy.Match(data) {
		return m, err
	}
	if n := pproflegacy.Lookups(data); n > maxLookups {
		return nil, located(
			0,
			"profile in one of the older formats",
			&ntconv.LimitError{Limit: LimitLookups, Value: maxLookups, Asked: n},
		)
	}
	if data, err = pproflegacy.Convert(data); err != nil {
		return nil, located(0, "profile in one of the older formats", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
	}
	return decodeProto(data, o)
}

// A source yields the samples of a message.
type source struct {
	*message
	o    *Options
	info ntconv.Info

	origin  origin.Origin
	weight  origin.Weight
	typ     *ntconv.Type
	capture *ntconv.Thread
	owners  owners
	times   []int64  // by sample, nanoseconds since 1970 or untimed; nil if no sample has a time of its own
	order   []uint32 // of samples by time; nil: as they are

	defined  bool // the type was delivered
	next     int
	sample   sample
	event    ntconv.Event
	payload  []byte
	stacks   cache[*ntconv.Stack]
	labels   cache[*ntconv.Labels]
	tagNames map[tagKey]*ntconv.Function
}

// syncTick is the tick at which traces begin. It is not zero, which some readers take for unknown.
const syncTick = 1_000_000_000

// prepare looks at all samples and finds out what must be known before the first event.
func (s *source) prepare() error {
	var err error
	if s.origin, err = s.header.origin(&s.texts); err != nil {
		return err
	}
	if err := s.chooseWeight(); err != nil {
		return err
	}
	s.owners = newOwners(s.message)
	s.sample.values = make([]int64, 0, len(s.origin.Types))
	frames, most := int64(0), s.limits.frames(len(s.data))
	for i := range s.samples {
		if err := s.read(i, &s.sample); err != nil {
			return err
		}
		if frames += min(s.depth(s.sample.locations), int64(s.limits.Stack)); frames > most {
			return located(
				int(s.samples[i]),
				fmt.Sprintf("sample %d", i),
				&ntconv.LimitError{Limit: LimitFrames, Value: most, Asked: frames},
			)
		}
		s.weight.Try(s.sample.values[s.weight.Column])
		s.owners.count(&s.sample)
		if see := s.o.OnLabel; see != nil {
			for i := range s.sample.labels {
				see(s.sample.labels[i].key)
			}
		}
		s.time(i, &s.sample)
	}
	s.weight.Choose()
	s.owners.name()
	s.describe()
	return nil
}

// chooseWeight finds the type of value that becomes the weight.
func (s *source) chooseWeight() error {
	column := s.origin.Main()
	if name := s.o.SampleType; name != "" {
		names := origin.TypeNames(s.origin.Types)
		if column = slices.Index(names, name); column < 0 {
			return &SampleTypeError{Name: name, Has: names}
		}
	}
	unit := ""
	if column < len(s.origin.Types) {
		unit = s.origin.Types[column].Unit
	}
	s.weight = origin.NewWeight(column, unit)
	return nil
}

// A SampleTypeError says that a profile has no values of the type that Options.SampleType names.
type SampleTypeError struct {
	Name string
	Has  []string // types that it has
}

func (e *SampleTypeError) Error() string {
	return fmt.Sprintf("sample type %s: the profile has no such type; it has %s", e.Name, strings.Join(e.Has, ", "))
}

// describe makes what all events share.
func (s *source) describe() {
	s.typ = &ntconv.Type{
		Provider: clr.UniversalEvents, ID: 1, Name: "cpu",
		Fields: s.origin.Fields(),
	}
	s.shorten()
	s.typ.Attrs = s.origin.Attrs()
	if len(s.origin.Types) > 0 {
		s.typ.Attrs = append(s.typ.Attrs, s.weight.Attrs(s.origin.Types[s.weight.Column].Type)...)
	}
	s.capture = &ntconv.Thread{Process: &ntconv.Process{PID: 0}}
	s.info = ntconv.Info{
		Format: "pprof", PointerSize: 8, Aggregate: s.times == nil,
		Clock: ntconv.Clock{Freq: 1e9, Tick: syncTick, Wall: s.start()},
		Attrs: ntconv.Attrs{{Key: "HardwareThreadCount", Value: "1"}}, // all samples are said to be of processor 0
	}
	if n := s.origin.Period; n > 0 && s.origin.PeriodType.Unit == "nanoseconds" {
		s.info.Attrs = append(s.info.Attrs, ntconv.Attr{Key: "ExpectedCPUSamplingRate", Value: fmt.Sprint(n)})
	}
	s.sort()
}

// Attributes of the type that say what the weight is.
const (
	AttrWeight     = origin.AttrWeight     // the type of value
	AttrWeightUnit = origin.AttrWeightUnit // the unit that it is in
)

// mostAttrs bounds the text of a type's attributes: a row of a nettrace file has 65,535 bytes.
const mostAttrs = 48 << 10

// shorten leaves out texts that a profile has more of than a type can hold, longest comments first.
func (s *source) shorten() {
	o := &s.origin
	attrs := o.Attrs()
	size := sizeOf(attrs)
	if size <= mostAttrs {
		return
	}
	keys := attrs[len(attrs)-len(o.Comments):] // they are numbered: without a comment, the last one goes
	byLength := make([]int, len(o.Comments))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return len(o.Comments[b]) - len(o.Comments[a]) })
	out := make([]bool, len(o.Comments))
	for size > mostAttrs {
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
			size = 0 // the limit on types of values keeps the rest small
			continue
		}
		s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "comments and expressions of more than 48 KiB")
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

func (s *source) Info() *ntconv.Info { return &s.info }

func (s *source) Next() (*ntconv.Event, error) {
	if !s.defined { // so that what a profile without samples says about itself is not lost
		s.defined = true
		s.event = ntconv.Event{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Type: s.typ}
		return &s.event, nil
	}
	if s.next == len(s.samples) {
		return nil, io.EOF
	}
	i := s.next
	if s.order != nil {
		i = int(s.order[i])
	}
	s.next++
	if err := s.read(i, &s.sample); err != nil {
		return nil, err // never: prepare has read it
	}
	thread := s.owners.thread(&s.sample)
	s.payload = s.weight.AppendTo(s.payload[:0], s.sample.values)
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, Flags: ntconv.FlagSorted, Seq: uint32(s.next), Time: s.tick(i), Offset: int64(s.samples[i]),
		Type: s.typ, Thread: thread, Capture: s.capture, Payload: s.payload,
		Stack: s.stack(&s.sample, thread.Process), Labels: s.labelList(&s.sample),
	}
	return &s.event, nil
}
