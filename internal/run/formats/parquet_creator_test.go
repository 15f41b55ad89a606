package formats

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/spf13/pflag"
)

// Inputs that are converted at the same time have the same flags, and neither knows nor loses the spans of another.
func TestParquetPerInput(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c := bindParquet(flags)
	if err := flags.Parse([]string{"--raw", "--typed", "none"}); err != nil {
		t.Fatal(err)
	}
	a, b := c.ForInput().(*parquetCreator), c.ForInput().(*parquetCreator)
	for _, ahead := range a.Ahead() {
		_, end := ahead.Learn(&ntconv.Info{Clock: ntconv.Clock{Freq: 1}})
		end()
	}
	b.Ahead()
	if a.options.Active == nil {
		t.Error("the spans of an input are lost when another one begins")
	}
	if b.options.Active != nil || c.options.Active != nil || c.ForInput().(*parquetCreator).options.Active != nil {
		t.Error("an input knows the spans of another")
	}
	if !b.options.Raw || len(b.options.Typed) != 1 || b.link != c.link {
		t.Errorf("%+v has not the flags", b)
	}
}
