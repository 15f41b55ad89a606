package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) datasetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dataset",
		Short: "List, remove and verify the traces of a dataset, and join its files",
		Long: "List, remove and verify the traces of a dataset: a directory with a directory per table, each with the rows of many traces, which\n" +
			"DuckDB, Spark, Trino and ClickHouse read as partitioned tables. ntconv to parquet --dataset DIR adds traces to it.",
		Example: examples(
			"add all traces of a directory", "ntconv to parquet --dataset warehouse traces/",
			"list its traces", "ntconv dataset ls warehouse",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noSubcommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.datasetListCmd(), a.datasetRemoveCmd(), a.datasetVerifyCmd(), a.datasetOptimizeCmd(), a.datasetPublishCmd())
	return cmd
}

// oneDataset is the argument check of commands that read one dataset.
func oneDataset(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the directory of one dataset, got %d arguments", len(args))
	}
	return nil
}

// dirCompletion completes the directory of a dataset.
func dirCompletion(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// openDataset opens an existing dataset.
func openDataset(dir string) (*dataset.Dataset, error) {
	set, err := dataset.Open(dir)
	switch {
	case errors.Is(err, dataset.ErrBegun):
		err = fmt.Errorf("%w; the next run finishes it: ntconv to parquet --dataset %s TRACE", err, message.ShellWord(dir))
	case errors.Is(err, dataset.ErrNotDataset):
		err = fmt.Errorf("%w; name a directory created by ntconv to parquet --dataset", err)
	case errors.Is(err, dataset.ErrLayout):
		err = layoutError(dir, err)
	}
	if err != nil {
		return nil, fail(exitInput, err)
	}
	return set, nil
}

// layoutError adds the next step for a dataset of layout 1, in which every trace had a directory with its tables.
func layoutError(dir string, err error) error {
	return fmt.Errorf("%w; move its traces to a new dataset: ntconv to parquet --dataset NEW %s", err,
		message.ShellWord(store.Join(dir, "**", dataset.TraceKey+"=*")))
}

const flagOlder = "older-than"

// A filterFlags are the flags that select traces of a dataset.
type filterFlags struct {
	values []string
	older  string
}

func (f *filterFlags) bind(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.values, "where", nil,
		"select traces by a `KEY=VALUE` of their partition: service=shop, or service= if it is unknown; all must hold")
	flags.StringVar(&f.older, flagOlder, "", "select traces recorded longer ago than this `time`: 36h, 30d")
}

// uidIn returns the UID, or the first digits of it, that a word of the user has: the UID, or the name of the trace in the dataset.
func uidIn(set *dataset.Dataset, word string) (string, error) {
	dir, base := store.Split(word)
	uid, named := strings.CutPrefix(strings.ToLower(base), dataset.TraceKey+"=")
	if base != word && (!named || !fileio.Same(dir, set.Dir())) {
		return "", failf(exitUsage, "%s: this is not the name of a trace of the dataset %s", word, set.Dir())
	}
	if len(uid) < 4 || !dataset.IsUID(uid+"0000000000000000"[min(16, len(uid)):]) {
		return "", failf(exitUsage, "%s: want the UID of a trace, or at least its first 4 digits, as ntconv dataset ls shows them", word)
	}
	return uid, nil
}

// filter returns the traces that the flags and words with UIDs select.
func (f *filterFlags) filter(set *dataset.Dataset, words []string) (*dataset.Filter, error) {
	out := &dataset.Filter{Values: make(map[string]string)}
	for _, text := range f.values {
		key, value, ok := strings.Cut(text, "=")
		keys := set.Config().Partition
		if !ok || !containsKey(keys, key) {
			return nil, failf(exitUsage, "--where %s: want KEY=VALUE, where KEY is one of %s", text,
				dataset.JoinKeys(keys))
		}
		out.Values[key] = dataset.Key(key).Canonical(value)
	}
	if f.older != "" {
		age, err := parseAge(f.older)
		if err != nil {
			return nil, failf(exitUsage, "--%s %s: want a time such as 36h or 30d", flagOlder, f.older)
		}
		out.Before = time.Now().Add(-age)
	}
	for _, word := range words {
		uid, err := uidIn(set, word)
		if err != nil {
			return nil, err
		}
		out.UIDs = append(out.UIDs, uid)
	}
	return out, nil
}

func containsKey(keys []dataset.Key, name string) bool {
	for _, key := range keys {
		if string(key) == name {
			return true
		}
	}
	return false
}

// parseAge is time.ParseDuration with days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < 0 || n > 36500 {
			return 0, fmt.Errorf("invalid number of days: %s", days)
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("negative")
	}
	return d, err
}

func (a *app) datasetListCmd() *cobra.Command {
	var asJSON bool
	var filter filterFlags
	cmd := &cobra.Command{
		Use:   "ls DIR",
		Short: "List the traces of a dataset",
		Long: "List the traces of a dataset: UID, values of the partition keys, source, events, size of the tables, duration of the recording\n" +
			"and events that its recorder lost. A * marks traces that are incomplete because their input was truncated or corrupt, a +\n" +
			"those that have a selection of events only; --json has the selection.",
		Example: examples(
			"all traces", "ntconv dataset ls warehouse",
			"the names of the traces of a service, for other commands",
			"ntconv dataset ls warehouse --where service=shop --json | jq -r '.[].path'",
		),
		Args:              oneDataset,
		ValidArgsFunction: dirCompletion,
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := openDataset(args[0])
			if err != nil {
				return err
			}
			chosen, err := filter.filter(set, nil)
			if err != nil {
				return err
			}
			return a.listDataset(set, chosen, asJSON)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&asJSON, "json", false, "print a JSON array, with all members of each manifest")
			filter.bind(flags)
		})
	})
}

// A listedTrace is an element of the output of ntconv dataset ls --json.
type listedTrace struct {
	UID      string            `json:"uid"`
	Path     string            `json:"path"`
	Keys     map[string]string `json:"keys"`
	Commit   string            `json:"commit"`
	Manifest *dataset.Manifest `json:"trace"`
}

// listDataset prints the traces of a dataset.
func (a *app) listDataset(set *dataset.Dataset, chosen *dataset.Filter, asJSON bool) error {
	_ = set.Recover() // what cannot be finished is not listed: the directory may be read only
	traces, unreadable := set.Select(chosen)
	list := []listedTrace{}
	for _, t := range traces {
		list = append(list, listedTrace{t.UID, t.Path, set.Values(&t.Manifest.Properties), t.Commit.ID, t.Manifest})
	}
	var err error
	var b bytes.Buffer
	if asJSON {
		err = writeJSON(&b, list)
	} else {
		err = writeList(&b, set, list)
	}
	if err != nil {
		return fail(exitOutput, err)
	}
	if err := a.show(b.String()); err != nil {
		return err
	}
	if unreadable != nil {
		return fail(exitIncomplete, verifyFirst(set, unreadable))
	}
	if len(list) == 0 && !chosen.All() {
		return noneSelected(set)
	}
	return nil
}

// noneSelected returns the failure for a selection of no traces.
func noneSelected(set *dataset.Dataset) error {
	return failf(exitEmpty, "%s: no trace is selected; ntconv dataset ls %s lists all", set.Dir(), message.ShellWord(set.Dir()))
}

// verifyFirst adds the next step for a dataset with commits that cannot be read.
func verifyFirst(set *dataset.Dataset, err error) error {
	return fmt.Errorf("%w; ntconv dataset verify %s says what to do", err, message.ShellWord(set.Dir()))
}

// writeList writes the table of ntconv dataset ls.
func writeList(b *bytes.Buffer, set *dataset.Dataset, list []listedTrace) error {
	keys := set.Config().Partition
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "TRACE\t")
	for _, key := range keys {
		fmt.Fprintf(w, "%s\t", strings.ToUpper(string(key)))
	}
	fmt.Fprintln(w, "EVENTS\tSIZE\tDURATION\tLOST\tSOURCE")
	var events, size int64
	for _, t := range list {
		fmt.Fprintf(w, "%s\t", t.UID)
		for _, key := range keys {
			fmt.Fprintf(w, "%s\t", message.Line(orDash(t.Keys[string(key)])))
		}
		m := t.Manifest
		mark := ""
		if m.Selection != "" {
			mark = "+"
		}
		if m.Incomplete != "" {
			mark += "*"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", message.Group(m.Events), mark, message.Bytes(m.Bytes),
			message.Duration(m.Duration), message.Group(m.Lost), message.Line(m.Source))
		events, size = events+m.Events, size+m.Bytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b, "%s, %s, %s\n", message.Count(int64(len(list)), "trace"), message.Count(events, "event"),
		message.Bytes(size))
	return nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// A removal is a request to remove traces of a dataset.
type removal struct {
	filter filterFlags
	dryRun bool
}

func (a *app) datasetRemoveCmd() *cobra.Command {
	var r removal
	cmd := &cobra.Command{
		Use:   "rm DIR [UID...]",
		Short: "Remove traces from a dataset",
		Long: "Remove traces from a dataset, selected by UIDs, their first digits or DIR/trace=UID, by flags, or both; a trace must match all of them.\n" +
			"Files that they share with other traces are written anew. There is no confirmation; --dry-run shows what would be removed.",
		Example: examples(
			"one trace", "ntconv dataset rm warehouse 1f0c0ffee1f0c0ff",
			"traces of one service that are older than 30 days",
			"ntconv dataset rm warehouse --older-than 30d --where service=shop --dry-run",
		),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("no dataset given: name its directory")
			case len(args) == 1 && r.filter.older == "" && len(r.filter.values) == 0:
				return errors.New("nothing selected: name UIDs of traces, --older-than or --where")
			}
			return nil
		},
		ValidArgsFunction: dirCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.removeTraces(&r, args[0], args[1:]) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			r.filter.bind(flags)
			flags.BoolVar(&r.dryRun, "dry-run", false, "show what would be removed, and remove nothing")
		})
	})
}

// removeTraces removes traces and prints which.
func (a *app) removeTraces(r *removal, dir string, uids []string) error {
	set, err := openDataset(dir)
	if err != nil {
		return err
	}
	filter, err := r.filter.filter(set, uids)
	if err != nil {
		return err
	}
	if err := set.Recover(); err != nil {
		return fail(exitOutput, err)
	}
	traces, err := set.Traces()
	if err != nil {
		return fail(exitInput, verifyFirst(set, err))
	}
	for _, uid := range filter.UIDs { // check all UIDs before removing anything
		if !slices.ContainsFunc(traces, func(t dataset.Trace) bool { return strings.HasPrefix(t.UID, uid) }) {
			return failf(
				exitEmpty,
				"%s: no trace is selected: the dataset has no trace %s, and none was removed; ntconv dataset ls %s lists all",
				set.Dir(),
				uid,
				message.ShellWord(set.Dir()),
			)
		}
	}
	traces = slices.DeleteFunc(traces, func(t dataset.Trace) bool { return !filter.Match(set, &t) })
	if len(traces) == 0 {
		return noneSelected(set)
	}
	return a.removeEach(set, traces, r.dryRun)
}

// removeEach removes traces, unless it only shows them.
func (a *app) removeEach(set *dataset.Dataset, traces []dataset.Trace, dryRun bool) error {
	var busy []string
	if !dryRun {
		var err error
		if busy, err = set.Remove(uidsOf(traces)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(exitOutput, err)
		}
	}
	done := 0
	var size int64
	for i := range traces {
		t := &traces[i]
		if slices.Contains(busy, t.UID) {
			continue
		}
		done++
		size += t.Manifest.Bytes
		if err := a.show(removedLine(t, dryRun)); err != nil {
			return err
		}
	}
	return a.removed(set, done, len(busy), size, dryRun)
}

func uidsOf(traces []dataset.Trace) (uids []string) {
	for i := range traces {
		uids = append(uids, traces[i].UID)
	}
	return uids
}

// removed prints how many traces were removed.
func (a *app) removed(set *dataset.Dataset, done, busy int, size int64, dryRun bool) error {
	action := "removed"
	if dryRun {
		action = "would be removed"
	}
	text := fmt.Sprintf("%s %s, %s", message.Count(int64(done), "trace"), action, message.Bytes(size))
	fmt.Fprintln(a.stderr, message.Line(text))
	if !dryRun {
		a.noteKept(set)
	}
	return notRemoved(set, busy)
}

// noteKept prints which files were replaced and stay, because a catalog refers to them.
func (a *app) noteKept(set *dataset.Dataset) {
	if k, err := set.Kept(); err == nil && k.Files > 0 { // ntconv dataset verify reports errors
		fmt.Fprintln(a.stderr, message.Line(keptText(&k)))
	}
}

func keptText(k *dataset.Kept) string {
	var at []string
	for i := range k.Pins {
		at = append(at, fmt.Sprintf("%s, namespace %s", k.Pins[i].Catalog, k.Pins[i].Namespace))
	}
	return fmt.Sprintf("%s replaced (%s), and kept until the dataset has been published again in %s; engines that read its directories read these rows, too",
		message.Count(int64(k.Files), "file is", "files are"), message.Bytes(k.Bytes), cmp.Or(strings.Join(at, " and in "), "its catalog"))
}

// notRemoved returns the failure for traces that other runs use, nil if there are none.
func notRemoved(set *dataset.Dataset, busy int) error {
	if busy == 0 {
		return nil
	}
	return failf(exitIncomplete, "%s: %s in use by another run, and not removed; try again when it has ended",
		set.Dir(), message.Count(int64(busy), "trace is", "traces are"))
}

func removedLine(t *dataset.Trace, dryRun bool) string {
	action := "removed"
	if dryRun {
		action = "would remove"
	}
	return message.Line(fmt.Sprintf("%s %s (%s)", action, filepath.ToSlash(t.Path), t.Manifest.Source)) + "\n"
}
