package formats

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/track"
	"github.com/spf13/pflag"
)

// Names of the flags that the timeline formats share.
const (
	flagTracks      = "tracks"
	flagMinDuration = "min-duration"
	flagRundown     = "rundown"
	flagSpanIDOrder = "span-id-order"
)

// timelineFlags are the flags of the formats that show a trace as a timeline.
type timelineFlags struct {
	options track.Options
	kinds   kindFlags
}

// bind defines the flags. shown is what the format can represent.
func (f *timelineFlags) bind(flags *pflag.FlagSet, shown track.Set) {
	f.kinds.bindSamples(flags)
	o := &f.options
	v := &tracksValue{set: &o.Tracks, shown: shown}
	flags.Var(v, flagTracks, "contents: "+v.names()+", all; comma-separated (default all)")
	flags.DurationVar(&o.MinDuration, flagMinDuration, 0, "omit slices shorter than this `time`")
	flags.BoolVar(&o.Rundown, flagRundown, false, "include events that only describe methods, modules and processes")
	flags.Var(&choice[bool]{&o.SpanIDReversed, []choiceValue[bool]{{"be", false}, {"le", true}}}, flagSpanIDOrder,
		"byte order of the label SpanId in the trace: be as in the W3C text form, le reversed")
}

// of returns the options for a target.
func (f *timelineFlags) of(t *Target) track.Options {
	o := f.options
	o.Kinds, o.KindOptions, o.Window = f.kinds.sampleKinds(), f.kinds.options, t.Window
	o.Name, o.Version, o.Report, o.MaxTemp = t.Input, t.Version, t.Report, t.MaxTemp
	return o
}

// check returns a *FlagError for invalid values.
func (f *timelineFlags) check() error {
	if f.options.MinDuration < 0 {
		return &FlagError{
			fmt.Sprintf("--%s %s: want a positive time, or 0 for no limit", flagMinDuration, f.options.MinDuration),
		}
	}
	return f.kinds.check()
}

// A tracksValue is a flag for a list of contents of a timeline.
type tracksValue struct {
	set   *track.Set
	shown track.Set // what help lists
}

// tracks returns the names of --tracks in the order in which help and errors show them.
func tracks() (list []choiceValue[track.Set]) {
	for _, n := range track.Names() {
		list = append(list, choiceValue[track.Set]{n.Name, n.Set})
	}
	return append(list, choiceValue[track.Set]{"all", track.All})
}

// names returns the names that help lists. It marks those that all does not contain.
func (v *tracksValue) names() string {
	return joinTracks(v.shown, func(n track.Name) string {
		if n.Set&track.All == 0 {
			return n.Name + " (not in all)"
		}
		return n.Name
	}, ", ")
}

// joinTracks returns the elements of a set as text.
func joinTracks(set track.Set, text func(track.Name) string, separator string) string {
	var list []string
	for _, n := range track.Names() {
		if set&n.Set != 0 {
			list = append(list, text(n))
		}
	}
	return strings.Join(list, separator)
}

func (v *tracksValue) Set(s string) error {
	set, err := parseSet(tracks(), s)
	*v.set |= set
	return err
}

func (v *tracksValue) String() string {
	if v.set == nil || *v.set == track.All {
		return ""
	}
	return joinTracks(*v.set, func(n track.Name) string { return n.Name }, ",")
}

func (v *tracksValue) Type() string { return "list" }

// A timelineSink writes a timeline with the sink of an exporter.
type timelineSink struct {
	timelineExporter
	finish func() error // completes the compression of the file; nil if the exporter closes its files
	result func() Result
}

type timelineExporter interface {
	ntconv.Sink
	ntconv.Watcher
	Aborter
}

// Close also completes the compression.
func (s timelineSink) Close() error { return s.end(s.timelineExporter.Close()) }

// Abort implements Aborter.
func (s timelineSink) Abort() error { return s.end(s.timelineExporter.Abort()) }

// end releases the compression, whether the exporter failed or not.
func (s timelineSink) end(err error) error {
	if s.finish == nil {
		return err
	}
	if finish := s.finish(); err == nil {
		return finish
	}
	return err
}

// Result implements Sink.
func (s timelineSink) Result() Result { return s.result() }

// timelineResult is the result of a timeline.
type timelineResult struct {
	made
	Slices     int64 `json:"slices"`
	Instants   int64 `json:"instants"`
	Counters   int64 `json:"counters"`
	Samples    int64 `json:"samples"`
	Flows      int64 `json:"flows"`
	Spans      int64 `json:"spans"` // of Slices
	Short      int64 `json:"short,omitempty"`
	Losses     int64 `json:"losses,omitempty"`
	Unchanged  int64 `json:"unchanged,omitempty"` // events that were imported from the same format
	Rundown    int64 `json:"rundown,omitempty"`
	Unfinished int64 `json:"unfinished,omitempty"`
	Renumbered int64 `json:"renumbered,omitempty"`
	Files      int64 `json:"files,omitempty"` // of a directory
	flagless   bool
}

// newTimelineResult returns the result for the counts of a timeline. Exporters add remarks on their format with Remark.
// flagless is Target.Flagless.
func newTimelineResult(c track.Counts, flagless bool) *timelineResult {
	items := c.Slices + c.Instants + c.Counters + c.Samples + c.Losses + c.Raw
	if items == c.Raw {
		c.Renumbered = 0 // imported events have the numbers of their file
	}
	r := &timelineResult{
		made:   made{Used: c.Events - c.Rundown, Items: items, Unit: eventUnit},
		Slices: c.Slices, Instants: c.Instants, Counters: c.Counters, Samples: c.Samples, Flows: c.Flows, Spans: c.Spans,
		Losses: c.Losses, Unchanged: c.Raw, Short: c.Short, Rundown: c.Rundown, Unfinished: c.Unfinished,
		Renumbered: c.Renumbered, flagless: flagless,
	}
	add := func(n int64, one, many, text string) {
		if n > 0 {
			r.Remark(message.Count(n, one, many) + " " + text)
		}
	}
	add(c.Unfinished, "slice", "slices", "without an end in the trace, ended with the trace")
	add(c.Renumbered, "thread or process", "threads and processes",
		"renumbered, because the recorded number has more than 32 bits or is not unique")
	add(c.Moved, "slice", "slices", "with times far outside of the recording moved to its start or end")
	add(c.Short, "slice", "slices", "shorter than --"+flagMinDuration+" omitted")
	omitted := "of methods, modules and processes omitted"
	if !flagless {
		omitted += " (--" + flagRundown + " to include)"
	}
	add(c.Rundown, "description", "descriptions", omitted)
	return r
}

// Empty implements Result. The text names the flag that includes omitted slices or events.
func (t *timelineResult) Empty() string {
	switch {
	case t.Items > 0:
		return ""
	case t.flagless:
	case t.Short > 0:
		return fmt.Sprintf("events (%s; a smaller --%s includes them)", message.Count(t.Short, "short slice"), flagMinDuration)
	case t.Rundown > 0:
		return fmt.Sprintf("events (%s only describe methods, modules and processes; --%s includes them)",
			message.Group(t.Rundown), flagRundown)
	}
	return t.made.Empty()
}

// EmptiedByFlag implements FlagEmptied.
func (t *timelineResult) EmptiedByFlag() bool { return t.Items == 0 && t.Short+t.Rundown > 0 }

func (t *timelineResult) Line(r Read) string {
	line := ""
	for _, n := range []struct {
		count int64
		unit  string
	}{
		{t.Slices, "slice"}, {t.Samples, "sample"}, {t.Counters, "counter value"}, {t.Instants, "instant"},
		{t.Flows, "arrow"}, {t.Unchanged, "unchanged event"},
	} {
		if n.count > 0 {
			line += message.Count(n.count, n.unit) + ", "
		}
	}
	if t.Files > 0 {
		line = message.Count(t.Files, "file") + ", " + line
	}
	return line + "from " + r.Line()
}

func (t *timelineResult) Detail() (string, []ntconv.Code) { return t.Text, nil }
