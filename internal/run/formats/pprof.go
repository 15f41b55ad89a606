package formats

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile/pproflegacy"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// Pprof returns the row of pprof, the format of the profiles that ntconv pipeline merges.
func Pprof() *Format { return pprofFormat() }

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
			Help:   pprofHelp,
			Binary: true,
			// gzip is part of the format, regardless of the name of the output.
			Compressions: []string{extZstd},
			Needs: Needs{
				Names:    NamesLast,
				AnyOrder: true, // samples are added up
			},
			Advice: sampleAdvice,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindPprofOutput(flags).output },
			Examples: []string{
				"wall time of all threads, or CPU time if the trace is machine-wide", "ntconv to pprof trace.nettrace",
				"CPU time of one process of a machine-wide trace",
				"ntconv to pprof --kind cpu --pid 4711 trace.nettrace",
				"with the names of the spans that were active, for span profiles of Pyroscope",
				"ntconv to pprof --span-name trace.nettrace",
				"send all kinds to Pyroscope or Parca",
				"ntconv to pprof --kind all trace.nettrace --endpoint pyroscope+http://localhost:4040",
				"the first ten seconds, as a flame graph in a browser",
				"ntconv to pprof --to-time 10s trace.nettrace -o start.pb.gz && go tool pprof -http=: start.pb.gz",
			},
		},
	}
}

const pprofHelp = `With --endpoint the profiles are sent to Pyroscope or Parca, one request for each kind, and no file is written. Their labels are
__name__ (the kind: process_cpu, memory and mutex for cpu, alloc and contention), service_name and those of --push-label.
Both receivers show a profile at the time of the recording. Pyroscope refuses profiles that are older than its
limit reject_older_than.`

const extPprof = ".pb.gz"

// A pprofSettings has the flags of ntconv to pprof.
type pprofSettings struct {
	profileFlags
	level int
	spans func() *SpanLabels
	push  *pushFlags // nil for profiles that are shown
}

// bindPprofOutput defines the flags of a profile that is written or sent.
func bindPprofOutput(flags *pflag.FlagSet) *pprofSettings {
	c := bindPprof(flags, true, false)
	c.push = bindPush(flags)
	return c
}

// bindPprof defines the flags. several means that --kind accepts several kinds. native is the default of --native: true
// means fold.
func bindPprof(flags *pflag.FlagSet, several, native bool) *pprofSettings {
	c := new(pprofSettings)
	c.bind(flags, several, native)
	flags.StringSliceVar(&c.dropLabels, flagDropLabel, nil, "drop the label with this `key`, such as tid; repeatable")
	c.spans = bindSpanLabels(flags)
	flags.IntVar(&c.level, flagGzipLevel, 0, "compression level, 1 (fast) to 9 (small) (default 1)")
	return c
}

const flagGzipLevel = "gzip-level"

// output implements Settings.
func (c *pprofSettings) output(o *Output) {
	o.Needs.Spans = c.spanLabels()
	o.Destination, o.Flag = c.kinds.destination()
	if to, flag, ok := c.push.destination(); ok {
		o.Destination, o.Flag = to, flag
	}
	o.Create = c.create
}

// spanLabels returns the values of the flags for labels of spans.
func (c *pprofSettings) spanLabels() *SpanLabels {
	o := c.spans()
	o.Kind = c.kinds.kind
	return o
}

func (c *pprofSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if _, _, ok := c.push.destination(); ok {
		return c.push.create(&c.profileFlags, c.format(false), info, t)
	}
	rest, compression := CutCompression(out.Name())
	_, twice := CutCompression(rest) // x.pb.gz.zst
	as := c.format(!c.kinds.isSeveral() && compression == extZstd && twice == "")
	as.file = func(out *fileio.Outputs) (io.Writer, func() error, error) {
		if compression == extZstd {
			return createCompressed(out)
		}
		w, err := out.Create("")
		return w, nil, err
	}
	s, err := c.profileFlags.create(as, out, info, t)
	if err != nil {
		return nil, err
	}
	s.unused = c.push.unused()
	return s, nil
}

// format returns the exporter, which compresses with gzip unless uncompressed is set.
func (c *pprofSettings) format(uncompressed bool) *profileFormat {
	open := func(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o sample.Options) profileExporter {
		return &pprofExporter{
			pprof.New(w, info, namer, &pprof.Options{Options: o, Level: c.level, Uncompressed: uncompressed}), newDroppedLabels(o.DropLabels),
		}
	}
	return &profileFormat{ext: extPprof, unit: "sample", check: c.check, open: open}
}

func (c *pprofSettings) check() error {
	if c.level < 0 || c.level > 9 {
		return fmt.Errorf("--%s %d: want 1 (fast) to 9 (small)", flagGzipLevel, c.level)
	}
	return nil
}

// A pprofExporter also finds flags for labels without effect.
type pprofExporter struct {
	*pprof.Sink
	dropped *droppedLabels
}

func (e *pprofExporter) Write(event *ntconv.Event) error {
	e.dropped.see(event)
	return e.Sink.Write(event)
}

func (e *pprofExporter) notes(k sample.Kind) []string { return e.dropped.notes(e.LabelKeys(), k) }

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
	return p.settings.sink(p.settings.format(true), w, nil, nil, info, t)
}

// CreateEach returns a sink that writes one uncompressed profile.proto per kind that the flags select, or for every kind
// of the trace if the flags select none. create opens the profile of a kind; Close of the sink closes it. The result is
// that of a single profile if there is only one.
func (p *Profile) CreateEach(create func(sample.Kind) (io.WriteCloser, error), info *ntconv.Info, t *Target) Sink {
	each := p.settings.kinds.each
	if k := p.settings.kinds.kind; k != sample.Auto {
		each = []sample.Kind{k}
	}
	s := p.settings.sink(p.settings.format(true), nil, create, each, info, t)
	s.shown = true
	return s
}

// Several reports whether the flags select several kinds, or all.
func (p *Profile) Several() bool { return p.settings.kinds.isSeveral() }

// SpanLabels returns the values of the flags for labels of spans.
func (p *Profile) SpanLabels() *SpanLabels { return p.settings.spanLabels() }

// Advice returns the next step for traces without samples: how to record some.
func (p *Profile) Advice() string { return sampleAdvice }

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
