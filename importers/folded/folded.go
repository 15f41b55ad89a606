// Package folded reads folded stacks, the text format of Brendan Gregg's flame graph tools, as a source of events:
//
//	main;scan;memcpy 120
//
// Each line becomes one event Universal.Events/cpu, like a sample that importers/pprof reads. Its first field, Value,
// is the weight that PerfView shows. The second field is named after the sample type and has the same value. Attributes
// of the event's type describe the sample type. exporters/folded and exporters/pprof restore the stacks and their
// values. docs/folded.md specifies what is read.
//
// The source reads one line at a time. Its memory grows with the number of distinct function names, not with the number
// of lines.
//
// # Names
//
// Stacks have frames with names and no PCs. To write a format that holds only addresses, use symbol.Synthesize.
package folded

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/lines"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Options configure a source. The zero value selects the defaults.
type Options struct {
	// SampleType is the name of the sample type of the values; "" means "samples".
	SampleType string
	// Unit is the unit of the values as in profile.proto, such as "nanoseconds" or "bytes"; "" means "count".
	Unit string
	// Decimals is the number of decimal digits of the values that are kept, 0 to 18. Values are multiplied by 10 to the
	// power of Decimals and rounded to the nearest integer. Unit is the unit of the result: for seconds with fractions,
	// set Decimals to 9 and Unit to "nanoseconds".
	Decimals int
	// Column selects the value of lines with two values, which compare two profiles: 1 is the first profile, 2 the
	// second. Lines with one value are then skipped. 0 means that lines have one value; New rejects input whose first
	// lines all have two.
	Column int
	// ProcessRoot states that the outermost frame names the process, ThreadRoot that the outermost frame, or the next
	// one if both are set, names the thread. The form of these frames is NAME-ID. They become the process, the thread
	// and labels of the event.
	ProcessRoot, ThreadRoot bool
	Limits                  Limits
	Report                  *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New returns a Source over decompressed text. It reads the beginning of r. Nil opts select the defaults. New returns
// an error that wraps ntconv.ErrUnsupported if an option is out of range, or if the lines have two values and
// Options.Column is 0.
//
// Errors of Next wrap ntconv.ErrLimit if the text exceeds a limit, and ntconv.ErrFormat if it has lines, but none with
// a value. Otherwise lines without a value are counted in the report (CodeRowSkipped). Errors of r are returned
// unchanged. The Source is not safe for concurrent use.
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
	s := &source{}
	if opts != nil {
		s.o = *opts
	}
	if s.o.Decimals < 0 || s.o.Decimals > maxDecimals || s.o.Column < 0 || s.o.Column > 2 {
		return nil, fmt.Errorf("folded: %w: %d decimals or column %d; want 0 to %d and 0 to 2", ntconv.ErrUnsupported, s.o.Decimals, s.o.Column, maxDecimals)
	}
	s.o.Limits = s.o.Limits.Defaults()
	s.names = newNames(&s.o)
	s.owners = newOwners()
	t := imported.ValueType{Type: cmp.Or(s.o.SampleType, "samples"), Unit: cmp.Or(s.o.Unit, "count")}
	origin := imported.Origin{Columns: imported.Columns{Types: []imported.ValueType{t}}}
	s.Samples = imported.NewSamples("folded", &origin, imported.FixedWeight(0, t.Unit), time.Time{}, s.o.Report)
	s.Info().Aggregate = true
	s.in = lines.New(r, s.o.Limits.Line)
	if s.o.Column == 0 && isDifferential(s.in.Peek()) {
		return nil, located(1, 0, fmt.Errorf("%w: lines have two values, which compare two profiles; choose column 1 or 2", ntconv.ErrUnsupported))
	}
	return s, nil
}

// isDifferential reports whether all of the first lines have two values, as difffolded.pl writes them.
func isDifferential(head []byte) bool {
	n := 0
	for len(head) > 0 && n < 64 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && n > 0 {
			break
		}
		head = rest
		if line = trimLine(line); isIgnored(line) {
			continue
		}
		stack, _, ok := cutValue(line)
		if !ok {
			continue
		}
		if _, _, ok := cutValue(stack); !ok {
			return false
		}
		n++
	}
	return n > 0
}

// A source converts the lines of a text to events.
type source struct {
	o      Options
	in     *lines.Reader
	names  *names
	owners owners
	imported.Samples
	value [1]int64 // of the current line

	defined bool   // the definition of the type has been delivered
	valid   uint64 // lines with a value
	invalid uint64 // lines without a value
	err     error
}

func (s *source) Next() (*ntconv.Event, error) {
	if !s.defined {
		s.defined = true
		return s.Definition(), nil
	}
	for s.err == nil {
		at := s.in.Offset
		line, err := s.in.Next()
		if err != nil {
			s.err = s.end(err)
			break
		}
		if line = trimLine(line); isIgnored(line) {
			continue
		}
		stack, ok := s.cut(line)
		if !ok {
			s.invalid++
			s.o.Report.Note(ntconv.CodeRowSkipped, 1, at, fmt.Sprintf("line %d does not end in a space and a value", s.in.Number))
			continue
		}
		var e *ntconv.Event
		if e, s.err = s.sample(stack, at); s.err == nil {
			return e, nil
		}
	}
	return nil, s.err
}

// end returns the final error: io.EOF, unless the input has lines, but none with a value.
func (s *source) end(err error) error {
	if errors.Is(err, ntconv.ErrLimit) {
		return located(s.in.Number, s.in.Offset, err)
	}
	if err == io.EOF && s.valid == 0 && s.invalid > 0 {
		return located(s.in.Number, s.in.Offset, fmt.Errorf("%w: no line ends in a space and a value; want lines such as main;scan 120", ntconv.ErrFormat))
	}
	return err
}

// located adds the line number to an error.
func located(line int, offset int64, err error) error {
	return &ntconv.FormatError{Format: "folded", Offset: offset, Where: fmt.Sprintf("line %d", line), Err: err}
}

// cut splits a line. It returns the stack, and sets s.value to the value that the options select.
func (s *source) cut(line []byte) (stack []byte, ok bool) {
	stack, text, ok := cutValue(line)
	if ok && s.o.Column > 0 {
		var first []byte
		if stack, first, ok = cutValue(stack); s.o.Column == 1 {
			text = first
		}
	}
	if !ok {
		return nil, false
	}
	value, rounded, ok := parseValue(text, s.o.Decimals)
	if rounded {
		s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "values were rounded to integers")
	}
	s.value[0] = value
	return stack, ok
}

// sample returns the event of a line.
func (s *source) sample(stack []byte, at int64) (*ntconv.Event, error) {
	root, stack := s.roots(stack)
	frames, err := s.frames(stack, at)
	if err != nil {
		return nil, located(s.in.Number, at, err)
	}
	s.valid++
	in := imported.Sample{Time: imported.SyncTick, Offset: at, Thread: root.thread, Labels: root.labels, Values: s.value[:]}
	if len(frames) > 0 {
		in.Stack = &ntconv.Stack{Frames: frames}
	}
	return s.Event(&in), nil
}
