package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/reader"
)

// otlpIn returns the reading half of OTLP. It also recognizes signals that the importer does not support, so that the
// importer can name them.
func otlpIn() *In {
	return &In{
		// A message has no magic number, but no other known format passes the structural checks of Recognize.
		Sniff:    otlp.Recognize,
		Bind:     withoutFlags(openOTLP),
		NoBytes:  Advice{"an empty file", "check that the program or the collector that wrote it has sent something and was shut down in order"},
		NoEvents: Advice{"the requests hold no spans and no log records", "check that the program or the collector that wrote it has sent some"},
	}
}

func openOTLP(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &otlp.Options{Report: o.Report, ByTime: o.Order == reader.ByTime}
	opts.Limits.Message = o.share(opts.Limits.Defaults().Message, valueShare)
	return otlp.New(r, opts)
}
