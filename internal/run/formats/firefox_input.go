package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
)

// firefoxIn returns the reading half of firefox.
func firefoxIn() *In {
	return &In{
		Sniff:    isFirefox,
		Ordered:  true,
		Bind:     withoutFlags(openFirefox),
		NoEvents: Advice{"a Firefox profile without samples and markers", "check that the recording was not stopped at its start"},
	}
}

func openFirefox(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &firefox.Options{Report: o.Report, MaxTemp: o.MaxTemp, Limits: firefox.Limits{Tables: int64(o.Limits.TableBytes), Threads: o.Limits.Threads}}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Value = o.share(opts.Limits.Defaults().Value, valueShare)
	return firefox.New(r, opts)
}
