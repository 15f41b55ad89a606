// Package chrome reads files in Chrome's trace event format as a source of events: the array and the object form, the
// profiles of V8 in them, and files with one such profile (.cpuprofile).
//
// Each event of the file is an event of the trace, in time order, as package chromeevent describes it. Names of
// processes and threads are those of metadata events, which are events, too. Members of the outermost object other than
// lists of events, stack frames and samples are events at the start.
//
// # Samples
//
// The samples of a profile of V8 (events Profile, ProfileChunk and CpuProfile) and those of the member samples become
// events Universal.Events/cpu with stacks of names, like those of importers/pprof. The weight of a sample of V8 is the
// time until the next one. The events that held these profiles are not events of the trace; what is in them apart from
// samples and stacks is omitted.
//
// # Times
//
// Times are exact in nanoseconds; finer ones are rounded and counted. An event whose ts is not a number, or more than
// 146 years from 0, comes after the event before it and keeps ts as it is. The clock is the one of the file, whose
// start metadata may state. If not, its start counts as 1970.
//
// # Memory
//
// New reads the file to its end, because names, stacks and the start of the clock may come last, and sorts its events
// in a temporary file. Memory depends on processes, threads, distinct names, nodes of stacks and open slices, and not
// on the number of events.
package chrome

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/spool"
)

// format is the name of the format in errors and in Info.
const format = "chrome"

// Options configure a source. The zero value selects the defaults.
type Options struct {
	Limits  Limits
	Dir     string         // of temporary files, "" for os.TempDir()
	MaxTemp int64          // maximum size of each temporary file in bytes, 0 means no limit; exceeding it is an error that wraps ntconv.ErrLimit
	Report  *ntconv.Report // may be nil
}

// New reads decompressed JSON to its end and returns it as events. Errors of the input are returned by Next, after the
// events before them: an *ntconv.FormatError with line and column, which wraps ntconv.ErrTruncated, ErrCorrupt,
// ErrFormat or ErrLimit, or the error of r. Errors of temporary files are returned by New or Next. The source is an
// io.Closer, which removes the temporary files. opts may be nil.
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
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
		_ = s.Close() // the error is why
		return nil, err
	}
	s.describe()
	return s, nil
}

// A source yields the records of a loader.
type source struct {
	o        Options
	l        *loader
	info     ntconv.Info
	first    ntconv.Ticks // of the file
	records  *spool.Reader
	inputErr error // that follows the last event
	err      error

	defined int // types of samples that were delivered
	enc     *chromeevent.Encoder
	pending bool // enc has further events
	parser  chromeevent.Parser
	parsed  chromeevent.Event
	pairs   chromeevent.Pairer[struct{}]
	noBegin int64
	capture *ntconv.Thread
	seq     uint32
	event   ntconv.Event
	payload []byte
}

// finish makes what needs the whole file. Limits that it exceeds end the source after the events of the file.
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
	wall := s.l.epoch.wall(int64(s.first))
	start := wall.Truncate(time.Millisecond) // a nettrace file starts at a whole millisecond
	s.info = ntconv.Info{
		Format: format, PointerSize: 8,
		Clock: ntconv.Clock{Freq: int64(time.Second), Tick: s.first - ntconv.Ticks(wall.Sub(start)), Wall: start},
	}
}

func (s *source) Info() *ntconv.Info { return &s.info }

// Close removes the temporary files.
func (s *source) Close() error { return s.l.close() }

func (s *source) Next() (*ntconv.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.defined < len(s.l.sampleTypes) {
		s.event = ntconv.Event{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Type: s.nextSampleType()}
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
			s.err = s.end(err)
			return nil, s.err
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

// nextSampleType returns the types of samples one after the other, so that exporters know which samples come. A profile
// is that of the first type: the one of V8 if there is one.
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

func (s *source) numbered(e *ntconv.Event) *ntconv.Event {
	if s.seq++; s.seq == 0 {
		s.seq = 1
	}
	e.Seq = s.seq
	return e
}

// encode begins with an event of the file.
func (s *source) encode(text []byte, like *ntconv.Event) {
	e := &s.parsed
	s.parser.Parse(text, e)
	like.Thread = s.l.owners.Thread(e.PID, e.TID)
	s.stack(e, like)
	s.pair(e, like.Thread)
	s.enc.Encode(e, like)
	s.pending = true
}

// encodeTopLevel begins with a member of the outermost object.
func (s *source) encodeTopLevel(data []byte, like *ntconv.Event) {
	size, n := binary.Uvarint(data)
	name, value := data[n:n+int(size)], data[n+int(size):]
	e := chromeevent.Event{TopLevel: true, Name: string(name), Has: chromeevent.HasName, Args: value}
	like.Thread = s.l.owners.Thread(nil, nil)
	s.enc.Encode(&e, like)
	s.pending = true
}

// pair counts slices that have only one end.
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

// end reports what is known at the end, and returns the final error.
func (s *source) end(err error) error {
	if err != io.EOF {
		return err
	}
	note := func(n int64, what string) {
		if n > 0 {
			s.o.Report.Note(ntconv.CodeRepaired, uint64(n), -1, what)
		}
	}
	note(int64(s.pairs.Open()), "slices that no event ends")
	note(s.noBegin, "ends of slices that no event begins")
	if n := s.parser.Rounded; n > 0 {
		s.o.Report.Note(ntconv.CodeNotCarried, uint64(n), -1, "times were rounded to nanoseconds")
	}
	if s.inputErr != nil {
		return s.inputErr
	}
	return io.EOF
}

// located adds the place of a value to an error.
func located(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: format, Offset: offset, Where: where, Err: err}
}

// errNamesLimit returns the error of Limits.Names.
func errNamesLimit(limit int) error {
	return fmt.Errorf("stacks: %w", &ntconv.LimitError{Limit: LimitNames, Value: int64(limit), Asked: int64(limit) + 1})
}
