package formats

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/spf13/pflag"
)

// Inputs that are converted at the same time have the same flags, and neither knows nor loses the spans of another.
func TestParquetPerInput(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c := bindParquet(flags)
	if err := flags.Parse([]string{"--raw", "--typed", "none"}); err != nil {
		t.Fatal(err)
	}
	f := parquetFormat()
	a, b := f.Output(c.output, "", false), f.Output(c.output, "", false)
	for _, ahead := range a.Needs.Lookaheads {
		_, end := ahead.Learn(&ntconv.Info{Clock: ntconv.Clock{Freq: 1}})
		end()
	}
	linked := func(o *Output) bool {
		out, err := fileio.CreateOutputs(t.TempDir()+"/tables", fileio.OutputsOptions{Dir: true})
		if err != nil {
			t.Fatal(err)
		}
		defer out.Abort()
		sink, err := o.Create(out, &ntconv.Info{Clock: ntconv.Clock{Freq: 1}}, &Target{Namer: new(ntconv.NoNames)})
		if err != nil {
			t.Fatal(err)
		}
		if !sink.(parquetSink).raw {
			t.Error("an output has not the flags")
		}
		return sink.(parquetSink).linked
	}
	if !linked(a) || linked(b) || linked(f.Output(c.output, "", false)) {
		t.Error("an input knows the spans of another, or not its own")
	}
}
