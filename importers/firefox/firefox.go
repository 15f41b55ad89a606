// Package firefox reads processed profiles of the Firefox Profiler (https://profiler.firefox.com), as it saves them, as
// a source of events. samply, Linux perf's gecko.py and other tools also write them. docs/firefox.md specifies what is
// read.
//
// Samples and allocations become events Universal.Events/cpu like those of importers/pprof. Markers and counters become
// events of Chrome's trace event format (package internal/events/chromeevent). Markers with a duration become complete slices,
// so that exporters of spans and timelines show them.
//
// # Versions
//
// The format changes often, and files state their version. The reader depends on the columns that are present instead,
// so it reads all versions in which a column has the same meaning: tables per thread or shared tables,
// stackTable.prefix or prefixOffset, times or time differences, and so on. Profiles as Firefox records them (Gecko
// profiles) are a different format, which New reads from version 3 on, without counters.
//
// # Names
//
// Stacks have frames with names and no PCs. To write a format that holds only addresses, use symbol.Synthesize.
package firefox

import (
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitTables  = imported.LimitTables  // Limits.Tables, in bytes
	LimitThreads = imported.LimitThreads // Limits.Threads
	LimitValue   = jsonio.LimitValue     // Limits.Value, in bytes
)

// Limits bounds the memory that a source uses for one profile. Zero selects the default, which each member states.
// Exceeding a limit is an error of New that has an *ntconv.LimitError in its chain and wraps ntconv.ErrLimit, except
// that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Tables  int64 // bytes of strings, frames, stacks and the columns of the current thread: 1 GiB
	Threads int   // threads: 1,000,000
	Stack   int   // frames per stack: ntconv.DefaultStackDepth
	Value   int   // bytes of a string, or of the data of a marker: 16 MiB
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	d := imported.Limits{Tables: l.Tables, Threads: l.Threads, Stack: l.Stack}.Defaults()
	l.Tables, l.Threads, l.Stack = d.Tables, d.Threads, d.Stack
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
// ntconv.ErrLimit, ntconv.ErrUnsupported, or ntconv.ErrFormat if the JSON is not a profile. Errors of r are returned
// unchanged. Close the source to remove its temporary file.
func New(r io.Reader, opts *Options) (ntconv.SourceCloser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	f := &file{
		Reader: jsonio.New(r, jsonio.Options{Format: "firefox", Value: o.Limits.Value, Report: o.Report}),
		report: o.Report,
		limits: o.Limits,
		b: imported.New(imported.Options{
			Limits:  imported.Limits{Tables: o.Limits.Tables, Threads: o.Limits.Threads, Stack: o.Limits.Stack},
			TempDir: o.TempDir, MaxTemp: o.MaxTemp, Report: o.Report,
		}),
		owners: owners{processes: map[string]*ntconv.Process{}},
		names:  newNames(),
	}
	return f.b.Open(f.read)
}

// A file is a profile that is being read.
type file struct {
	*jsonio.Reader
	report *ntconv.Report
	limits Limits
	b      *imported.Builder
	meta   *meta // nil until it has been read
	libs   []lib
	owners owners
	names  names

	shared     *tables // nil until they have been read
	lateStacks int64   // highest stack index of threads that were read before shared; -1 if there is none
	latePlace  jsonio.Place
	ownTables  bool // a thread has a stack table of its own
	threads    []*thread
	counters   []*counter
	hasThreads bool
	scratch    []byte

	// State of the process that is being read, see readProcess.
	shift    int64 // nanoseconds from the start of the recording to that of the process
	depth    int
	libIndex *libIndex // of libs; nil until it is needed
}

// fileMembers are the members of a profile that are read. The performance panel of Firefox before version 80 saved the
// profile as the member profile of its own file.
var fileMembers = []string{"meta", "libs", "shared", "threads", "counters", "processes", "profile"}

// read reads the file in one pass. The members may have any order, except that meta must precede threads. References to
// members that may follow are validated in source.
func (f *file) read() (ntconv.Source, error) {
	f.lateStacks = -1
	err := f.Object(fileMembers, func(i int) error { return f.readMember(fileMembers[i]) })
	if err == nil {
		err = f.End()
	}
	if err != nil {
		return nil, err
	}
	if f.meta == nil || !f.hasThreads {
		return nil, f.Fail(f.Place(), fmt.Errorf("%w: the members meta and threads of a Firefox profile are missing", ntconv.ErrFormat))
	}
	return f.source()
}

// readMember reads a member of a profile.
func (f *file) readMember(name string) error {
	switch name {
	case "meta":
		return f.readMeta()
	case "libs":
		if f.Kind() == '"' { // of Gecko profiles before version 4
			outer, err := f.openString()
			if err != nil {
				return err
			}
			err = f.readLibs(&f.libs)
			f.Reader = outer
			return err
		}
		return f.readLibs(&f.libs)
	case "shared":
		return f.readShared()
	case "threads":
		f.hasThreads = true
		if f.meta == nil {
			return f.Fail(f.Place(), fmt.Errorf("%w: the member meta comes after threads", ntconv.ErrUnsupported))
		}
		return f.Array(func(int) error {
			if f.Kind() == '"' {
				return f.readEmbedded()
			}
			return f.readThread()
		})
	case "processes":
		if f.meta == nil {
			return f.Fail(f.Place(), fmt.Errorf("%w: the member meta comes after processes", ntconv.ErrUnsupported))
		}
		return f.Array(func(int) error { return f.readProcess() })
	case "profile":
		if f.meta != nil {
			return f.Skip()
		}
		return f.Object(fileMembers, func(i int) error { return f.readMember(fileMembers[i]) })
	}
	if f.meta != nil && f.meta.version == 0 {
		f.report.Note(ntconv.CodeNotCarried, 1, f.Place().Offset, "lists of counters of profiles that Firefox recorded")
		return f.Skip()
	}
	return f.Array(func(int) error { return f.readCounter() })
}

// source returns the events. The whole file must have been read.
func (f *file) source() (ntconv.Source, error) {
	if f.lateStacks >= 0 && (f.shared == nil || f.lateStacks >= int64(f.shared.stacks)) {
		return nil, f.Fail(f.latePlace, fmt.Errorf("%w: there is no stack %d", ntconv.ErrCorrupt, f.lateStacks))
	}
	if err := f.checkNames(); err != nil {
		return nil, err
	}
	if err := f.checkMarkers(); err != nil {
		return nil, err
	}
	o := imported.Origin{Columns: imported.Columns{Default: timeType.Type}, Time: f.meta.start}
	if f.meta.interval > 0 {
		o.PeriodType, o.Period = timeType, f.meta.interval
	}
	if f.meta.product != "" {
		o.Comments = append(o.Comments, "product: "+f.meta.product)
	}
	e := newEvents(f)
	src, err := f.b.Source(imported.Profile{
		Format: f.meta.format(), Origin: o, Frame: f.frame, Wall: time.Unix(0, f.meta.start).UTC(), Event: e.next,
	})
	if err != nil {
		return nil, err
	}
	if f.meta.start == 0 { // programs that do not know the date write 0 or nothing
		src.Info().Clock.Wall = time.Time{}
	}
	e.src = src
	return src, nil
}
