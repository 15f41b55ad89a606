package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// perfFormat returns the row of the text of perf script.
func perfFormat() *Format {
	return &Format{
		Name: "perf",
		Exts: []string{".perf", ".perf.txt"},
		Doc:  "the text that perf script of Linux writes, with the events that perf recorded and their stacks",
		In: &In{
			Hint:     perf.Sniff,
			Ordered:  true,
			Profile:  func(info *ntconv.Info) bool { return info.Aggregate },
			Bind:     withoutFlags(openPerf),
			NoBytes:  Advice{"an empty file", "check that perf script has printed events; perf record needs permission to record them"},
			NoEvents: Advice{"no line begins an event", "check that perf script has printed events; perf record needs permission to record them"},
		},
	}
}

func openPerf(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &perf.Options{Report: o.Report, MaxTemp: o.MaxTemp, Limits: perf.Limits{Tables: int64(o.Limits.TableBytes), Threads: o.Limits.Threads}}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Line = o.share(opts.Limits.Defaults().Line, valueShare)
	return perf.New(r, opts)
}
