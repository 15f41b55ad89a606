package command

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An optimization is a request to join the files of a dataset.
type optimization struct {
	target int64
	filter filterFlags // by age only
	asJSON bool
}

func (a *app) datasetOptimizeCmd() *cobra.Command {
	o := optimization{target: 256 << 20}
	cmd := &cobra.Command{
		Use:   "optimize DIR",
		Short: "Join the small files of a dataset",
		Long: "Join the files of traces that were added in small runs, so that engines open fewer of them. Traces are in the order of their\n" +
			"recordings. Other runs may add, remove and read traces meanwhile. --older-than also removes traces, before.",
		Example: examples(
			"every night", "ntconv dataset optimize warehouse --older-than 90d",
		),
		Args:              oneDataset,
		ValidArgsFunction: dirCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.optimize(&o, args[0]) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			formats.SizeFlag(flags, &o.target, "target", "`size` of all files that traces share, such as 64MiB")
			flags.StringVar(&o.filter.older, flagOlder, "", "remove traces recorded longer ago than this `time`: 36h, 30d")
			flags.BoolVar(&o.asJSON, "json", false, "print a JSON object")
		})
		addGroup(cmd, groupReport, func(flags *pflag.FlagSet) {
			flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
		})
	})
}

// optimize joins the files of a dataset and prints the result.
func (a *app) optimize(o *optimization, dir string) error {
	set, err := openDataset(dir)
	if err != nil {
		return err
	}
	expired, busy, err := o.expire(set)
	if err != nil {
		return err
	}
	var done atomic.Int64
	stop := a.datasetProgress("joining", set, &done)
	result, err := set.Optimize(o.target, func(bytes int64) { done.Add(bytes) })
	stop()
	if err != nil {
		return fail(exitOutput, err)
	}
	var b bytes.Buffer
	if o.asJSON {
		err = writeJSON(&b, &struct {
			Expired int `json:"expired"`
			dataset.Optimized
		}{expired, result})
	} else {
		fmt.Fprintf(&b, "%s joined: %s before, %s after", message.Count(int64(result.Traces), "trace was", "traces were"),
			message.Count(int64(result.Before), "file"), message.Group(int64(result.After)))
		if o.filter.older != "" {
			fmt.Fprintf(&b, "; %s removed", message.Count(int64(expired), "trace was", "traces were"))
		}
		fmt.Fprintln(&b)
	}
	if err != nil {
		return fail(exitOutput, err)
	}
	if err := a.show(b.String()); err != nil {
		return err
	}
	a.noteKept(set)
	return notRemoved(set, busy)
}

// expire removes old traces.
func (o *optimization) expire(set *dataset.Dataset) (removed, busy int, err error) {
	if o.filter.older == "" {
		return 0, 0, nil
	}
	filter, err := o.filter.filter(set, nil)
	if err != nil {
		return 0, 0, err
	}
	old, err := set.Select(filter)
	if err != nil {
		return 0, 0, fail(exitInput, verifyFirst(set, err))
	}
	if len(old) == 0 {
		return 0, 0, nil
	}
	kept, err := set.Remove(uidsOf(old))
	if err != nil {
		return 0, 0, fail(exitOutput, err)
	}
	return len(old) - len(kept), len(kept), nil
}
