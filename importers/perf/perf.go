// Package perf reads the text of perf script as a source of events: what Linux perf recorded, with stacks.
//
//	dotnet 4242/4245 [003] 7722.359557:    5025125 cpu-clock:
//		    7f31c8a2b5c4 instance void [Shop] Shop.Cpu::Spin(float64)[OptimizedTier1]+0x44 (/tmp/perf-4242.map)
//		ffffffff8103ce3b native_safe_halt ([kernel.kallsyms])
//
// Each event becomes an event Universal.Events/cpu like those of importers/pprof and importers/folded. Context switches of
// all threads also become events Universal.Events/cswitch, with the time that a thread had no CPU. Attributes of its
// type describe the sample types: one per event of perf, with the period as its value: nanoseconds of cpu-clock and
// task-clock, a count of other events. Events without a period count 1 each. docs/perf.md specifies what is read.
//
// # Names
//
// Stacks have frames with names and no PCs. To write a format that holds only addresses, use symbol.Synthesize. Addresses
// without a symbol have ntconv.FrameUnresolved and the file and the address as their name.
//
// # Threads
//
// A thread that changes its name, as at exec, becomes several threads with one ID. perf script writes one number unless
// its option -F has pid: the ID of the thread. Then each thread is a process of its own.
package perf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/lines"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitLine    = lines.LimitLine       // Limits.Line, in bytes
	LimitTables  = imported.LimitTables  // Limits.Tables, in bytes
	LimitThreads = imported.LimitThreads // Limits.Threads
	LimitEvents  = imported.LimitColumns // distinct events of perf: 100
)

// Limits bounds the memory that a source uses for one text. Zero selects the default, which each member states.
// Exceeding a limit is an error of New that has an *ntconv.LimitError in its chain and wraps ntconv.ErrLimit, except
// that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Line    int   // bytes per line: 16 MiB
	Tables  int64 // bytes of frames and stacks: 1 GiB
	Threads int   // threads: 1,000,000
	Stack   int   // frames per stack: ntconv.DefaultStackDepth
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	d := imported.Limits{Tables: l.Tables, Threads: l.Threads, Stack: l.Stack}.Defaults()
	l.Tables, l.Threads, l.Stack = d.Tables, d.Threads, d.Stack
	imported.Default(&l.Line, lines.DefaultMax)
	return l
}

// Options configure a source. The zero value selects the defaults.
type Options struct {
	Limits  Limits
	TempDir string         // directory of the temporary file; "" means os.TempDir()
	MaxTemp int64          // maximum size of the temporary file in bytes; 0 means no limit. Exceeding it is an error that wraps ntconv.ErrLimit
	Report  *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New reads decompressed text from r to its end, because a later event may be one of another kind. Nil opts select the
// defaults. Lines that are not part of an event are counted in the report (CodeRowSkipped). Errors are
// *ntconv.FormatError with the line. They wrap ntconv.ErrLimit, or ntconv.ErrFormat if the text has lines, but no
// event. Errors of r are returned unchanged. Close the source to remove its temporary file.
func New(r io.Reader, opts *Options) (ntconv.SourceCloser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	p := &text{
		in: lines.New(r, o.Limits.Line), report: o.Report, tables: newTables(), absent: map[uint64]absence{},
		b: imported.New(imported.Options{
			Limits:  imported.Limits{Tables: o.Limits.Tables, Threads: o.Limits.Threads, Stack: o.Limits.Stack},
			TempDir: o.TempDir, MaxTemp: o.MaxTemp, Report: o.Report,
		}),
	}
	return p.b.Open(p.read)
}

// A text is a text that is being read. Lines are collected until the next event begins.
type text struct {
	in     *lines.Reader
	b      *imported.Builder
	report *ntconv.Report
	// Not each line of a stack is a frame if it is the details of an event, so these have a cache of their own.
	lines, details lineCache
	tables

	open    bool // an event has begun
	current event
	last    int64 // time of the latest event
	untimed bool  // an event has no time
	events  int64
	skipped int64
	notes   []string           // comments of the option --header
	absent  map[uint64]absence // by thread ID
	scratch []byte
}

// An event is an event whose stack is being read.
type event struct {
	time, value int64
	thread      uint32
	column      int
	cpu         int64    // -1 if unknown
	frames      []uint32 // leaf first
	isSwitch    bool     // then prev, next and state are known
	prev, next  uint64
	state       string
}

// read reads the text and returns its source.
func (t *text) read() (ntconv.Source, error) {
	for {
		at := t.in.Offset
		line, err := t.in.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.line(bytes.TrimRight(line, " \t\r\n"), at)
		} else if !errors.Is(err, ntconv.ErrLimit) {
			return nil, err
		}
		if err != nil {
			return nil, t.located(at, err)
		}
	}
	if err := t.end(); err != nil {
		return nil, t.located(t.in.Offset, err)
	}
	if t.events == 0 && t.skipped > 0 {
		return nil, t.located(t.in.Offset, fmt.Errorf("%w: no line begins an event; want lines such as %q", ntconv.ErrFormat, "dotnet 4242 7722.359557: 5025125 cpu-clock:"))
	}
	t.tables.label(t.b)
	origin := imported.Origin{Comments: t.notes}
	origin.Default = t.tables.mainEvent()
	events := newSwitches()
	src, err := t.b.Source(imported.Profile{Format: "perf", Origin: origin, Frame: t.frame, Aggregate: t.untimed, Event: events.next})
	events.src = src
	return src, err
}

// located adds the line to an error.
func (t *text) located(at int64, err error) error {
	return &ntconv.FormatError{Format: "perf", Offset: at, Where: fmt.Sprintf("line %d", t.in.Number), Err: err}
}

// line processes a line without its line end.
func (t *text) line(line []byte, at int64) error {
	switch {
	case len(line) == 0:
		return t.end()
	case line[0] == '#':
		t.comment(line)
		return nil
	case line[0] != '\t':
		if h, ok := parseHeader(line); ok {
			if err := t.end(); err != nil {
				return err
			}
			return t.begin(&h)
		}
	}
	line = bytes.TrimSpace(line)
	if t.open {
		if n, ok := t.lines.find(line); ok {
			t.current.frames = append(t.current.frames, n)
			return nil
		}
		if f, ok := parseFrame(line); ok {
			n, err := t.addFrame(&f)
			t.lines.add(line, n)
			return err
		}
	}
	if last := len(t.current.frames) - 1; t.open && last >= 0 {
		if n, size, ok := t.tables.atLine(t.current.frames[last], line); ok {
			t.current.frames[last] = n
			return t.b.Charge(size)
		}
	}
	t.skipped++
	t.report.Note(ntconv.CodeRowSkipped, 1, at, fmt.Sprintf("line %d is neither an event nor a frame", t.in.Number))
	return nil
}

// comments are the comments of perf script --header that a profile keeps.
var comments = []string{"captured on", "hostname", "os release", "perf version", "arch", "cmdline"}

// comment keeps some comments.
func (t *text) comment(line []byte) {
	name, value, ok := strings.Cut(strings.TrimLeft(string(line), "# "), ":")
	if name = strings.TrimSpace(name); !ok || len(t.notes) == len(comments) {
		return
	}
	if slices.Contains(comments, name) {
		t.notes = append(t.notes, toValid(name+": "+strings.TrimSpace(value)))
	}
}

// begin begins an event.
func (t *text) begin(h *header) (err error) {
	e := &t.current
	*e = event{time: h.time, value: 1, cpu: h.cpu, frames: e.frames[:0]}
	if !h.timed {
		e.time, t.untimed = t.last, true
	}
	t.last, t.open = e.time, true
	if h.timed && string(h.event) == switchEvent {
		if s, ok := parseSwitch(h.details); ok {
			e.isSwitch, e.prev, e.next, e.state = true, s.prev, s.next, stateName(s.state)
		}
	}
	if h.hasPeriod {
		e.value = h.period
	}
	c, err := t.tables.column(t.b, h)
	if err != nil {
		return err
	}
	c.events++
	e.column = c.number
	if e.thread, err = t.tables.thread(t.b, h); err != nil {
		return err
	}
	if n, ok := t.details.find(h.details); ok {
		e.frames = append(e.frames, n)
	} else if f, ok := parseFrame(h.details); ok && len(f.file) > 0 {
		n, err := t.addFrame(&f)
		t.details.add(h.details, n)
		return err
	}
	return nil
}

// addFrame adds a frame of the current event, the caller of the previous one, and returns its number.
func (t *text) addFrame(f *frameLine) (uint32, error) {
	n, size := t.tables.frameOf(f)
	t.current.frames = append(t.current.frames, n)
	return n, t.b.Charge(size)
}

// end adds the current event to the profile.
func (t *text) end() error {
	if !t.open {
		return nil
	}
	t.open = false
	t.events++
	e, node := &t.current, imported.NoStack
	for i := len(e.frames) - 1; i >= 0; i-- {
		var err error
		if node, err = t.b.Child(node, e.frames[i]); err != nil {
			return err
		}
	}
	if e.isSwitch {
		if err := t.switched(node); err != nil {
			return err
		}
	}
	return t.b.SampleOn(e.cpu, e.time, e.thread, node, []imported.Value{{Column: e.column, N: e.value}})
}
