package formats

import (
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// sampleAdvice is the next step for traces without samples: how to record some.
const sampleAdvice = "record samples with ntconv collect, or dotnet-trace collect-linux"

// profileFlags are the flags of the formats that add up samples.
type profileFlags struct {
	kinds      kindFlags
	grouping   *groupingFlags
	dropLabels []string // of formats with labels
}

// bind defines the flags. several means that --kind accepts several kinds. native is the default of --native: true means
// fold.
func (f *profileFlags) bind(flags *pflag.FlagSet, several, native bool) {
	f.grouping = bindGrouping(flags, native)
	f.kinds.bind(flags, several)
}

// A profileExporter writes profiles: its Close writes one, or one per kind.
type profileExporter interface {
	ntconv.Sink
	ntconv.Watcher
	ntconv.OrderSensitive
	Summaries() []sample.Summary
	PerKind() bool
}

// A profileFormat is what a format of profiles adds to profileFlags.
type profileFormat struct {
	ext  string // of the members of a directory
	unit string // the noun for an item
	// check, if not nil, returns an error for values of the format's own flags.
	check func() error
	// file creates the file of a single profile, like createCompressed, which is the default.
	file func(*fileio.Outputs) (w io.Writer, finish func() error, err error)
	// open returns the exporter. w is nil if o.Create is not.
	open func(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o sample.Options) profileExporter
}

// settings returns the settings of a format for the values of the flags.
func (f *profileFlags) settings(as *profileFormat) Settings {
	return func(o *Output) {
		o.Destination, o.Flag = f.kinds.destination()
		o.Create = func(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
			s, err := f.create(as, out, info, t)
			if err != nil {
				return nil, err
			}
			return s, nil
		}
	}
}

// create returns the sink of an output: a file, or a directory with one file per kind.
func (f *profileFlags) create(as *profileFormat, out *fileio.Outputs, info *ntconv.Info, t *Target) (*profileSink, error) {
	if err := f.kinds.check(); err != nil {
		return nil, err
	}
	if as.check != nil {
		if err := as.check(); err != nil {
			return nil, err
		}
	}
	if f.kinds.isSeveral() {
		create := func(k sample.Kind) (io.WriteCloser, error) { return out.Create(k.String() + as.ext) }
		return f.sink(as, nil, create, f.kinds.each, info, t), nil
	}
	file := as.file
	if file == nil {
		file = createCompressed
	}
	w, finish, err := file(out)
	if err != nil {
		return nil, err
	}
	s := f.sink(as, w, nil, nil, info, t)
	s.finish = finish
	return s, nil
}

// sink returns a sink that writes a profile to w, or one per kind to what create returns.
func (f *profileFlags) sink(
	as *profileFormat, w io.Writer, create func(sample.Kind) (io.WriteCloser, error), each []sample.Kind, info *ntconv.Info, t *Target,
) *profileSink {
	namer, grouped := f.grouping.wrap(t.Namer)
	s := &profileSink{format: as, asked: f.kinds.chosen(), grouped: grouped}
	s.profileExporter = as.open(w, info, namer, sample.Options{
		Kind: f.kinds.kind, Create: create, Each: each, KindOptions: f.kinds.options, DropLabels: f.dropLabels, Span: t.Span,
		Window: t.Window, Comments: t.Comments, Remarks: grouped.remarks, Report: t.Report,
	})
	return s
}

// A profileSink writes profiles with an exporter.
type profileSink struct {
	profileExporter
	format  *profileFormat
	asked   []sample.Kind // by name
	shown   bool          // the profiles are not files
	grouped *grouped
	finish  func() error // completes the compression of the file, or nil
	unused  []string     // notes on flags without effect
}

// Close also completes the compression.
func (s *profileSink) Close() error {
	if err := s.profileExporter.Close(); err != nil || s.finish == nil {
		return err
	}
	return s.finish()
}

// Result implements Sink.
func (s *profileSink) Result() Result {
	var list []*profileResult
	for _, d := range s.Summaries() {
		p := &profileResult{
			Kind:     d.Kind.String(),
			made:     made{Used: int64(d.Events), Items: int64(d.Items), Unit: s.format.unit, Text: profile.DescribeUnresolved(&d)},
			Estimate: d.Estimate, Others: othersJSON(d.Others), notes: otherKinds(d.Others),
		}
		if x, ok := s.profileExporter.(interface{ notes(sample.Kind) []string }); ok {
			p.notes = append(p.notes, x.notes(d.Kind)...)
		}
		list = append(list, p)
	}
	if s.PerKind() && (len(list) > 1 || !s.shown) {
		r := newKindsResult(s.asked, list, s.format, s.grouped)
		r.notes = append(r.notes, s.unused...)
		return r
	}
	if len(list) == 0 { // the sink failed
		list = append(list, &profileResult{made: made{Unit: s.format.unit}})
	}
	p := list[0]
	if len(s.asked) == 0 && p.Kind == sample.Events.String() {
		p.notes = append(p.notes, "the trace has no other kind of profile")
	}
	for _, remark := range s.grouped.remarks() {
		p.Remark(remark)
	}
	p.asked, p.Grouping, p.notes = s.asked, s.grouped.members(), slices.Concat(p.notes, s.grouped.notes(), s.unused)
	return p
}
