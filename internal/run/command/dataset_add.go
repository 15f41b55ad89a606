package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags of a collection. The others require the first.
const (
	flagDataset   = "dataset"
	flagPartition = "partition"
	flagService   = "service"
	flagReplace   = "replace"
)

// A collection is a request to add traces to a dataset.
type collection struct {
	dir       fileName
	partition string
	keys      []dataset.Key // of --partition, nil if it is not given
	service   string
	replace   bool
	source    string   // of the only input, a temporary file; "" means its name
	settings  string   // the flags that determine the tables, as words of the command line
	typed     []string // of --typed, nil if it is not given
	*inputFlags
}

func (d *collection) bind(flags *pflag.FlagSet) {
	keys := dataset.JoinKeys(dataset.Keys())
	flags.Var(&d.dir, flagDataset,
		"add each input to the dataset in this `directory`, which is created if it does not exist; existing traces are skipped")
	flags.StringVar(&d.partition, flagPartition, "",
		"`keys` of the directories of a new dataset, outermost first: some of "+keys+
			" (default: those of the dataset, "+dataset.JoinKeys(dataset.DefaultKeys())+" for a new one)")
	flags.StringVar(&d.service, flagService, "",
		"`name` of the service of all inputs (default: derived from the command line of the process with most events)")
	flags.BoolVar(&d.replace, flagReplace, false,
		"replace traces that the dataset has with another selection of events or other settings; a whole trace always replaces a selection")
}

// check rejects flags that cannot be combined.
func (d *collection) check(cmd *cobra.Command, c *conversion) error {
	if d.dir == "" {
		for _, name := range []string{flagPartition, flagService, flagReplace} {
			if cmd.Flags().Changed(name) {
				return failf(exitUsage, "--%s needs --%s", name, flagDataset)
			}
		}
		return nil
	}
	if err := d.inputFlags.check(cmd.Flags().Args()); err != nil {
		return err
	}
	if cmd.Flags().Changed(formats.FlagTypedRows) {
		return failf(exitUsage, "--%s: which typed tables a dataset has does not depend on the number of events; omit it",
			formats.FlagTypedRows)
	}
	if cmd.Flags().Changed(flagPartition) {
		var err error
		if d.keys, err = dataset.ParseKeys(d.partition); err != nil {
			return failf(exitUsage, "--%s: %w", flagPartition, err)
		}
	}
	if d.service != "" && dataset.Service.Canonical(d.service) == "" {
		return failf(exitUsage, "--%s %s: query engines read this name as NULL; choose another one", flagService, d.service)
	}
	d.settings = settingsOf(cmd)
	if cmd.Flags().Changed(formats.FlagTyped) {
		d.typed, _ = cmd.Flags().GetStringSlice(formats.FlagTyped)
		slices.Sort(d.typed)
	}
	c.chooseByName()
	to := c.Output.Destination
	switch {
	case c.out != "":
		return failf(exitUsage, "-o %s: the inputs go into the dataset; omit -o or --%s", c.out, flagDataset)
	case cmd.Flags().Changed("force") && cmd.Flags().Lookup(flagDeadLetters) == nil: // which a pipeline replaces
		return failf(exitUsage,
			"-f: a dataset has each trace once; remove it with ntconv dataset rm before you add it again")
	case to != formats.ToDir:
		return failf(exitUsage,
			"a trace in a dataset is a directory; omit the flags that ask for one file, or --%s", flagDataset)
	case cmd.Flags().Changed(flagEach):
		return failf(exitUsage, "--%s: each trace of a dataset is converted by itself; omit --%s", flagEach, flagEach)
	}
	return nil
}

// settingsOf returns the flags that determine the tables of a trace, except the selection of events, as words of the
// command line in the order of their names.
func settingsOf(cmd *cobra.Command) string {
	other := []string{flagDataset, flagPartition, flagService, flagReplace, formats.FlagTyped, "files-from", "from", "jobs", formats.FlagFollow, "strict"}
	var words []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		group := groupOf(f)
		if (group == groupOwn || group == groupInput) && !slices.Contains(other, f.Name) {
			words = append(words, flagWords(f))
		}
	})
	return strings.Join(words, " ")
}

// open opens the dataset. One that exists is created already, see create.
func (d *collection) open() (*dataset.Dataset, error) {
	set, err := dataset.Prepare(string(d.dir), dataset.Config{
		Schema: tables.Version, Partition: d.keys, Typed: d.typed, Version: message.ModuleVersion(), Created: time.Now().UTC().Truncate(time.Second),
	})
	if err == nil && set.Exists() {
		return set, d.create(set)
	}
	return set, d.failure(err)
}

// create creates the dataset unless it exists, and removes leftovers of killed runs.
func (d *collection) create(set *dataset.Dataset) error {
	err := set.Create()
	if err == nil {
		_, err = set.Clean()
	}
	return d.failure(err)
}

// failure returns the failure for an error of the dataset.
func (d *collection) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dataset.ErrNotDataset), errors.Is(err, dataset.ErrMismatch):
		return fail(exitUsage, err)
	case errors.Is(err, dataset.ErrLayout):
		return fail(exitInput, layoutError(string(d.dir), err))
	}
	return fail(exitOutput, err)
}

// collect adds inputs to a dataset.
func (a *app) collect(cmd *cobra.Command, c *conversion, d *collection, args []string) error {
	if err := a.prepare(cmd, c); err != nil { // report errors of flags once, not for each input
		return err
	}
	found, err := d.find(args)
	if err != nil {
		return err
	}
	set, err := d.open()
	if err != nil {
		return err
	}
	b := newBatch(a, found.Names)
	run := &collecting{batch: b, cmd: cmd, conversion: c, collection: d, set: set, create: sync.OnceValue(func() error { return d.create(set) }), adds: set.NewBatch(), adding: make(map[string]*claim), sources: make(map[string]map[string][]*dataset.Manifest)}
	a.begin(&pass.Summary{Input: found.Names[0], To: c.To.Name, Output: set.Dir(), Result: &addedResult{&b.rows}})
	if len(found.Names) > 1 {
		a.sum.Inputs = found.Names
	}
	a.keepsOnInterrupt(func() string {
		return fmt.Sprintf("%s added to %s, the same command adds the rest",
			message.Count(run.published.Load(), "trace was", "traces were"), set.Dir())
	})
	publish := run.adds.Flush // traces that were converted are not lost
	a.publish.Store(&publish)
	b.run("converting", d.jobs, func(_ int, o *outcome) error { return run.add(o) })
	run.flush()
	b.note(found)
	a.sum.Notes = append(a.sum.Notes, a.openers.Notes()...)
	return b.end()
}

// firstNames returns the first 3 names for a message, and the number of the others.
func firstNames(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... (%d more)", strings.Join(names[:most], ", "), len(names)-most)
}

// complete defines the completions of a command that can add its inputs to a dataset.
func (d *collection) complete(cmd *cobra.Command) {
	var keys []string
	for _, key := range dataset.Keys() {
		keys = append(keys, string(key))
	}
	complete(cmd, flagPartition, keys)
}

// anyCompletion completes the names of any number of inputs.
func anyCompletion(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return inputCompletion(cmd, nil, word)
}
