// Package pprof reads profiles in the format of profile.proto, and in the older text and binary formats that
// google/pprof reads, as a source of events.
//
// Each sample becomes one event Universal.Events/cpu, which PerfView supports. Its first field, Value, is the weight:
// the value of one sample type, converted to milliseconds if it is a time. A field with the unchanged value of each
// sample type follows. The attributes of the event's type contain all other properties of the profile (docs/pprof.md
// lists them); exporters/pprof restores the profile from them.
//
// # Names
//
// Stacks have frames with names and no PCs. A format that stores only addresses needs symbol.Synthesize.
//
// # Time
//
// A sample with a label end_timestamp_ns, timestamp_ns or timestamp (nanoseconds since 1970) has that time. All others
// are distributed evenly over the profile's duration, in file order.
//
// # Processes and threads
//
// The labels pid, tid and thread, in their usual spellings, identify the process and thread of a sample.
// Without them there is one process with ID 1 and one thread. Threads that have only names get synthetic IDs. The name
// of a process is that of a label (process, process_name, "process name"), or else that of the file in which most of
// its stacks begin, because PerfView treats other stacks as broken.
package pprof

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/pproflegacy"
)

// Options configure the importer. The zero value selects the defaults.
type Options struct {
	// SampleType is the name of the sample type that becomes the weight of an event. If it is empty, this is the
	// default sample type of the profile. If several sample types have the same name, NAME#2 selects the second of
	// them, NAME#3 the third.
	SampleType string
	// LabelFrames lists keys of labels that also become frames, the first one outermost, for viewers that do not
	// display labels.
	LabelFrames []string
	// OnLabel, if not nil, is called by New with the key of every label of every sample, in order. It shows which keys
	// a profile has before the first event, for example whether those of LabelFrames exist.
	OnLabel func(key string)
	Limits  Limits // zero members select defaults
	// Decompression limits profiles that are compressed with gzip or zstd. Limits.Bytes applies in addition.
	Decompression ntconv.DecompressionLimits
	Report        *ntconv.Report // receives notes about repaired and omitted contents; may be nil
}

// New reads a profile, uncompressed or compressed with gzip or zstd, and returns it as a source of events. It is the only
// importer that decompresses, because compression with gzip is part of the format: profile.proto prescribes it, and
// net/http/pprof sends no other profile. It reads r to its end and does not close it. opts may be nil. The source holds the decompressed profile and its decoded tables;
// it is not safe for concurrent use. Events are borrowed until the next call of Next.
//
// A defect of the profile is an *ntconv.FormatError with its location. It wraps ntconv.ErrTruncated, ErrCorrupt,
// ErrLimit, or ErrFormat if the input is empty. If the profile lacks Options.SampleType, the error is a
// *SampleTypeError. Errors of r are returned unchanged.
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	in, err := fileio.FromReader("profile", r, fileio.InputOptions{Limits: fileio.LimitsOf(o.Decompression)})
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

// readAll reads at most the given number of bytes.
func readAll(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	var read *fileio.Error
	if errors.As(err, &read) && read.Op == "read" {
		err = read.Err // the error of r already names its input
	}
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, located(most, "profile", &ntconv.LimitError{Limit: LimitBytes, Value: int64(most), Asked: int64(len(data)), Unit: "bytes"})
	}
	return data, nil
}

// decode decodes a profile in any of its formats.
func decode(data []byte, o *Options) (*message, error) {
	m, err := decodeProto(data, o)
	if err == nil || !pproflegacy.Match(data) {
		return m, err
	}
	if n := pproflegacy.Lookups(data); n > maxLookups {
		return nil, located(0, "profile in one of the older formats", &ntconv.LimitError{Limit: LimitLookups, Value: maxLookups, Asked: n})
	}
	if data, err = pproflegacy.Convert(data); err != nil {
		return nil, located(0, "profile in one of the older formats", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
	}
	return decodeProto(data, o)
}

// A source returns the samples of a message as events. prepare sets all fields up to order, which then stay constant;
// Next sets the others.
type source struct {
	*message
	imported.Samples
	o *Options

	origin imported.Origin
	weight imported.Weight
	owners owners
	times  []int64  // per sample, nanoseconds since 1970 or untimed; nil if no sample has its own time
	order  []uint32 // of samples by time; nil means file order

	defined  bool // Next has returned the type
	next     int
	sample   sample
	stacks   cache[*ntconv.Stack]
	labels   cache[*ntconv.Labels]
	tagNames map[tagKey]*ntconv.Function
}

// prepare decodes all samples once and determines everything that must be known before the first event.
func (s *source) prepare() error {
	var err error
	if s.origin, err = s.header.origin(&s.strings); err != nil {
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
			return located(int(s.samples[i]), fmt.Sprintf("sample %d", i), &ntconv.LimitError{Limit: LimitFrames, Value: most, Asked: frames})
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
	s.Samples = imported.NewSamples("pprof", &s.origin, s.weight, s.start(), s.o.Report)
	s.Info().Aggregate = s.times == nil
	s.sort()
	return nil
}

// chooseWeight finds the sample type that becomes the weight.
func (s *source) chooseWeight() error {
	column := s.origin.Main()
	if name := s.o.SampleType; name != "" {
		names := imported.TypeNames(s.origin.Types)
		if column = slices.Index(names, name); column < 0 {
			return &SampleTypeError{Name: name, Has: names}
		}
	}
	unit := ""
	if column < len(s.origin.Types) {
		unit = s.origin.Types[column].Unit
	}
	s.weight = imported.NewWeight(column, unit)
	return nil
}

// A SampleTypeError means that a profile lacks the sample type of Options.SampleType.
type SampleTypeError struct {
	Name string
	Has  []string // names of the profile's sample types
}

func (e *SampleTypeError) Error() string {
	return fmt.Sprintf("sample type %s: the profile has no such type; it has %s", e.Name, strings.Join(e.Has, ", "))
}

func (s *source) Next() (*ntconv.Event, error) {
	if !s.defined {
		s.defined = true
		return s.Definition(), nil
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
		return nil, err // cannot happen: prepare has decoded the sample
	}
	thread := s.owners.thread(&s.sample)
	return s.Event(&imported.Sample{
		Time: s.tick(i), Offset: int64(s.samples[i]), Thread: thread, Values: s.sample.values,
		Stack: s.stack(&s.sample, thread.Process), Labels: s.labelList(&s.sample),
	}), nil
}
