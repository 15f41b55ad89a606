package formats

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/callgrind"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// callgrindFormat returns the row of callgrind's format.
func callgrindFormat() *Format {
	return &Format{
		Name: "callgrind",
		Exts: []string{extCallgrind},
		Doc:  "costs of functions and calls, for KCachegrind, QCachegrind and callgrind_annotate",
		Out: &Out{
			Doc:          "the costs of functions and of their calls, for KCachegrind, QCachegrind and callgrind_annotate",
			Compressions: compressionExts(),
			Needs: Needs{
				Names:    NamesLast,
				AnyOrder: true, // samples are added up
			},
			Advice: sampleAdvice,
			Bind:   bindCallgrind,
			Examples: []string{
				"the call graph of all threads", "ntconv to callgrind trace.nettrace && kcachegrind trace.callgrind",
				"allocated bytes by function", "ntconv to callgrind --kind alloc trace.nettrace -o alloc.callgrind",
				"a profile of a Go program in a terminal",
				"ntconv to callgrind cpu.pb.gz -o cpu.callgrind && callgrind_annotate --inclusive=yes cpu.callgrind",
			},
		},
	}
}

const extCallgrind = ".callgrind"

func bindCallgrind(flags *pflag.FlagSet) Settings {
	c := new(profileFlags)
	c.bind(flags, true, false)
	return c.settings(&profileFormat{
		ext: extCallgrind, unit: "function",
		open: func(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o sample.Options) profileExporter {
			return callgrind.New(w, info, namer, &callgrind.Options{Options: o})
		},
	})
}
