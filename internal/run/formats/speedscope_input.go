package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/speedscope"
)

// speedscopeIn returns the reading half of speedscope.
func speedscopeIn() *In {
	return &In{
		Sniff:    isSpeedscope,
		Ordered:  true,
		Profile:  func(info *ntconv.Info) bool { return info.Aggregate },
		Bind:     withoutFlags(openSpeedscope),
		NoEvents: Advice{"a speedscope file without samples", "check that the program that wrote it has found samples"},
	}
}

func openSpeedscope(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &speedscope.Options{Report: o.Report, MaxTemp: o.MaxTemp, Limits: speedscope.Limits{Tables: int64(o.Limits.TableBytes), Profiles: o.Limits.Threads}}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Value = o.share(opts.Limits.Defaults().Value, valueShare)
	return speedscope.New(r, opts)
}
