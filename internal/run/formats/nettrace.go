package formats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
	"github.com/spf13/pflag"
)

// Nettrace returns the row of nettrace, the format that ntconv filter writes.
func Nettrace() *Format {
	return &Format{
		Name: "nettrace",
		Exts: []string{".nettrace"},
		Doc:  "traces of .NET Core 3.0 and later: ntconv collect, dotnet-trace, dotnet-monitor, DOTNET_EnableEventPipe, dotnet-trace collect-linux",
		In: &In{
			Sniff:    func(head []byte) bool { return bytes.HasPrefix(head, []byte("Nettrace")) },
			Bind:     func(*pflag.FlagSet) Opener { return nettraceOpener{} },
			NoEvents: noEvents,
			Recorded: true,
		},
		Out: &Out{
			Doc:          "version 6 of a trace of any version, or a trace of the samples of pprof profiles, which PerfView opens",
			Binary:       true,
			Merges:       true,
			InFlags:      true,
			Compressions: compressionExts(),
			Needs: Needs{
				Order:   reader.FileOrder, // a rewrite must not change it; the file is smaller, because threads alternate less often
				Weights: true,
				Subset:  true,
			},
			Advice: noEvents.Next,
			Bind:   bindNettrace,
			Examples: []string{
				"version 6 of a trace of any version", "ntconv to nettrace trace.nettrace -o new.nettrace",
				"the same, with the events in time order",
				"ntconv to nettrace --order time trace.nettrace -o new.nettrace",
				"the last minute, for a smaller file",
				"ntconv to nettrace --from-time -1m trace.nettrace -o end.nettrace",
				"a profile of a Go program, for PerfView", "ntconv to nettrace cpu.pb.gz -o cpu.nettrace",
				"a trace per process of a machine-wide trace, in a directory",
				"ntconv to nettrace --split-by process trace.nettrace -o processes/",
				"one process of a machine-wide trace", "ntconv to nettrace --pid 4711 trace.nettrace -o one.nettrace",
			},
		},
	}
}

// netperf returns the row of netperf, which package reader reads as well.
func netperf() *Format {
	return &Format{
		Name: "netperf",
		Exts: []string{".netperf"},
		Doc:  "traces of .NET Core 2.1 and 2.2",
		In: &In{
			Sniff:    isNetperf,
			Bind:     func(*pflag.FlagSet) Opener { return nettraceOpener{} },
			Ordered:  true,
			NoEvents: noEvents,
			Recorded: true,
		},
	}
}

var noEvents = Advice{"the trace holds no events", "record again, with providers that write events"}

// A nettraceOpener opens both formats, because the reader distinguishes them.
type nettraceOpener struct{}

func (nettraceOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	src, err := reader.New(r, &reader.Options{
		Live:            o.Live,
		Order:           o.Order,
		Strict:          o.Strict,
		Report:          o.Report,
		Limits:          o.windowed(),
		AllowPrerelease: o.AllowPrerelease,
	})
	if err != nil {
		return nil, err // not a nil *reader.Reader in a Source
	}
	return src, nil
}

func (nettraceOpener) Notes() []string { return nil }
func (nettraceOpener) ForRun() Opener  { return nettraceOpener{} }

// nettraceDepth is the maximum number of frames per stack that TraceEvent (Microsoft's library) reads.
const nettraceDepth = 8190

// A nettraceSettings has the flags of ntconv to nettrace.
type nettraceSettings struct {
	writer    writer.Options
	addresses symbol.Addresses
	given     func() bool // --addresses was given
	describe  bool
	splitBy   string
	split     *processSplit // of one output; nil without splitBy
}

func bindNettrace(flags *pflag.FlagSet) Settings {
	c := &nettraceSettings{given: func() bool { return flags.Changed("addresses") }}
	flags.BoolVar(&c.writer.AllowLarge, "allow-large", false,
		"write payloads above 65,535 bytes and stacks above 8,190 frames, which TraceEvent cannot read")
	flags.BoolVar(&c.writer.DropUnknown, "drop-unknown", false,
		"drop blocks, optional metadata and fields of unknown kinds; TraceEvent rejects the latter two")
	flags.Var(&choice[symbol.Addresses]{
		value: &c.addresses,
		choices: []choiceValue[symbol.Addresses]{
			{"mixed", symbol.AddressesMixed}, {"real", symbol.AddressesReal}, {"synthetic", symbol.AddressesSynthetic},
		},
	}, "addresses", "addresses for stacks of names: keep those of single frames (mixed), also of inlined frames (real), "+
		"or synthesize all (synthetic)")
	flags.BoolVar(&c.describe, "describe", false,
		"write names and fields of the runtime's events into the metadata, so that any reader can decode them")
	flags.Var(&choice[string]{value: &c.splitBy, choices: []choiceValue[string]{{"process", "process"}}}, flagSplitBy,
		"write a directory with one trace per process")
	return c.output
}

const flagSplitBy = "split-by"

// output implements Settings.
func (c *nettraceSettings) output(o *Output) {
	own := *c
	o.Create = own.create
	if !c.writer.AllowLarge {
		o.Needs.StackDepth = nettraceDepth
		o.Needs.DepthAdvice = "--allow-large keeps more than 8190 frames of a stack, up to --max-stack, for readers other than TraceEvent"
	}
	if c.splitBy != "" {
		o.Destination, o.Flag = ToDir, "--"+flagSplitBy
		own.split = newProcessSplit()
		learn := func(*ntconv.Info) (see func(*ntconv.Event), end func()) { return own.split.Learn, func() {} }
		o.Needs.Lookaheads = []Lookahead{{Learn: learn, AnyOrder: true, Symbols: true}}
	}
	if c.describe {
		o.Needs.Stage = schema.DescribeForFile
	}
}

func (c *nettraceSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if c.split != nil {
		create := func(w io.Writer) (Sink, error) { return c.sink(w, nil, info, t) }
		return c.split.begin(out, t, create), nil
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	return c.sink(w, finish, info, t)
}

// sink returns a sink that writes one trace to w. finish, if not nil, is called by Close after the last write.
func (c *nettraceSettings) sink(w io.Writer, finish func() error, info *ntconv.Info, t *Target) (Sink, error) {
	o, names := c.writer, symbol.SynthesizeOptions{Addresses: c.addresses, Report: t.Report}
	o.Report, o.Ordered, o.Renumber = t.Report, t.Ordered, t.Filtered || c.split != nil
	sink, err := writer.New(w, info, &o)
	if err != nil {
		return nil, err
	}
	return &nettraceSink{
		Sink: symbol.SynthesizeTo(sink, &names), finish: finish, addresses: c.given(), report: t.Report, weight: -1,
	}, nil
}

// A nettraceSink counts the events that it writes, and moves the synthesis of addresses to a goroutine.
type nettraceSink struct {
	ntconv.Sink              // synthesizes addresses; from the first stack of names on, in an asyncSink
	finish      func() error // completes the compression, or nil
	hasNames    bool         // a stack of the input has frames, and Sink is an asyncSink
	events      int64
	typ         *ntconv.Type // of the previous event
	weight      int          // imported.WeightColumn of typ; -1 if typ is nil or has no weight
	units       []string     // of weights, without duplicates

	addresses bool // --addresses was given
	report    *ntconv.Report
}

func (s *nettraceSink) Write(e *ntconv.Event) error {
	if !s.hasNames && e.Stack != nil && len(e.Stack.Frames) > 0 {
		s.hasNames, s.Sink = true, newAsyncSink(s.Sink) // finding addresses takes longer than reading
	}
	if e.Kind == ntconv.KindEvent {
		s.events++
		if e.Type != s.typ {
			s.typ, s.weight = e.Type, imported.WeightColumn(e.Type)
			if unit := WeightUnit(e.Type); unit != "" && !slices.Contains(s.units, unit) {
				s.units = append(s.units, unit)
			}
		}
		if s.weight >= 0 && imported.NegativeWeight(e.Payload, s.weight) {
			s.report.Add(ntconv.CodeNegativeWeight, 1, e.Offset)
		}
	}
	return AllowLarge(s.Sink.Write(e))
}

// Close also returns errors of events, because asyncSink reports them late.
func (s *nettraceSink) Close() error {
	if err := s.Sink.Close(); err != nil || s.finish == nil {
		return AllowLarge(err)
	}
	return s.finish()
}

// AllowLarge adds the flag --allow-large to errors of the writer that it avoids. It returns other errors unchanged.
func AllowLarge(err error) error {
	var exceeded *ntconv.LimitError
	if errors.As(err, &exceeded) && (exceeded.Limit == writer.LimitPayload || exceeded.Limit == writer.LimitStack) {
		return &ntconv.AdviceError{
			Err:    err,
			Advice: "TraceEvent cannot read it, --allow-large writes it for other readers",
		}
	}
	return err
}

func (s *nettraceSink) Result() Result {
	detail := ""
	if len(s.units) > 1 || len(s.units) == 1 && s.units[0] != "milliseconds" {
		detail = "weights are " + strings.Join(s.units, " and ") + ", which PerfView calls ms"
	}
	if s.addresses && !s.hasNames {
		detail = "--addresses has no effect: no stack of the input has names"
	}
	if s.report.Count(ntconv.CodeUnknownKept) > 0 {
		if detail != "" {
			detail += "; "
		}
		detail += "--drop-unknown drops metadata of unknown kinds, for which TraceEvent rejects the trace"
	}
	return newEventsResult(s.events, detail)
}

// WeightUnit returns the unit of the weights of a profile's samples, such as "bytes". It returns "" if t is nil, or is
// not a type of such samples, or they have no weight.
func WeightUnit(t *ntconv.Type) string {
	if t == nil {
		return ""
	}
	unit, _ := t.Attrs.Get(imported.AttrWeightUnit)
	return unit
}

// serialization begins every stream of .NET's FastSerialization, netperf and gcdump among them: a counted string.
const serialization = "\x14\x00\x00\x00!FastSerialization.1"

// eventPipeFile is the name of the first object in versions 1 and 2 of netperf, and in previews of version 3, which
// differ from later files in nothing else.
const eventPipeFile = "Microsoft.DotNet.Runtime.EventPipeFile"

// isNetperf recognizes version 3 and later. The reader reports newer versions as unsupported.
func isNetperf(head []byte) bool {
	switch serializedType(head) {
	case "Trace":
		return true
	case eventPipeFile:
		return int32(binary.LittleEndian.Uint32(head[len(serialization)+3:])) >= 3
	}
	return false
}

// serializedType returns the name of the first object's type in a stream of FastSerialization, "" if head does not hold
// it. Its layout is two tags, the tag of the type's own type, version, minimum reader version, and a counted string
// (nettrace-v4-v5, "Objects").
func serializedType(head []byte) string {
	const at = len(serialization) + 3 + 8
	if !bytes.HasPrefix(head, []byte(serialization)) || len(head) < at+4 {
		return ""
	}
	n := binary.LittleEndian.Uint32(head[at:])
	name := head[at+4:]
	if n == 0 || uint64(n) > uint64(len(name)) {
		return ""
	}
	return string(name[:n])
}
