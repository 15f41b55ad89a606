// Package chrome reads files in Chrome's trace event format as a source of events: the array form and the object form,
// the V8 profiles in them, and files that consist of one V8 profile (.cpuprofile).
//
// Each event of the file becomes an event of the trace, in time order; package chromeevent describes the conversion.
// Process and thread names come from metadata events, which become events, too. Members of the outermost object become
// events at the start, except lists of events, stack frames and samples.
//
// # Samples
//
// The samples of V8 profiles (events Profile, ProfileChunk and CpuProfile) and those of the member samples become
// events Universal.Events/cpu whose stacks have frames but no PCs, like those of importers/pprof. The weight of a V8
// sample is the time until the next sample. Events that contain V8 profiles do not become events of the trace; their
// contents other than samples and stacks are dropped.
//
// # Times
//
// Times are exact to the nanosecond; finer times are rounded and counted. An event whose ts is not a number, or is more
// than 146 years from 0, follows the previous event and keeps its ts. The clock is the clock of the file. The metadata
// may state its start; without a statement, it counts from 1970 if its first event is in the years 2000 to 2099.
// Otherwise the wall-clock time is unknown.
//
// # Memory
//
// New reads the file to its end, because names, stacks and the start of the clock may come last, and sorts the events
// in a temporary file. Its memory grows with processes, threads, distinct names, stack nodes and open slices, not with
// the number of events.
package chrome

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/wallclock"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// format is the name of the format in errors and in Info.
const format = "chrome"

// Options configure a source. The zero value selects the defaults.
type Options struct {
	Limits  Limits
	TempDir string         // directory of temporary files; "" means os.TempDir()
	MaxTemp int64          // maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that wraps ntconv.ErrLimit
	Report  *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New reads decompressed JSON from r to its end and returns it as events. Nil opts select the defaults.
//
// Next returns errors of the input after the events that precede them: the error of r, or an *ntconv.FormatError with
// line and column that wraps ntconv.ErrTruncated, ErrCorrupt, ErrFormat or ErrLimit. New and Next return errors of
// temporary files. The source is not safe for concurrent use. Close it to remove its temporary files.
func New(r io.Reader, opts *Options) (ntconv.SourceCloser, error) {
	s := &source{enc: chromeevent.NewEncoder(), parser: chromeevent.Parser{Valid: true}}
	if opts != nil {
		s.o = *opts
	}
	s.o.Limits = s.o.Limits.Defaults()
	s.l = newLoader(&s.o)
	f := &file{text: newText(r, s.o.Limits.Value), l: s.l, report: s.o.Report}
	s.inputErr = f.read()
	err := s.l.storage
	if err == nil {
		err = s.finish()
	}
	if err == nil {
		s.records, err = s.l.events.Read()
	}
	if err != nil {
		_ = s.l.close() // the error is why
		return nil, err
	}
	s.describe()
	return spool.NewSource(s, s.l.close), nil
}

// A source converts the records of a loader to events.
type source struct {
	o        Options
	l        *loader
	info     ntconv.Info
	first    ntconv.Ticks // time of the first event of the file
	records  *spool.Reader
	inputErr error // error to return after the last event

	defined int // sample types whose definitions were delivered
	enc     *chromeevent.Encoder
	pending bool // enc has further events of the current record
	parser  chromeevent.Parser
	parsed  chromeevent.Event
	pairs   chromeevent.Pairer[struct{}]
	noBegin int64 // ends of slices without a beginning
	capture *ntconv.Thread
	seq     uint32
	event   ntconv.Event
	payload []byte
}

// finish builds what needs the whole file. If that exceeds a limit, the source ends after the events of the file.
func (s *source) finish() error {
	err := s.l.finish()
	if s.l.storage == nil && err != nil && s.inputErr == nil {
		s.inputErr = err
	}
	return s.l.storage
}

// describe sets what is known before the first event.
func (s *source) describe() {
	s.first = ntconv.Ticks(s.l.first)
	if s.l.first == math.MaxInt64 {
		s.first = 0
	}
	s.capture = &ntconv.Thread{Process: &ntconv.Process{}}
	s.info = ntconv.Info{Format: format, PointerSize: 8, Clock: ntconv.Clock{Freq: int64(time.Second), Tick: s.first}}
	if wall := s.l.epoch.wall(int64(s.first)); !wall.IsZero() {
		s.info.Clock = wallclock.Dated(s.info.Clock, wall)
	}
}

func (s *source) Info() *ntconv.Info { return &s.info }

func (s *source) Next() (*ntconv.Event, error) {
	if s.defined < len(s.l.sampleTypes) {
		s.event = imported.Definition(s.nextSampleType())
		s.defined++
		return &s.event, nil
	}
	for {
		if s.pending {
			if e := s.enc.Next(); e != nil {
				return s.numbered(e), nil
			}
			s.pending = false
		}
		key, data, err := s.records.Next()
		if err != nil {
			return nil, s.end(err)
		}
		kind, data := data[0], data[1:]
		offset, n := binary.Uvarint(data)
		data = data[n:]
		like := ntconv.Event{
			Kind: ntconv.KindEvent, Flags: ntconv.FlagSorted, CPU: ntconv.CPUUnknown, Offset: int64(offset), Capture: s.capture,
			Time: max(ntconv.Ticks(key.Time), s.first),
		}
		switch kind {
		case recordEvent:
			s.encode(data, &like)
		case recordTopLevel:
			s.encodeTopLevel(data, &like)
		case recordSample:
			return s.numbered(s.sample(data, &like)), nil
		}
	}
}

// nextSampleType returns the sample types one after the other, so that exporters know in advance which samples follow.
// The V8 type comes first if there is one, because a profile shows the first type by default.
func (s *source) nextSampleType() *ntconv.Type {
	types := s.l.sampleTypes
	v8 := slices.IndexFunc(types, func(t sampleType) bool { return t.name == v8Name })
	switch {
	case v8 < 0 || s.defined > v8:
		return types[s.defined].typ
	case s.defined == 0:
		return types[v8].typ
	}
	return types[s.defined-1].typ
}

// numbered assigns the next sequence number. 0 is not a valid sequence number, so it is skipped on overflow.
func (s *source) numbered(e *ntconv.Event) *ntconv.Event {
	if s.seq++; s.seq == 0 {
		s.seq = 1
	}
	e.Seq = s.seq
	return e
}

// encode starts the encoding of an event of the file; Next delivers its parts.
func (s *source) encode(text []byte, like *ntconv.Event) {
	e := &s.parsed
	s.parser.Parse(text, e)
	like.Thread = s.l.owners.Thread(e.PID, e.TID)
	s.stack(e, like)
	s.pair(e, like.Thread)
	s.enc.Encode(e, like)
	s.pending = true
}

// encodeTopLevel starts the encoding of a member of the outermost object.
func (s *source) encodeTopLevel(data []byte, like *ntconv.Event) {
	size, n := binary.Uvarint(data)
	name, value := data[n:n+int(size)], data[n+int(size):]
	e := chromeevent.Event{TopLevel: true, Name: string(name), Has: chromeevent.HasName, Args: value}
	like.Thread = s.l.owners.Thread(nil, nil)
	s.enc.Encode(&e, like)
	s.pending = true
}

// pair counts slices that lack a beginning or an end.
func (s *source) pair(e *chromeevent.Event, t *ntconv.Thread) {
	switch chromeevent.RoleOf(e.Phase) {
	case chromeevent.RoleBegin:
		s.pairs.Begin(e, t, struct{}{})
	case chromeevent.RoleEnd:
		if _, ok := s.pairs.End(e, t); !ok {
			s.noBegin++
		}
	}
}

// end reports the counts that are complete at the end, and returns the final error.
func (s *source) end(err error) error {
	if err != io.EOF {
		return err
	}
	note := func(n int64, what string) {
		if n > 0 {
			s.o.Report.Note(ntconv.CodeRepaired, uint64(n), -1, what)
		}
	}
	note(int64(s.pairs.Open()), "slices without an end")
	note(s.noBegin, "slice ends without a beginning")
	s.o.Report.Add(ntconv.CodeRounded, uint64(s.parser.Rounded), -1)
	if s.inputErr != nil {
		return s.inputErr
	}
	return io.EOF
}

// located adds a position to an error.
func located(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: format, Offset: offset, Where: where, Err: err}
}

// errNamesLimit returns the error for exceeding Limits.Names.
func errNamesLimit(limit int) error {
	return fmt.Errorf("stacks: %w", &ntconv.LimitError{Limit: LimitNames, Value: int64(limit), Asked: int64(limit) + 1})
}
