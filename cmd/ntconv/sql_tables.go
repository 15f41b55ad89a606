package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	tableExt = ".parquet"
	traceKey = "trace" // the last key of the directories of a dataset
)

// tablesAt returns the tables of a directory of tables or of a dataset, nil if name is neither.
func tablesAt(name string, names *traceNames) (*tables.Source, error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, nil // the conversion reports the error
	}
	if exists(filepath.Join(name, dataset.ConfigName)) {
		return datasetAt(name, names)
	}
	list, err := tablesIn(name)
	if err != nil || !slices.Contains(list, "events") && !slices.Contains(list, "trace_info") {
		return nil, err
	}
	return &tables.Source{Dir: filepath.ToSlash(name), Trace: names.add(name), Tables: list}, nil
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

// datasetAt returns the tables of a dataset. Its traces are named by their UIDs.
func datasetAt(dir string, names *traceNames) (*tables.Source, error) {
	set, err := openDataset(dir)
	if err != nil {
		return nil, err
	}
	traces, err := set.Traces()
	if err != nil {
		return nil, fail(exitInput, err)
	}
	if len(traces) == 0 {
		return nil, failf(exitInput,
			"%s: the dataset has no traces; add one with: ntconv to parquet --dataset %s TRACE", dir,
			message.ShellWord(dir))
	}
	s := &tables.Source{Dir: filepath.ToSlash(dir)}
	for _, key := range set.Config().Partition {
		s.Keys = append(s.Keys, string(key))
	}
	s.Keys = append(s.Keys, traceKey)
	found := make(map[string]bool)
	for i := range traces {
		if traces[i].Err != nil {
			return nil, failf(exitInput, "%w; ntconv dataset verify %s says what to do", traces[i].Err,
				message.ShellWord(dir))
		}
		// Joins would match rows of different traces with equal UIDs.
		if uid := traces[i].UID; names.names.Add(uid) != uid {
			return nil, failf(exitUsage, "%s: trace %s is in more than one of the inputs; name it once", dir, uid)
		}
		for _, f := range traces[i].Manifest.Files {
			if table, ok := strings.CutSuffix(f.Name, tableExt); ok {
				found[table] = true
			}
		}
	}
	s.Tables = slices.Sorted(maps.Keys(found))
	return s, nil
}

// traceNames are the values of the column trace: names of files without directory and extensions, made unique.
type traceNames struct{ names tables.Names }

func (t *traceNames) add(name string) string {
	base := "stdin"
	if name != "-" {
		base = filepath.Base(formats.DirFor(strings.TrimPrefix(filepath.Base(name), traceKey+"=")))
	}
	return t.names.Add(base)
}

// tablesOf returns the tables of all traces. It converts inputs that are not tables. partial is the error of an
// incomplete trace.
func (a *app) tablesOf(cmd *cobra.Command, traces []string) (sources []tables.Source, partial, err error) {
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
			s = &tables.Source{Trace: names.add(name)}
			s.Dir = filepath.ToSlash(filepath.Join(dir, fmt.Sprint(len(sources))))
			err := a.convertToTables(cmd, name, filepath.FromSlash(s.Dir))
			switch codeOf(err) {
			case exitOK, exitIncomplete:
			case exitOutput:
				return nil, nil, noTemp(err)
			default:
				return nil, nil, err
			}
			partial = errors.Join(partial, err)
			if s.Tables, err = tablesIn(s.Dir); err != nil {
				return nil, nil, err
			}
		} else if err := a.refuseSelection(name); err != nil {
			return nil, nil, err
		} else {
			a.quota.Read(sizeBelow(name) * input.AtFactor)
		}
		sources = append(sources, *s)
	}
	if partial != nil {
		partial = fail(exitIncomplete, partial)
	}
	return sources, partial, nil
}

// sizeBelow returns the size of the files below a directory that can be examined, for the summary.
func sizeBelow(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // DuckDB reports unreadable files
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// refuseSelection returns an error if events are selected, because name consists of tables, which are not converted.
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
	to := formats.Tables()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c := conversion{Job: job.Job{To: to}, in: in, out: dir + string(filepath.Separator)}
	c.bind(flags)
	if err := flags.Set("typed", "all"); err != nil {
		return err
	}
	if err := a.prepare(cmd, &c); err != nil {
		return err
	}
	all := a.sum
	err := a.convert(&c)
	all.Add(a.sum)
	a.sum = all
	return err
}

// noTemp returns the failure for an error of temporary files.
func noTemp(err error) error {
	return fail(exitOutput, fmt.Errorf("%w; set TMPDIR to a directory with more space", err))
}
