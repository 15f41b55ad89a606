package command

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) datasetVerifyCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check that every trace of a dataset is complete and unchanged",
		Long: "Check a dataset: every trace exists once; the files have the sizes, hashes and rows that its commits state; there are no\n" +
			"other files and no leftovers of killed runs. The dataset is not changed. If there is a problem, the exit code is 3, and the\n" +
			"messages state the next step.",
		Example: examples(
			"check that a dataset is complete", "ntconv dataset verify warehouse",
			"for programs", "ntconv dataset verify warehouse --json | jq -r '.problems[].path'",
		),
		Args:              oneDataset,
		ValidArgsFunction: dirCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.verifyDataset(args[0], asJSON) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&asJSON, "json", false, "print a JSON object")
		})
		addGroup(cmd, groupReport, func(flags *pflag.FlagSet) {
			flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
		})
	})
}

// verifyDataset checks a dataset and prints the problems.
func (a *app) verifyDataset(dir string, asJSON bool) error {
	set, err := openDataset(dir)
	if err != nil {
		return err
	}
	check, stop := a.datasetCheck(set)
	v, err := set.Verify(check)
	stop()
	if err != nil {
		return fail(exitInput, err)
	}
	var b bytes.Buffer
	if asJSON {
		if err := writeJSON(&b, v); err != nil {
			return fail(exitOutput, err)
		}
	} else {
		writeVerified(&b, set, v)
	}
	if err := a.show(b.String()); err != nil {
		return err
	}
	if n := len(v.Problems); n > 0 {
		return failf(exitIncomplete, "%s: %s", set.Dir(), message.Count(int64(n), "problem"))
	}
	return nil
}

// datasetCheck returns the options of the verification, with progress.
func (a *app) datasetCheck(set *dataset.Dataset) (check *dataset.Check, stop func()) {
	var done atomic.Int64
	check = &dataset.Check{
		Table: func(name string, f *dataset.File) error { return checkTable(name, f, set.Config().Schema) },
		Done:  func(bytes int64) { done.Add(bytes) },
	}
	return check, a.datasetProgress("verifying", set, &done)
}

// datasetProgress shows on a terminal how many bytes of a dataset are done.
func (a *app) datasetProgress(phase string, set *dataset.Dataset, done *atomic.Int64) (stop func()) {
	if a.quiet || !terminal(a.stderr) {
		return func() {}
	}
	return showProgress(a.stderr, func() string { return phase + " " + set.Dir() }, -1, done.Load)
}

// checkTable compares a file with what its commit says.
func checkTable(name string, is *dataset.File, schema int) error {
	f, err := store.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	table, err := parquetreader.Open(f, is.Size, nil)
	if err != nil {
		return err
	}
	defer table.Close()
	if has, _ := table.Metadata(tables.VersionKey); has != strconv.Itoa(schema) {
		return fmt.Errorf("the table has schema version %q, want %d", has, schema)
	}
	if has := table.Rows(); has != is.Rows {
		return fmt.Errorf("the table has %d rows, want %d", has, is.Rows)
	}
	return nil
}

// writeVerified writes the result of a verification.
func writeVerified(b *bytes.Buffer, set *dataset.Dataset, v *dataset.Verified) {
	wrong := make(map[string]bool)
	for _, p := range v.Problems {
		fmt.Fprintf(b, "%s\n", message.Line(p.Path+": "+p.Text))
		for _, uid := range p.UIDs {
			wrong[uid] = true
		}
	}
	if len(wrong) > 0 {
		fmt.Fprintf(b, "to restore what is damaged: ntconv dataset rm %s %s, and add the traces again\n", message.Line(message.ShellWord(set.Dir())),
			strings.Join(slices.Sorted(maps.Keys(wrong)), " "))
	}
	text := fmt.Sprintf("%s, %s, %s, %s", message.Count(int64(v.Traces), "trace"),
		message.Count(int64(v.Files), "file"), message.Count(v.Events, "event"), message.Bytes(v.Bytes))
	if v.Parts > 0 {
		text += fmt.Sprintf("; %s a selection of events", message.Count(int64(v.Parts), "trace has", "traces have"))
	}
	if v.Kept > 0 {
		text += fmt.Sprintf("; %s kept until the dataset has been published again", message.Count(int64(v.Kept), "replaced file is", "replaced files are"))
	}
	if v.Busy > 0 {
		text += fmt.Sprintf("; %s being added or removed", message.Count(int64(v.Busy), "trace is", "traces are"))
	}
	if len(v.Problems) == 0 {
		text = "complete: " + text
	}
	fmt.Fprintln(b, text)
}
