// Package speedscope reads files of speedscope (https://www.speedscope.app/file-format-schema.json) as a source of
// events. Many profilers write them, such as dotnet-trace, py-spy and rbspy. docs/speedscope.md specifies what is read
// and how defects are treated.
//
// Each profile of a file becomes a thread, and each of its samples an event Universal.Events/cpu like those of
// importers/pprof and importers/folded. An evented profile yields a sample for each time between two of its events
// during which frames are open. Evented profiles that exporters/speedscope wrote yield slices instead (package
// internal/events/chromeevent), and its profiles of all threads are skipped. Attributes of the events' type describe the
// sample types: time in nanoseconds, bytes, or a number of samples, depending on the units of the profiles.
//
// # Names
//
// Stacks have frames with names and no PCs. To write a format that holds only addresses, use symbol.Synthesize.
//
// # Time
//
// If the unit of a profile is a time, its samples follow each other from startValue on. Other profiles have no times:
// their samples have the start time of the trace.
package speedscope

import (
	"cmp"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/owner"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitTables  = imported.LimitTables  // Limits.Tables, in bytes
	LimitThreads = imported.LimitThreads // Limits.Profiles
	LimitValue   = jsonio.LimitValue     // Limits.Value, in bytes
)

// Limits bounds the memory that a source uses for one file. Zero selects the default, which each member states.
// Exceeding a limit is an error of New that has an *ntconv.LimitError in its chain and wraps ntconv.ErrLimit, except
// that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Tables   int64 // bytes of frames, stacks and the current profile: 1 GiB
	Profiles int   // profiles: 1,000,000
	Stack    int   // frames per stack: ntconv.DefaultStackDepth
	Value    int   // bytes per string: 16 MiB
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	d := imported.Limits{Tables: l.Tables, Threads: l.Profiles, Stack: l.Stack}.Defaults()
	l.Tables, l.Profiles, l.Stack = d.Tables, d.Threads, d.Stack
	imported.Default(&l.Value, jsonio.DefaultValue)
	return l
}

// Options configure a source. The zero value selects the defaults.
type Options struct {
	Limits  Limits
	TempDir string         // directory of the temporary file; "" means os.TempDir()
	MaxTemp int64          // maximum size of the temporary file in bytes; 0 means no limit. Exceeding it is an error that wraps ntconv.ErrLimit
	Report  *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New reads decompressed JSON from r to its end, because names may follow the samples. Nil opts select the defaults.
// Errors are *ntconv.FormatError with line and column. They wrap ntconv.ErrTruncated, ntconv.ErrCorrupt,
// ntconv.ErrLimit, or ntconv.ErrFormat if the JSON is not a speedscope file. Errors of r are returned unchanged. Close the source to remove its
// temporary file.
func New(r io.Reader, opts *Options) (ntconv.SourceCloser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	f := &file{
		Reader: jsonio.New(r, jsonio.Options{Format: "speedscope", Value: o.Limits.Value, Report: o.Report}),
		o:      &o,
		b: imported.New(imported.Options{
			Limits:  imported.Limits{Tables: o.Limits.Tables, Threads: o.Limits.Profiles, Stack: o.Limits.Stack},
			TempDir: o.TempDir, MaxTemp: o.MaxTemp, Report: o.Report,
		}),
		process: owner.Process(owner.DefaultPID),
		own:     newOwnThreads(),
	}
	return f.b.Open(f.read)
}

// A unit is a unit of profile values.
type unit struct {
	name   string
	values imported.ValueType // unless the exporter states the type
	digits int                // values are multiplied by 10 to the power of digits
	isTime bool
}

var (
	samples = imported.ValueType{Type: "samples", Unit: "count"}
	size    = imported.ValueType{Type: "bytes", Unit: "bytes"}
	times   = imported.ValueType{Type: "time", Unit: "nanoseconds"}
	units   = [...]unit{
		{"none", samples, 0, false}, {"bytes", size, 0, false},
		{"nanoseconds", times, 0, true}, {"microseconds", times, 3, true}, {"milliseconds", times, 6, true}, {"seconds", times, 9, true},
	}
)

// A file is a file that is being read.
type file struct {
	*jsonio.Reader
	o       *Options
	b       *imported.Builder
	process *ntconv.Process // of profiles that do not name a process
	tids    owner.Numbers
	own     *ownThreads

	isSpeedscope   bool // its schema is that of speedscope
	hasFrames      bool
	frames         []ntconv.Frame
	functions      map[function]*ntconv.Function
	name, exporter string
	version        string
	active         int64
	profiles       []summary
	highest        int64        // highest frame index in a stack; -1 if there is none
	highestPlace   jsonio.Place // position of its first use
	timed          bool         // a profile has times
	start          int64        // start of the first profile with times
}

// A summary is what remains of a profile after it has been read.
type summary struct {
	thread *ntconv.Thread // nil if the profile was skipped
	number uint32
	values imported.ValueType
}

// A function is the identity of a function.
type function struct{ name, file string }

var fileMembers = []string{"$schema", "shared", "profiles", "name", "exporter", "version", "activeProfileIndex"}

// read reads the file in one pass. The members may have any order; frame indexes that precede the frames are validated
// at the end.
func (f *file) read() (ntconv.Source, error) {
	f.highest, f.active = -1, -1
	f.functions = map[function]*ntconv.Function{}
	hasProfiles := false
	err := f.Object(fileMembers, func(i int) (err error) {
		switch i {
		case 0:
			var s string
			s, err = f.String()
			f.isSpeedscope = s == "https://www.speedscope.app/file-format-schema.json"
		case 1:
			err = f.shared()
		case 2:
			hasProfiles = true
			err = f.Array(func(i int) error { return f.profile(i) })
		case 3:
			f.name, err = f.String()
		case 4:
			f.exporter, err = f.String()
		case 5:
			f.version, err = f.String()
		case 6:
			f.active, err = f.Index(-1, 1<<31, -1)
		}
		return err
	})
	if err == nil {
		err = f.End()
	}
	if err != nil {
		return nil, err
	}
	if !hasProfiles || !f.hasFrames {
		return nil, f.incomplete(hasProfiles)
	}
	if f.highest >= int64(len(f.frames)) {
		return nil, f.noFrame(f.highestPlace, f.highest)
	}
	return f.source()
}

// incomplete returns the error for a file without profiles or frames.
func (f *file) incomplete(hasProfiles bool) error {
	what := "profiles"
	if hasProfiles {
		what = "shared.frames"
	}
	if f.isSpeedscope || hasProfiles {
		return f.Corrupt("member %s is missing", what)
	}
	return f.Fail(f.Place(), fmt.Errorf("%w: the members profiles and shared of speedscope are missing", ntconv.ErrFormat))
}

func (f *file) noFrame(p jsonio.Place, n int64) error {
	return f.Fail(p, fmt.Errorf("%w: no frame has index %d; shared.frames has %d", ntconv.ErrCorrupt, n, len(f.frames)))
}

// source returns the events. The whole file must have been read.
func (f *file) source() (ntconv.Source, error) {
	f.process.Name = cmp.Or(f.name, owner.DefaultName)
	var o imported.Origin
	for _, c := range []struct{ label, text string }{{"exporter: ", f.exporter}, {"version: ", f.version}} {
		if c.text != "" {
			o.Comments = append(o.Comments, c.label+c.text)
		}
	}
	if f.active >= 0 && f.active < int64(len(f.profiles)) {
		o.Default = f.profiles[f.active].values.Type
	}
	if len(f.profiles) > 1 {
		for _, p := range f.profiles {
			if t := p.thread; t != nil {
				f.b.SetLabels(p.number, owner.Name{Thread: t.Name, PID: -1, TID: int64(t.TID)}.Labels())
			}
		}
	}
	e := &events{f: f, encoder: chromeevent.NewEncoder()}
	src, err := f.b.Source(imported.Profile{
		Format: "speedscope", Origin: o, Aggregate: !f.timed,
		Frame: func(n uint32) ntconv.Frame { return f.frames[n] }, Event: e.next,
	})
	e.src = src
	return src, err
}

func (f *file) shared() error {
	return f.Object([]string{"frames"}, func(int) error {
		f.hasFrames = true
		return f.Array(func(int) error { return f.frame() })
	})
}

var frameMembers = []string{"name", "file", "line", "col"}

// frameBytes is the memory charged for a frame in addition to its strings.
const frameBytes = 192

// frame reads an element of shared.frames. Equal names and files share one function.
func (f *file) frame() error {
	var fn function
	var frame ntconv.Frame
	hasName := false
	err := f.Object(frameMembers, func(i int) (err error) {
		var n int64
		switch i {
		case 0:
			hasName = true
			fn.name, err = f.String()
		case 1:
			fn.file, err = f.String()
		case 2:
			n, err = f.Index(-1<<31, 1<<31-1, 0)
			frame.Line = int32(max(n, 0))
		case 3:
			n, err = f.Index(-1<<31, 1<<31-1, 0)
			frame.Column = int32(max(n, 0))
		}
		return err
	})
	if err != nil {
		return err
	}
	if !hasName {
		return f.Corrupt("a frame has no name")
	}
	frame.Func = f.functions[fn]
	if frame.Func == nil {
		frame.Func = &ntconv.Function{Name: fn.name, File: fn.file}
		f.functions[fn] = frame.Func
	}
	f.frames = append(f.frames, frame)
	return f.charge(int64(frameBytes + len(fn.name) + len(fn.file)))
}

// charge charges n bytes against Limits.Tables, or returns them if n is negative.
func (f *file) charge(n int64) error {
	if err := f.b.Charge(n); err != nil {
		return f.Fail(f.Place(), err)
	}
	return nil
}
