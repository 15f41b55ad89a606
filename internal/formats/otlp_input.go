package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

// otlpIn returns the reading half of OTLP. It also recognizes metrics, logs and profiles, so that the importer can name
// the signal that it rejects.
func otlpIn() *In {
	return &In{
		// A message has no magic number, but no other known format passes the structural checks of Recognize.
		Sniff: otlp.Recognize,
		Bind:  func(*pflag.FlagSet) Opener { return otlpOpener{} },
		NoBytes: Advice{
			"an empty file",
			"check that the program or the collector that wrote it has sent spans and was shut down in order",
		},
		NoEvents: Advice{
			"the requests hold no spans",
			"check that the program or the collector that wrote it has sent spans",
		},
	}
}

// An otlpOpener opens OTLP.
type otlpOpener struct{}

func (otlpOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	opts := &otlp.Options{Report: o.Report, ByTime: o.Order == reader.ByTime}
	opts.Limits.Message = o.share(opts.Limits.Defaults().Message, valueShare)
	return otlp.New(r, opts)
}

func (otlpOpener) Notes() []string { return nil }
