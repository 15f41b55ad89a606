package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/perfetto"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/track"
	"github.com/spf13/pflag"
)

// perfettoFormat returns the row of Perfetto's protobuf.
func perfettoFormat() *Format {
	return &Format{
		Name: "perfetto",
		Exts: []string{".perfetto-trace", ".pftrace"},
		Doc:  "the protobuf format of Perfetto, for ui.perfetto.dev and trace_processor",
		Out: &Out{
			Doc:          "a trace as a timeline in the protobuf format of Perfetto: exact times, compact, for large traces",
			Help:         perfettoHelp,
			Compressions: compressionExts(),
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // a slice must begin before it ends
			},
			Advice: noEvents.Next,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindPerfetto(flags).output },
			Examples: []string{
				"a file for https://ui.perfetto.dev", "ntconv to perfetto trace.nettrace -o trace.perfetto-trace",
				"only spans and garbage collections of at least 1 ms",
				"ntconv to perfetto --tracks spans,gc --samples none --min-duration 1ms trace.nettrace",
				"samples with exact times and weights, for version 58 of Perfetto and later",
				"ntconv to perfetto --samples stack-sample trace.nettrace",
			},
		},
	}
}

const perfettoHelp = `Open the file with https://ui.perfetto.dev, or query it with trace_processor. The UI reads files in the browser and uploads
nothing. ntconv view --in perfetto converts a trace and opens it there. The UI counts times from the first item, not from the start of
the recording as ntconv print does.

Packets are compressed as Perfetto itself does it. --plain writes them as they are; a file whose name ends in .gz or .zst is
compressed as a whole.

--samples streaming is the form of stack samples that all versions of Perfetto read. Its times have microseconds, and a sample has no
weight. If a trace has samples of two profile kinds, those that begin later are written in the form stack-sample. That form has exact
times and weights; Perfetto reads it since version 58 (August 2026).`

// A perfettoSettings has the flags of ntconv to perfetto.
type perfettoSettings struct {
	timelineFlags
	options perfetto.Options
}

func bindPerfetto(flags *pflag.FlagSet) *perfettoSettings {
	c := new(perfettoSettings)
	c.bind(flags, ^track.Set(0))
	o := &c.options
	flags.Var(&choice[perfetto.Samples]{&o.Samples, []choiceValue[perfetto.Samples]{
		{"streaming", perfetto.StreamingSamples}, {"stack-sample", perfetto.StackSamples}, {"none", perfetto.NoSamples},
	}}, "samples", "form of stack samples: streaming, stack-sample (exact times and weights, Perfetto 58 and later) or none")
	flags.BoolVar(&o.NoArgs, "no-args", false, "omit payloads, labels and attributes")
	flags.BoolVar(&o.NoStacks, "no-stacks", false,
		"omit the stacks of slices and instants, which recent versions of Perfetto show")
	flags.BoolVar(&o.Plain, "plain", false, "do not compress packets, so that protoc --decode shows them")
	return c
}

// output implements Settings.
func (c *perfettoSettings) output(o *Output) { o.Create = c.create }

func (c *perfettoSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	o := c.options
	o.Options = c.of(t)
	if _, compression := CutCompression(out.Name()); compression != "" {
		o.Plain = true // compressing twice takes more time and space
	}
	s := perfetto.New(w, info, t.Namer, &o)
	return timelineSink{s, finish, func() Result { return newTimelineResult(s.Summary().Counts, t.Flagless) }}, nil
}
