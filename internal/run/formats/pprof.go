package formats

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/pproflegacy"
	"github.com/ntconv/ntconv/kind"
	"github.com/spf13/pflag"
)

// pprofFormat returns the row of pprof.
func pprofFormat() *Format {
	return &Format{
		Name: "pprof",
		Exts: []string{extPprof, ".pb", ".pprof", ".prof"},
		Doc:  "profiles of Go, C++, Java, Node and .NET programs, for go tool pprof, Pyroscope, Parca, Perfetto and speedscope",
		In: &In{
			Sniff:   pproflegacy.Match,
			Hint:    func(head []byte) bool { return isPprof("", head) },
			Ordered: true,
			Profile: allProfiles,
			Bind:    bindPprofInput,
			NoBytes: Advice{"an empty file",
				"programs write a profile when the recording ends; check that the program did not end earlier, and record again"},
			NoEvents: Advice{"the profile holds no samples", "record again, for longer and while the program is busy"},
		},
		Out: &Out{
			Doc:    "a profile of the samples of a trace, for go tool pprof, Pyroscope, Parca, Perfetto and speedscope",
			Binary: true,
			// gzip is part of the format, regardless of the name of the output.
			Compressions: []string{extZstd},
			Needs: Needs{
				Names:    NamesLast,
				AnyOrder: true, // samples are added up
			},
			Advice: sampleAdvice,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindPprof(flags, true, false).output },
			Examples: []string{
				"wall time of all threads, or CPU time if the trace is machine-wide", "ntconv to pprof trace.nettrace",
				"CPU time of one process of a machine-wide trace",
				"ntconv to pprof --kind cpu --pid 4711 trace.nettrace",
				"with the names of the spans that were active, for span profiles of Pyroscope",
				"ntconv to pprof --span-name trace.nettrace",
				"the first ten seconds, as a flame graph in a browser",
				"ntconv to pprof --to-time 10s trace.nettrace -o start.pb.gz && go tool pprof -http=: start.pb.gz",
			},
		},
	}
}

const extPprof = ".pb.gz"

// sampleAdvice is the next step for traces without samples: how to record some.
const sampleAdvice = "record samples with dotnet-trace collect --profile dotnet-common,dotnet-sampled-thread-time, or dotnet-trace collect-linux"

// A pprofSettings has the flags of ntconv to pprof.
type pprofSettings struct {
	options  pprof.Options
	kinds    kindFlags
	spans    func() *SpanLabels
	grouping *groupingFlags
}

// bindPprof defines the flags. several means that --kind accepts several kinds. native is the default of --native: true
// means fold.
func bindPprof(flags *pflag.FlagSet, several, native bool) *pprofSettings {
	c := &pprofSettings{grouping: bindGrouping(flags, native)}
	c.kinds.bind(flags, several)
	flags.StringSliceVar(&c.options.DropLabels, flagDropLabel, nil,
		"drop the label with this `key`, such as tid; repeatable")
	c.spans = bindSpanLabels(flags)
	flags.IntVar(&c.options.Level, flagGzipLevel, 0, "compression level, 1 (fast) to 9 (small) (default 1)")
	return c
}

const flagGzipLevel = "gzip-level"

// output implements Settings.
func (c *pprofSettings) output(o *Output) {
	o.Destination, o.Flag = c.kinds.destination()
	o.Needs.Spans, o.Create = c.spanLabels(), c.create
}

// spanLabels returns the values of the flags for labels of spans.
func (c *pprofSettings) spanLabels() *SpanLabels {
	o := c.spans()
	o.Kind = c.kinds.kind
	return o
}

func (c *pprofSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.kinds.check(); err != nil {
		return nil, err
	}
	if c.options.Level < 0 || c.options.Level > 9 {
		return nil, fmt.Errorf("--%s %d: want 1 (fast) to 9 (small)", flagGzipLevel, c.options.Level)
	}
	if c.kinds.isSeveral() {
		return c.perKind(out, info, t), nil
	}
	rest, compression := CutCompression(out.Name())
	if compression != extZstd {
		w, err := out.Create("")
		if err != nil {
			return nil, err
		}
		return c.sink(w, info, t, false), nil
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	_, twice := CutCompression(rest) // x.pb.gz.zst
	s := c.sink(w, info, t, twice == "")
	s.finish = finish
	return s, nil
}

// sink returns a sink that writes a profile to w, compressed with gzip unless uncompressed is set.
func (c *pprofSettings) sink(w io.Writer, info *ntconv.Info, t *Target, uncompressed bool) pprofSink {
	o := c.sinkOptions(t, uncompressed)
	namer, grouped := c.grouping.wrap(t.Namer)
	o.Remarks = grouped.remarks
	sink := pprof.New(w, info, namer, o)
	return pprofSink{Sink: sink, dropped: newDroppedLabels(o.DropLabels), asked: c.kinds.chosen(), grouped: grouped}
}

// sinkOptions returns the options of a sink.
func (c *pprofSettings) sinkOptions(t *Target, uncompressed bool) *pprof.Options {
	o := c.options
	o.Kind, o.Kinds = c.kinds.kind, c.kinds.options
	o.Report, o.Span, o.Window, o.Comments, o.Uncompressed = t.Report, t.Span, t.Window, t.Comments, uncompressed
	return &o
}

// perKind returns a sink that writes one member per kind.
func (c *pprofSettings) perKind(out *fileio.Outputs, info *ntconv.Info, t *Target) Sink {
	create := func(k kind.Kind) (io.WriteCloser, error) { return out.Create(k.String() + extPprof) }
	return c.eachSink(create, c.kinds.each, info, t, false)
}

// eachSink returns a sink that writes one profile per kind to what create returns.
func (c *pprofSettings) eachSink(
	create func(kind.Kind) (io.WriteCloser, error), each []kind.Kind, info *ntconv.Info, t *Target, uncompressed bool,
) pprofSink {
	o := c.sinkOptions(t, uncompressed)
	namer, grouped := c.grouping.wrap(t.Namer)
	o.Remarks = grouped.remarks
	sink := pprof.NewPerKind(create, each, info, namer, o)
	return pprofSink{Sink: sink, dropped: newDroppedLabels(o.DropLabels), asked: c.kinds.chosen(), grouped: grouped}
}

// A Profile creates sinks for profiles that are shown rather than stored.
type Profile struct{ settings *pprofSettings }

// BindProfile defines the flags for the contents of a profile. several means that --kind accepts several kinds. Call
// the methods of the result after the flags are parsed.
func BindProfile(flags *pflag.FlagSet, several bool) *Profile {
	c := bindPprof(flags, several, true)
	flags.Lookup(flagGzipLevel).Hidden = true // the profile is not stored
	return &Profile{c}
}

// Create returns a sink whose Close writes an uncompressed profile.proto to w.
func (p *Profile) Create(w io.Writer, info *ntconv.Info, t *Target) Sink {
	return p.settings.sink(w, info, t, true)
}

// CreateEach returns a sink that writes one uncompressed profile.proto per kind that the flags select, or for every
// kind of the trace if the flags select none. create opens the profile of a kind; Close of the sink closes it. The
// result is that of a single profile if there is only one.
func (p *Profile) CreateEach(create func(kind.Kind) (io.WriteCloser, error), info *ntconv.Info, t *Target) Sink {
	each := p.settings.kinds.each
	if k := p.settings.kinds.kind; k != kind.Auto {
		each = []kind.Kind{k}
	}
	s := p.settings.eachSink(create, each, info, t, true)
	s.shown = true
	return s
}

// Several reports whether the flags select several kinds, or all.
func (p *Profile) Several() bool { return p.settings.kinds.isSeveral() }

// SpanLabels returns the values of the flags for labels of spans.
func (p *Profile) SpanLabels() *SpanLabels { return p.settings.spanLabels() }

// Advice returns the next step for traces without samples: how to record some.
func (p *Profile) Advice() string { return sampleAdvice }

type pprofSink struct {
	*pprof.Sink
	dropped *droppedLabels
	asked   []kind.Kind // by name
	shown   bool        // the profiles are not files
	grouped *grouped
	finish  func() error // completes a compression other than gzip, or nil
}

func (s pprofSink) Close() error {
	if err := s.Sink.Close(); err != nil || s.finish == nil {
		return err
	}
	return s.finish()
}

func (s pprofSink) Write(e *ntconv.Event) error {
	s.dropped.see(e)
	return s.Sink.Write(e)
}

func (s pprofSink) Result() Result {
	var list []*profileResult
	for _, d := range s.Summaries() {
		list = append(list, &profileResult{
			Kind:     d.Kind.String(),
			made:     made{Used: int64(d.Events), Items: int64(d.Samples), Unit: "sample", Text: unresolved(&d)},
			Estimate: d.Estimate, Others: othersJSON(d.Others),
			notes: append(otherKinds(d.Others), s.dropped.notes(s.LabelKeys(), d.Kind)...),
		})
	}
	several := s.PerKind() && (len(list) > 1 || !s.shown)
	return resultOf(s.asked, list, "sample", extPprof, several, s.grouped)
}

// unresolved describes the unresolved frames of a profile in one sentence. It returns "" if there are none.
func unresolved(d *pprof.Summary) string {
	u := profile.Unresolved{
		Frames: d.Frames, Unnamed: d.Unresolved.Frames, Total: d.Total, Any: d.Unresolved.Passing, Leaf: d.Unresolved.Leaf,
		Module: d.Unresolved.Module, Rundown: d.Unresolved.Rundown, Main: profile.ValueType(d.Main),
	}
	u.Reasons[profile.NoModule], u.Reasons[profile.NoMethod] = d.Unresolved.NoModule, d.Unresolved.NoMethod
	u.Reasons[profile.NoSymbol], u.Reasons[profile.NoKernelSymbol] = d.Unresolved.NoSymbol, d.Unresolved.NoKernelSymbol
	if d.Kind == pprof.Wall {
		u.Kind = kind.Wall
	}
	return u.String()
}

// isPprof checks up to 8 fields at the beginning of what may be a profile: top-level fields 1 to 15 of profile.proto
// with their wire types. Fewer than one in a thousand files of random bytes pass, so a match is only a hint.
func isPprof(_ string, head []byte) bool {
	fields := 0
	if isText("", head) {
		return false
	}
	for len(head) > 0 && fields < 8 {
		tag, n := binary.Uvarint(head)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 15 {
			return false
		}
		message := tag>>3 <= 6 || tag>>3 == 11
		if message != (tag&7 == 2) && tag>>3 != 13 || tag&7 != 2 && tag&7 != 0 {
			return false
		}
		head = head[n:]
		v, n := binary.Uvarint(head)
		if n <= 0 {
			return fields > 0 && len(head) < binary.MaxVarintLen64
		}
		head = head[n:]
		if tag&7 == 2 {
			if v > 1<<30 {
				return false
			}
			// Other protobuf files also begin with field 1. In a profile it is a ValueType: two optional numbers.
			if tag>>3 == 1 && v > 0 && len(head) > 0 && head[0] != 1<<3 && head[0] != 2<<3 {
				return false
			}
			head = head[min(v, uint64(len(head))):]
		}
		fields++
	}
	return fields > 0
}
