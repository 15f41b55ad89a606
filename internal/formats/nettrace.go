package formats

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
	"github.com/spf13/pflag"
)

func nettrace() *Format {
	return &Format{
		Name:    "nettrace",
		Exts:    []string{".nettrace"},
		Doc:     "traces of .NET Core 3.0 and later: dotnet-trace, dotnet-monitor, DOTNET_EnableEventPipe, dotnet-trace collect-linux",
		Makes:   "version 6 of a trace of any version, or a trace of the samples of pprof profiles, which PerfView opens",
		Binary:  true,
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("Nettrace")) },
		Open:    openNettrace,
		Create:  createNettrace,
		Reading: func(flags *pflag.FlagSet, o *ReadOptions) { o.BindProfile(flags) },
		Merges:  true,
		Weights: true,

		StackDepth: 8190,

		Order:  reader.FileOrder, // what a rewrite must not change, and smaller: threads take turns less often
		Advice: "record again, with providers that have something to tell",
		Examples: []Example{
			{"version 6 of a trace of any version", "ntconv to nettrace trace.nettrace -o new.nettrace"},
			{"the same, with the events in the order of time", "ntconv to nettrace --order time trace.nettrace -o new.nettrace"},
			{"the last minute, for a smaller file", "ntconv to nettrace --from-time -1m trace.nettrace -o end.nettrace"},
			{"a profile of a Go program, for PerfView", "ntconv to nettrace cpu.pb.gz -o cpu.nettrace"},
			{"one process of a machine-wide trace", "ntconv to nettrace --pid 4711 trace.nettrace -o one.nettrace"},
		},
	}
}

func createNettrace(flags *pflag.FlagSet) CreateFunc {
	var o writer.Options
	flags.BoolVar(&o.AllowLarge, "allow-large", false, "write payloads above 65,535 bytes and stacks above 8,190 frames, which Microsoft's reader cannot read")
	var names symbol.SynthesizeOptions
	flags.Var(&choice[symbol.Addresses]{
		value: &names.Addresses,
		choices: []named[symbol.Addresses]{
			{"mixed", symbol.AddressesMixed}, {"real", symbol.AddressesReal}, {"synthetic", symbol.AddressesSynthetic},
		},
	}, "addresses", "of inputs that hold names: keep addresses that stand for one frame (mixed), also those where functions were inlined (real), or make up all")
	return func(w io.Writer, info *ntconv.Info, t *Target) (Sink, error) {
		o, names := o, names
		o.Report, o.Ordered, o.Renumber = t.Report, t.Ordered, t.Filtered
		names.Report = t.Report
		sink, err := writer.New(w, info, &o)
		if err != nil {
			return nil, err
		}
		return &nettraceSink{Sink: symbol.SynthesizeTo(sink, &names), addresses: flags.Changed("addresses")}, nil
	}
}

// A nettraceSink counts what it writes.
type nettraceSink struct {
	ntconv.Sink
	named  bool // stacks have names
	events int64
	typ    *ntconv.Type // seen last
	units  []string     // of weights

	addresses bool // the user has said which addresses frames get that have only names
}

func (s *nettraceSink) Write(e *ntconv.Event) error {
	if !s.named && e.Stack != nil && len(e.Stack.Frames) > 0 {
		s.named, s.Sink = true, newBehind(s.Sink) // finding addresses takes longer than reading
	}
	if e.Kind == ntconv.KindEvent {
		s.events++
		if e.Type != s.typ {
			s.typ = e.Type
			if unit := WeightUnit(e.Type); unit != "" && !slices.Contains(s.units, unit) {
				s.units = append(s.units, unit)
			}
		}
	}
	return s.Sink.Write(e)
}

func (s *nettraceSink) Result() Result {
	r := Result{Items: s.events, Unit: "event", Events: s.events}
	if len(s.units) > 1 || len(s.units) == 1 && s.units[0] != "milliseconds" {
		r.Detail = "weights are " + strings.Join(s.units, " and ") + ", which PerfView calls ms"
	}
	if s.addresses && !s.named {
		r.Detail = "--addresses has no effect: no stack of the input is made of names"
	}
	return r
}

// WeightUnit returns the unit of the weights of a profile's samples, "" if it has none or events of the type are not such samples.
func WeightUnit(t *ntconv.Type) string {
	if t == nil {
		return ""
	}
	unit, _ := t.Attrs.Get(pprof.AttrWeightUnit)
	return unit
}

func netperf() *Format {
	return &Format{
		Name:   "netperf",
		Exts:   []string{".netperf"},
		Doc:    "traces of .NET Core 2.1 and 2.2",
		Binary: true,
		Sniff:  func(head []byte) bool { return serializedType(head) == "Trace" },
		Open:   openNettrace,

		Ordered: true,
	}
}

// openNettrace opens either format: the reader tells them apart by itself.
func openNettrace(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	src, err := reader.New(r, &reader.Options{
		Order:           o.Order,
		Strict:          o.Strict,
		Report:          o.Report,
		Limits:          o.Limits,
		AllowPrerelease: o.AllowPrerelease,
	})
	if err != nil {
		return nil, err // not a nil *reader.Reader in a Source
	}
	return src, nil
}

// serialization begins every stream of .NET's FastSerialization, netperf and gcdump among them: a counted string.
const serialization = "\x14\x00\x00\x00!FastSerialization.1"

// serializedType returns the name of the first object's type of such a stream, "" if head holds none: two tags, the tag
// of the type's own type, version and minimum reader version, and a counted string (nettrace-v4-v5, "Objects").
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
