package main

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An optimization is a request to join the files of a dataset.
type optimization struct {
	target int64
	older  string
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
			"every night", "ntconv dataset optimize fleet --older-than 90d",
		),
		Args:              oneDataset,
		ValidArgsFunction: dirCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.optimize(&o, args[0]) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			formats.SizeFlag(flags, &o.target, "target", "`size` of all files that traces share, such as 64MiB")
			flags.StringVar(&o.older, "older-than", "", "remove traces recorded longer ago than this `time`: 36h, 30d")
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
	stop := func() {}
	if !a.quiet && terminal(a.stderr) {
		stop = showProgress(a.stderr, func() string { return "joining " + set.Dir() }, -1, done.Load)
	}
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
		if o.older != "" {
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
	if busy > 0 {
		return failf(exitIncomplete, "%s: %s in use by another run, and not removed; try again when it has ended", set.Dir(),
			message.Count(int64(busy), "trace is", "traces are"))
	}
	return nil
}

// expire removes old traces.
func (o *optimization) expire(set *dataset.Dataset) (removed, busy int, err error) {
	if o.older == "" {
		return 0, 0, nil
	}
	age, err := parseAge(o.older)
	if err != nil {
		return 0, 0, failf(exitUsage, "--older-than %s: want a time such as 36h or 30d", o.older)
	}
	uids, err := set.Expired(time.Now().Add(-age))
	if err != nil {
		return 0, 0, fail(exitInput, verifyFirst(set, err))
	}
	if len(uids) == 0 {
		return 0, 0, nil
	}
	kept, err := set.Remove(uids)
	if err != nil {
		return 0, 0, fail(exitOutput, err)
	}
	return len(uids) - len(kept), len(kept), nil
}
