package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// otlpFormat returns the row of OTLP.
func otlpFormat() *Format {
	return &Format{
		Name: "otlp",
		Exts: []string{".binpb", ".jsonl", ".otlp"},
		Doc:  "spans, log records, metrics and profiles of OpenTelemetry (OTLP) as JSON lines or protobuf, as the OpenTelemetry Collector reads and writes them",
		In:   otlpIn(),
		Out: &Out{
			Doc:          "the spans, log messages, counters and profiles of a trace as OTLP, sent to a collector or written to a file",
			Help:         otlpHelp,
			Compressions: compressionExts(),
			Needs: Needs{
				Order: reader.ByTime, // a span must begin before it ends and before what it contains
				Live:  true,
				Names: NamesLast, // of profiles
			},
			Advice: spanAdvice,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindOTLP(flags).output },
			Examples: []string{
				"send the spans to a collector, over gRPC",
				"ntconv to otlp trace.nettrace --endpoint http://localhost:4317",
				"send them over HTTP, with a key",
				"ntconv to otlp trace.nettrace --endpoint https://otlp.example.com/v1/traces --header api-key=KEY --compression gzip",
				"send the log messages only, and the events of a source of your own as log records",
				"ntconv to otlp trace.nettrace --signals logs --logs 'Shop-*' --endpoint http://localhost:4317",
				"send profiles of all kinds, to a collector that accepts this signal in development",
				"ntconv to otlp trace.nettrace --signals profiles --endpoint http://localhost:4317",
				"write a file that the Collector can read", "ntconv to otlp trace.nettrace -o spans.jsonl",
				"send spans while a trace is being recorded",
				"ntconv to otlp --follow trace.nettrace --endpoint http://localhost:4317",
				"also garbage collections and waits for locks",
				"ntconv to otlp --spans default,gc,contention trace.nettrace -o spans.binpb",
			},
		},
	}
}

const otlpHelp = `Spans, log messages and the values of counters and instruments are written, each if the trace has them; --signals selects.
Profiles are written only if --signals names them, because their protocol is in development: the messages are those of
profiles/v1development in opentelemetry-proto 1.10 and 1.11. The Collector accepts them with --feature-gates=service.profilesSupport.

With --endpoint they are sent to a collector and no file is written, and so they are without -o if the environment
names an endpoint. Files with the extension .jsonl contain JSON lines, those with .binpb or .otlp protobuf; .gz or .zst after
that compresses them.

Flags of the connection take precedence over the variables OTEL_EXPORTER_OTLP_ENDPOINT, _PROTOCOL, _HEADERS, _TIMEOUT,
_COMPRESSION, _INSECURE, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, and OTEL_EXPORTER_OTLP_TRACES_... over these. If spans
are sent, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe the processes of the trace, not ntconv. Files do not
depend on the environment.

Intervals of the runtime, such as waits for locks, are children of the span that was active on their thread. Most recordings
show a span only when it ends, so ntconv reads the trace twice to know which span that was. A pipe can be read only once: there,
only spans with a start event get intervals.

--profile-id lets Grafana show the profile of a span (Traces to profiles): the samples that ntconv to pprof writes have the
same ID in the label span_id.

A trace from a pipe is read in file order, so that spans leave as they arrive. --order time is exact where events of several
threads belong together, but waits until the trace has passed a point where all threads were in step.`

// spanAdvice is the next step for traces without spans: how to record some.
const spanAdvice = "record Activities with ntconv collect --profile spans"

// signalAdvice is the next step for traces without items of the only selected signals.
var signalAdvice = map[otlp.Signal]string{
	otlp.Logs:     "record log messages with ntconv collect --profile logs",
	otlp.Metrics:  "record counters with ntconv collect --profile metrics",
	otlp.Profiles: sampleAdvice,
}

// An otlpSettings has the flags of ntconv to otlp.
type otlpSettings struct {
	flags     *pflag.FlagSet
	form      string
	options   otlp.Options
	resource  []string
	logs      []string // patterns of providers
	kinds     kindFlags
	grouping  *groupingFlags
	spans     func() *SpanLabels
	original  bool // add a profile of pprof's format to each kind
	flush     time.Duration
	nameWait  time.Duration
	named     bool // the first pass has learned the names of all processes
	batch     countValue
	bytes     sizeValue
	maxEvents countValue
	maxOpen   countValue
	link      *connectionFlags
	known     []*ntconv.Event // events of the first pass that describe processes, at most maxKnown
}

const (
	flagForm         = "form"
	flagFlushEvery   = "flush-every"
	flagMaxOpenSpans = "max-open-spans"
	flagServiceName  = "service-name"
	flagNameWait     = "name-wait"
	flagSignals      = "signals"
	flagResource     = "resource"
	flagOriginal     = "original-payload"
)

const formAuto = "auto"

func bindOTLP(flags *pflag.FlagSet) *otlpSettings {
	c := &otlpSettings{flags: flags, link: bindCollector(flags)}
	o := &c.options
	flags.Var(Choice(&c.form, formAuto, "json", "proto", "delimited"), flagForm, "form of a file: JSON lines, one protobuf "+
		"message, or a length and a protobuf message per batch (default: by extension, else JSON lines)")
	flags.Lookup(flagForm).DefValue = ""
	flags.Var((*signalsValue)(&o.Signals), flagSignals, "what is written: traces, logs, metrics, profiles or all; comma-separated (default: all that the trace "+
		"has but profiles; protobuf files hold one signal, by default traces)")
	c.kinds.bindProfiles(flags)
	c.grouping, c.spans = bindGrouping(flags, false), bindSpanLabels(flags)
	flags.BoolVar(&c.original, flagOriginal, false, "add each kind of profile in the format of pprof, too, as the original payload of a profile")
	flags.StringArrayVar(&c.logs, "logs", nil, "also make log records of the events of this `provider`, with their level and fields; "+
		"* matches any text, repeatable (always: messages of Microsoft.Extensions.Logging)")
	bindMetrics(flags, &o.SemanticMetrics, &o.MetricsFromEvents)
	flags.Var((*spansValue)(&o.Sources), "spans", "events that become spans: labels, activities, pairs, gc, jit, contention (locks), "+
		"waits (wait handles), exceptions, requests, suspensions (of the runtime, not for gc), default or all (without suspensions); comma-separated. Imported spans and slices of Chrome traces are always included")
	flags.Var(
		&choice[otlp.AttributeTypes]{
			&o.Attributes,
			[]choiceValue[otlp.AttributeTypes]{{"convention", otlp.Convention}, {"text", otlp.Text}},
		},
		"attributes",
		"types of attributes that the trace stores as strings: by the semantic conventions of OpenTelemetry (convention), or all strings (text)",
	)
	flags.Var(&choice[otlp.Unfinished]{&o.Unfinished, []choiceValue[otlp.Unfinished]{
		{"drop", otlp.DropUnfinished}, {"open", otlp.OpenUnfinished}, {"close", otlp.CloseUnfinished},
	}}, "unfinished", "spans whose end the trace does not contain: drop them, leave them open, or close them with the trace")
	flags.Var(
		&choice[otlp.ByteOrder]{
			&o.SpanIDOrder,
			[]choiceValue[otlp.ByteOrder]{{"be", otlp.BigEndian}, {"le", otlp.LittleEndian}},
		},
		"span-id-order",
		"byte order of the label SpanId in the trace: be as in the W3C text form, le reversed",
	)
	flags.Var(&c.maxEvents, "max-span-events", "maximum number of events per span that is built from labels (default 128)")
	flags.Var(&c.maxOpen, flagMaxOpenSpans, "maximum number of open spans (default 100000)")
	flags.BoolVar(&o.OmitExporter, "omit-exporter", false,
		"omit the requests with which the program sent its own spans")
	flags.StringVar(&o.ServiceName, flagServiceName, "",
		"`name` of the service for all processes and imported spans (default: from the command line of each)")
	flags.StringArrayVar(&c.resource, flagResource, nil,
		"attribute `key=value` of all processes and imported spans; repeatable")
	flags.BoolVar(&o.ThreadAttributes, "thread-attributes", false,
		"add the thread on which a span started to its attributes")
	flags.BoolVar(&o.ProfileIDs, "profile-id", false,
		"add the attribute pyroscope.profile.id, with which Grafana shows the profile of a span (ntconv to pprof)")
	flags.Var(&c.batch, "batch", "spans per batch (default 512)")
	flags.Var(&c.bytes, "batch-bytes", "maximum size of a batch, before compression (default 3.5MiB)")
	flags.DurationVar(&c.nameWait, flagNameWait, 3*time.Second, "maximum `time` that the first spans of a pipe wait until the trace "+
		"names its program; 0 does not wait")
	flags.DurationVar(&c.flush, flagFlushEvery, 0,
		"maximum `time` that a span waits for its batch to fill (default 500ms, for files no limit)")
	return c
}

// output implements Settings. .NET writes the command line of a process at the end, but the first batch needs it. Most
// recordings show an Activity only when it ends, but an interval of the runtime within it needs its ID earlier.
func (c *otlpSettings) output(o *Output) {
	own := *c
	o.Binary = c.formOf("") != otlp.JSONLines // for standard output, which has no extension
	o.Advice, o.Create = c.advice(), own.create
	o.Destination, o.Flag = c.destination()
	if c.profiles() {
		o.Needs.Spans = c.spans()
		o.Needs.Spans.Kind = c.kinds.kind
	} else {
		o.Needs.Names = NoNames
	}
	if c.options.ServiceName == "" {
		o.Needs.Lookaheads = append(o.Needs.Lookaheads, Lookahead{Learn: own.learnProcesses, AnyOrder: true, Optional: true})
	}
	runtime := operation.Sources(c.options.Sources)&(operation.Runtime|operation.Suspensions) != 0
	if runtime || c.flags.Changed(flagSignals) && c.options.Signals.Has(otlp.Logs) {
		o.Needs.Lookaheads = append(o.Needs.Lookaheads, Lookahead{Learn: own.learnSpans, Optional: true})
	}
}

// profiles reports whether profiles are written.
func (c *otlpSettings) profiles() bool { return c.options.Signals.Has(otlp.Profiles) }

// profileFlagNames are the flags for the contents of profiles.
var profileFlagNames = []string{FlagKind, flagTypeAs, flagLabel, flagWeight, flagJustMyCode, flagFold, flagGroup, flagNative, FlagSpanLink, FlagSpanName, flagOriginal}

// setProfiles sets the options of profiles, and returns the namer for them.
func (c *otlpSettings) setProfiles(t *Target) (ntconv.Namer, error) {
	if !c.profiles() {
		for _, name := range profileFlagNames {
			if c.flags.Changed(name) {
				return nil, &FlagError{fmt.Sprintf("--%s needs --%s %s", name, flagSignals, otlp.Profiles)}
			}
		}
		return t.Namer, nil
	}
	if err := c.kinds.check(); err != nil {
		return nil, err
	}
	namer, grouped := c.grouping.wrap(t.Namer)
	c.options.Profiles = sample.Options{
		Each: c.kinds.profileKinds(), KindOptions: c.kinds.options, Span: t.Span, Window: t.Window, Comments: t.Comments, Remarks: grouped.remarks,
	}
	return namer, nil
}

// advice returns how to record spans. Without spans that the trace itself describes, it is how to record the intervals
// of the runtime that --spans selects.
func (c *otlpSettings) advice() string {
	if signals := c.options.Signals; !signals.Has(otlp.Traces) {
		return signalAdvice[signals.List()[0]]
	}
	sources := operation.Sources(c.options.Sources)
	if sources == 0 || sources&(operation.Labels|operation.Activities|operation.Pairs) != 0 {
		return spanAdvice
	}
	var list []string
	for _, category := range operation.Categories() {
		if sources&category.Source != 0 {
			list = append(list, "for --spans "+category.Name+": "+howToRecord(category.Source))
		}
	}
	return strings.Join(list, "; ")
}

// howToRecord returns how to record the operations of a source.
func howToRecord(source operation.Sources) string {
	for _, o := range operation.All() {
		if o.Source == source && o.Record != "" {
			return o.Record
		}
	}
	return recorder(sample.Requests) + " records them"
}

// destination returns where the spans go. If neither --endpoint nor -o is given, the environment decides.
func (c *otlpSettings) destination() (Destination, string) {
	switch {
	case c.flags.Changed(flagEndpoint): // also to "": a script whose variable is empty wants no file
		return ToNothing, "--" + flagEndpoint
	case c.flags.Lookup("output") == nil || c.flags.Changed("output"):
		return ToFile, "" // ntconv convert writes files only
	}
	if name := endpointVariable(c.options.Signals, os.Getenv); name != "" {
		return ToNothing, name
	}
	return ToFile, ""
}

func (c *otlpSettings) learnProcesses(*ntconv.Info) (see func(*ntconv.Event), end func()) {
	return func(e *ntconv.Event) {
		if e.Kind == ntconv.KindEvent && recording.Describes(e.Type) && len(c.known) < maxKnown {
			c.known = append(c.known, e.Clone())
		}
	}, func() { c.named = true }
}

// learnSpans records when each span was active.
func (c *otlpSettings) learnSpans(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	c.setLimits()
	spans := otlp.NewActiveSpans(info, &c.options)
	return spans.Add, func() {
		spans.Finish()
		c.options.Active = spans.Find
	}
}

// maxKnown is the maximum number of events that are kept from the first pass: one or two per process, and per thread in
// some traces.
const maxKnown = 100_000

func (c *otlpSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.complete(t); err != nil {
		return nil, err
	}
	if err := c.oneSignal(out, t); err != nil {
		return nil, err
	}
	namer, err := c.setProfiles(t)
	if err != nil {
		return nil, err
	}
	own := *t
	own.Namer, t = namer, &own
	if t.Uploader != nil {
		return c.send(t.Uploader, new(otlpSink), out, info, t), nil
	}
	if to, _ := c.destination(); to == ToNothing {
		return c.connect(out, info, t)
	}
	return c.file(out, info, t)
}

// oneSignal returns an error if the flags select several signals for a file that can have only one.
func (c *otlpSettings) oneSignal(out *fileio.Outputs, t *Target) error {
	name, _ := CutCompression(out.Name())
	to, _ := c.destination()
	if t.Uploader != nil || to == ToNothing || len(c.options.Signals.List()) < 2 || !c.flags.Changed(flagSignals) || c.formOf(name) == otlp.JSONLines {
		return nil
	}
	return &FlagError{fmt.Sprintf("--%s %s: a protobuf file has one signal; name one, or write JSON lines with -o NAME.jsonl", flagSignals, c.flags.Lookup(flagSignals).Value)}
}

// complete sets the options that do not correspond to one flag. Its errors are those of flags.
func (c *otlpSettings) complete(t *Target) error {
	o := &c.options
	o.Report = t.Report
	o.BatchItems, o.BatchBytes = int(c.batch), int(c.bytes)
	c.setLimits()
	o.FlushEvery = c.flush
	o.NameWait = 0
	if c.named || c.nameWait <= 0 {
		o.NameWait = -1
	} else if c.flags.Changed(flagNameWait) {
		o.NameWait = c.nameWait
	}
	if c.flush < 0 {
		return &FlagError{fmt.Sprintf("--%s %s: want a positive time, or 0 for no limit", flagFlushEvery, c.flush)}
	}
	if c.logs != nil {
		o.LogProviders = func(provider string) bool {
			return slices.ContainsFunc(c.logs, func(pattern string) bool { return where.Match(pattern, provider) })
		}
	}
	o.ImportedResource = nil
	if o.ServiceName != "" {
		o.ImportedResource = ntconv.Attrs{{Key: "service.name", Value: o.ServiceName}}
	}
	var err error
	if o.Resource, err = parsePairs(flagResource, c.resource); err != nil {
		return err
	}
	// The environment describes the processes of the trace, not the programs of imported spans.
	o.ImportedResource = append(o.ImportedResource, o.Resource...)
	return nil
}

// setLimits sets the limits that determine the set of spans. Both passes must use the same limits.
func (c *otlpSettings) setLimits() {
	c.options.MaxEvents, c.options.MaxOpen = int(c.maxEvents), int(c.maxOpen)
}

// defaultFlush is the maximum time that spans wait for their batch to fill if a receiver may be waiting for them.
const defaultFlush = 500 * time.Millisecond

// file returns a sink that writes spans to a file.
func (c *otlpSettings) file(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	member, err := out.Create("")
	if err != nil {
		return nil, err
	}
	o := c.options
	w := io.Writer(member)
	sink := &otlpSink{}
	name, compression := CutCompression(out.Name())
	if compression != "" {
		z, err := fileio.NewCompressor(w, compression)
		if err != nil {
			return nil, err
		}
		w, sink.finish = z, z.Close
	}
	if !out.Atomic() {
		w = &flushed{w: w, member: member}
		if !c.flags.Changed(flagFlushEvery) {
			o.FlushEvery = defaultFlush
		}
	}
	sink.payloads = c.payloads(info, t.Namer, &o)
	sink.Sink = otlp.NewFile(w, c.formOf(name), info, t.Namer, &o)
	sink.result.notes = c.link.unused()
	c.prepare(sink, t)
	return sink, nil
}

// prepare passes the events of the first pass to the sink, and sets the members of its result that are known before the
// first event.
func (c *otlpSettings) prepare(s *otlpSink, t *Target) {
	s.result.flagless, s.finite = t.Flagless, t.Finite
	s.result.unit = c.options.Signals.List()[0].Item()
	s.result.fate = s.result.fateOf(c.options.Unfinished)
	s.result.live = c.options.Active == nil
	for _, e := range c.known {
		s.Watch(e)
	}
}

// formOf returns the form of a file with that name, without the extension of a compression.
func (c *otlpSettings) formOf(name string) otlp.Form {
	form := c.form
	if form == formAuto {
		form = "json"
		if strings.HasSuffix(strings.ToLower(name), ".binpb") || strings.HasSuffix(strings.ToLower(name), ".otlp") {
			form = "proto"
		}
	}
	switch form {
	case "proto":
		return otlp.Protobuf
	case "delimited":
		return otlp.Delimited
	}
	return otlp.JSONLines
}

// A flushed writes to an output whose reader may be waiting: it flushes after each write, which is one batch.
type flushed struct {
	w      io.Writer // member, or a compressor that writes to it
	member *fileio.Member
}

func (f *flushed) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		return n, err
	}
	if z, ok := f.w.(fileio.Compressor); ok {
		err = z.Flush()
	}
	return n, errors.Join(err, f.member.Flush())
}
