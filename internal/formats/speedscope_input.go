package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/speedscope"
	"github.com/spf13/pflag"
)

// speedscopeIn returns the reading half of speedscope.
func speedscopeIn() *In {
	return &In{
		Sniff:    isSpeedscope,
		Ordered:  true,
		Profile:  func(info *ntconv.Info) bool { return info.Aggregate },
		Bind:     func(*pflag.FlagSet) Opener { return speedscopeOpener{} },
		NoEvents: Advice{"a speedscope file without samples", "check that the program that wrote it has found samples"},
	}
}

type speedscopeOpener struct{}

func (speedscopeOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	opts := &speedscope.Options{
		Report:  o.Report,
		MaxTemp: o.MaxTemp,
		Limits:  speedscope.Limits{Tables: int64(o.Limits.TableBytes), Profiles: o.Limits.Threads},
	}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Value = o.share(opts.Limits.Defaults().Value, valueShare)
	src, err := speedscope.New(r, opts)
	if err != nil {
		return nil, err // a nil *speedscope.Reader would not be a nil Source
	}
	return src, nil
}

func (speedscopeOpener) Notes() []string { return nil }
