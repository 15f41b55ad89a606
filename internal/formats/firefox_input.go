package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
	"github.com/spf13/pflag"
)

// firefoxIn returns the reading half of firefox.
func firefoxIn() *In {
	return &In{
		Sniff:   isFirefox,
		Ordered: true,
		Bind:    func(*pflag.FlagSet) Opener { return firefoxOpener{} },
		NoEvents: Advice{
			"a Firefox profile without samples and markers",
			"check that the recording was not stopped at its start",
		},
	}
}

type firefoxOpener struct{}

func (firefoxOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	opts := &firefox.Options{
		Report:  o.Report,
		MaxTemp: o.MaxTemp,
		Limits:  firefox.Limits{Tables: int64(o.Limits.TableBytes), Threads: o.Limits.Threads},
	}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Value = o.share(opts.Limits.Defaults().Value, valueShare)
	src, err := firefox.New(r, opts)
	if err != nil {
		return nil, err // a nil *firefox.Reader would not be a nil Source
	}
	return src, nil
}

func (firefoxOpener) Notes() []string { return nil }
