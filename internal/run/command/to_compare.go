package command

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// convertCompared writes one output of two recordings, the one before a change and the one after it:
//
//	both   → what ntconv diff finds
//	before → its data            → output of after, which has both
func (a *app) convertCompared(cmd *cobra.Command, c *conversion, names []string) error {
	if slices.Contains(names, "-") {
		return failf(exitUsage, "-: a comparison reads its inputs twice; write standard input to a file first")
	}
	found, err := a.foundBy(cmd, c, names)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	before := *c
	before.in = names[0]
	before.Adapt = adapting(c.Adapt, &formats.Compared{Keep: &data})
	before.to = func(p *pass.Pass, name string) *delivery {
		d := a.delivery(p, &before, name)
		d.to = formats.ToNothing
		return d
	}
	if err := a.prepare(cmd, &before); err != nil {
		return err
	}
	partial := a.convert(&before)
	if code := codeOf(partial); code != exitOK && code != exitIncomplete {
		return partial
	}
	partial = a.finishFirst(partial)
	c.in = names[1]
	c.Adapt = adapting(c.Adapt, &formats.Compared{Before: data.Bytes(), Found: found})
	if err := a.prepare(cmd, c); err != nil {
		return err
	}
	return cmp.Or(a.convert(c), partial)
}

// adapting returns a function that changes the description for a sink as adapt does, which may be nil, and adds the comparison.
func adapting(adapt func(*formats.Target), compared *formats.Compared) func(*formats.Target) {
	return func(t *formats.Target) {
		if adapt != nil {
			adapt(t)
		}
		t.Compared = compared
	}
}

// foundBy returns what ntconv diff finds as JSON, nil if it cannot compare the recordings, such as two without samples. It prints
// nothing, because the conversions of the inputs report what these lack.
func (a *app) foundBy(cmd *cobra.Command, c *conversion, names []string) ([]byte, error) {
	d := newDiffering()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	d.bind(flags)
	if err := formats.CopyGrouping(flags, cmd.Flags()); err != nil { // both name frames alike
		return nil, fail(exitUsage, err)
	}
	d.names, d.diffBase, d.in = c.Symbols, names[0], names[1]
	var found *profilediff.Comparison
	err := a.silently(func() (err error) {
		found, _, err = a.comparison(cmd, &d)
		return err
	})
	switch codeOf(err) {
	case exitOK:
	case exitEmpty:
		return nil, nil
	default:
		return nil, err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, found); err != nil {
		return nil, fail(exitOutput, err)
	}
	return b.Bytes(), nil
}
