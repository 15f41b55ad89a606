package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/sqlviews"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	tableExt    = ".parquet"
	datasetFile = "_dataset.json" // marks the root of a dataset
	traceFolder = "trace="        // begins the folder of a trace in a dataset
)

// tablesAt returns what a directory of tables or a dataset holds, nil if name is neither.
func tablesAt(name string, names *traceNames) (*sqlviews.Source, error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, nil // the conversion reports what is wrong with it
	}
	if exists(filepath.Join(name, datasetFile)) {
		return datasetAt(name)
	}
	list, err := tablesIn(name)
	if err != nil || !slices.Contains(list, "events") && !slices.Contains(list, "trace_info") {
		return nil, err
	}
	return &sqlviews.Source{Dir: filepath.ToSlash(name), Trace: names.add(name), Tables: list}, nil
}

// tablesIn returns the names of the tables in a directory.
func tablesIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fail(exitInput, err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), tableExt); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// datasetAt returns what a dataset holds. The keys are those of its folders, key=value.
func datasetAt(root string) (*sqlviews.Source, error) {
	s := &sqlviews.Source{Dir: filepath.ToSlash(root)}
	found := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir() || path == root:
			return nil
		case strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // unfinished traces
		case !strings.HasPrefix(d.Name(), traceFolder):
			return nil
		}
		if s.Keys == nil {
			rel, _ := filepath.Rel(root, path) // path begins with root
			for _, part := range strings.Split(rel, string(filepath.Separator)) {
				key, _, _ := strings.Cut(part, "=")
				s.Keys = append(s.Keys, key)
			}
		}
		list, err := tablesIn(path)
		if err != nil {
			return err
		}
		for _, table := range list {
			found[table] = true
		}
		return fs.SkipDir
	})
	if err != nil {
		return nil, fail(exitInput, err)
	}
	if s.Keys == nil {
		return nil, failf(exitInput, "%s: the dataset has no traces; add one with: ntconv to parquet --dataset %s TRACE", root, root)
	}
	for table := range found {
		s.Tables = append(s.Tables, table)
	}
	return s, nil
}

// traceNames are the values of the column trace: names of files without directory and extensions, made unique.
type traceNames struct{ names tables.Names }

func (t *traceNames) add(name string) string {
	base := "stdin"
	if name != "-" {
		base = filepath.Base(formats.DirFor(strings.TrimPrefix(filepath.Base(name), traceFolder)))
	}
	return t.names.Add(base)
}

// tablesOf returns the tables of all traces. It converts those that are not tables yet. partial is an error of a trace that could be
// read in part.
func (a *app) tablesOf(cmd *cobra.Command, traces []string) (sources []sqlviews.Source, partial, err error) {
	names := new(traceNames)
	dir := ""
	for _, name := range traces {
		s, err := tablesAt(name, names)
		if err != nil {
			return nil, nil, err
		}
		if s == nil {
			if dir == "" {
				if dir, err = a.temps.createDir(); err != nil {
					return nil, nil, noTemp(err)
				}
			}
			s = &sqlviews.Source{Trace: names.add(name)}
			s.Dir = filepath.ToSlash(filepath.Join(dir, fmt.Sprint(len(sources))))
			err := a.convertToTables(cmd, name, filepath.FromSlash(s.Dir))
			if code := codeOf(err); code != exitOK && code != exitIncomplete {
				return nil, nil, err
			}
			partial = errors.Join(partial, err)
			if s.Tables, err = tablesIn(s.Dir); err != nil {
				return nil, nil, err
			}
		} else if err := a.refuseSelection(name); err != nil {
			return nil, nil, err
		}
		sources = append(sources, *s)
	}
	if partial != nil {
		partial = fail(exitIncomplete, partial)
	}
	return sources, partial, nil
}

// refuseSelection returns an error if events are selected, which happens where a trace is converted, and name is tables already.
func (a *app) refuseSelection(name string) error {
	sel, err := a.pick.options()
	if err != nil {
		return fail(exitUsage, err)
	}
	if !sel.Empty() || len(a.pick.during) > 0 {
		return failf(exitUsage, "%s: flags that select events do not apply to tables; select rows with WHERE", name)
	}
	return nil
}

// convertToTables converts a trace to a directory of tables.
func (a *app) convertToTables(cmd *cobra.Command, in, dir string) error {
	to := formats.ByName(formats.Writable(), "parquet")
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c := conversion{in: in, out: dir + string(filepath.Separator), to: to, creator: to.Out.Bind(flags)}
	if to.Out.Names != formats.NoNames {
		c.names = formats.NamesFlag(pflag.NewFlagSet("", pflag.ContinueOnError))
	}
	if err := flags.Set("typed", "all"); err != nil {
		return err
	}
	plan, err := a.planFor(cmd, to.Out, c.creator)
	if err != nil {
		return err
	}
	all := a.sum
	err = a.convert(&c, plan)
	if all == nil {
		all = new(summary.Summary)
	}
	all.Add(a.sum)
	a.sum = all
	return err
}

// noTemp is an error of temporary files.
func noTemp(err error) error {
	return fail(exitOutput, fmt.Errorf("%w; set TMPDIR to a directory with more space", err))
}
