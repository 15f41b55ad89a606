package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/data/message"
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
		Long: "Check a dataset: every trace exists once, in its directory, with its manifest; its files have the stated sizes, hashes and rows; there are\n" +
			"no other files and no leftovers of killed runs. The dataset is not changed. If there is a problem, the exit code is 3, and the\n" +
			"messages state the next step.",
		Example: examples(
			"check that a dataset is complete", "ntconv dataset verify fleet",
			"for programs", "ntconv dataset verify fleet --json | jq -r '.problems[].path'",
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
	check = &dataset.Check{Tables: checkTables, Done: func(bytes int64) { done.Add(bytes) }}
	if a.quiet || !terminal(a.stderr) {
		return check, func() {}
	}
	return check, showProgress(a.stderr, func() string { return "verifying " + set.Dir() }, -1, done.Load)
}

// checkTables opens the tables of a trace and compares their numbers of rows with the manifest.
func checkTables(t *dataset.Trace) error {
	for _, f := range t.Manifest.Files {
		if filepath.Ext(f.Name) != ".parquet" {
			continue
		}
		rows, err := checkTable(filepath.Join(t.Path, filepath.FromSlash(f.Name)), f.Size, t.Manifest.Schema)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if f.Name == eventsFile && rows != t.Manifest.Events {
			return fmt.Errorf("%s: the table has %d rows, want %d", f.Name, rows, t.Manifest.Events)
		}
	}
	return nil
}

// eventsFile is the file of the table events.
const eventsFile = "events.parquet"

// checkTable returns the number of rows of a table.
func checkTable(path string, size int64, schema int) (rows int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	table, err := parquetreader.Open(f, size, nil)
	if err != nil {
		return 0, err
	}
	defer table.Close()
	if has, _ := table.Metadata(tables.VersionKey); has != strconv.Itoa(schema) {
		return 0, fmt.Errorf("the table has schema version %q, want %d", has, schema)
	}
	return table.Rows(), nil
}

// writeVerified writes the result of a verification.
func writeVerified(b *bytes.Buffer, set *dataset.Dataset, v *dataset.Verified) {
	wrong := make(map[string]bool)
	for _, p := range v.Problems {
		fmt.Fprintf(b, "%s\n", message.Line(p.Path+": "+p.Text))
		if p.UID != "" {
			wrong[p.UID] = true
		}
	}
	for _, p := range v.Problems {
		if wrong[p.UID] {
			delete(wrong, p.UID)
			fmt.Fprintf(b, "to restore trace %s: ntconv dataset rm %s %s, and add it again\n", p.UID,
				message.Line(message.ShellWord(set.Dir())), p.UID)
		}
	}
	text := fmt.Sprintf("%s, %s, %s, %s", message.Count(int64(v.Traces), "trace"),
		message.Count(int64(v.Files), "file"), message.Count(v.Events, "event"), message.Bytes(v.Bytes))
	if v.Parts > 0 {
		text += fmt.Sprintf("; %s a selection of events", message.Count(int64(v.Parts), "trace has", "traces have"))
	}
	if v.Busy > 0 {
		text += fmt.Sprintf("; %s being added or removed", message.Count(int64(v.Busy), "trace is", "traces are"))
	}
	if len(v.Problems) == 0 {
		text = "complete: " + text
	}
	fmt.Fprintln(b, text)
}
