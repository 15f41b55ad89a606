package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/reader"
)

// otlpIn returns the reading half of OTLP.
func otlpIn() *In {
	return &In{
		// A message has no magic number, but no other known format passes the structural checks of Recognize.
		Sniff:    otlp.Recognize,
		Bind:     withoutFlags(openOTLP),
		NoBytes:  Advice{"an empty file", "check that the program or the collector that wrote it has sent something and was shut down in order"},
		NoEvents: Advice{"the requests hold no spans, log records, data points and profiles", "check that the program or the collector that wrote it has sent some"},
	}
}

func openOTLP(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &otlp.Options{Report: o.Report, ByTime: o.Order == reader.ByTime}
	opts.Limits.Message = o.share(opts.Limits.Defaults().Message, valueShare)
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	return otlp.New(r, opts)
}
