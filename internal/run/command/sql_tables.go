package command

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
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const tableExt = ".parquet"

// tablesAt returns the tables of a directory of tables, a dataset or a trace of one, nil if name is none of these.
func tablesAt(name string) (*tables.Source, error) {
	if dir, uid, ok := dataset.SplitTrace(name); ok {
		return datasetAt(dir, uid)
	}
	if info, err := store.Stat(name); err != nil || !info.IsDir() {
		return nil, nil // the conversion reports the error
	}
	if exists(store.Join(name, dataset.ConfigName)) {
		return datasetAt(name, "")
	}
	list, err := tablesIn(name)
	if err != nil || !slices.ContainsFunc(list, func(t tables.SourceTable) bool { return t.Name == "events" || t.Name == "trace_info" }) {
		return nil, err
	}
	return &tables.Source{Dir: filepath.ToSlash(name), Tables: list}, nil
}

// tablesIn returns the tables in a directory.
func tablesIn(dir string) (list []tables.SourceTable, err error) {
	entries, err := store.ReadDir(dir)
	if err != nil {
		return nil, fail(exitInput, err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), tableExt); ok && !e.IsDir() {
			list = append(list, tables.SourceTable{Name: name})
		}
	}
	return list, nil
}

// datasetAt returns the tables of a dataset, or of one of its traces, with the files that it has now.
func datasetAt(dir, uid string) (*tables.Source, error) {
	set, err := openDataset(dir)
	if err != nil {
		return nil, err
	}
	_ = set.Recover() // what another run left unfinished is not read if it cannot be finished, because the directory is read only
	commits, err := set.Commits()
	if err != nil {
		return nil, fail(exitInput, verifyFirst(set, err))
	}
	s := &tables.Source{Dir: filepath.ToSlash(dir), Trace: uid, Keys: []string{}}
	for _, key := range set.Config().Partition {
		s.Keys = append(s.Keys, string(key))
	}
	if uid != "" {
		has := func(m dataset.Manifest) bool { return m.UID == uid }
		commits = slices.DeleteFunc(commits, func(c *dataset.Commit) bool { return len(c.Traces) > 0 && !slices.ContainsFunc(c.Traces, has) })
		if !slices.ContainsFunc(commits, func(c *dataset.Commit) bool { return len(c.Traces) > 0 }) {
			return nil, failf(exitInput, "%s: the dataset has no trace %s; ntconv dataset ls %s lists all", dir, uid, message.ShellWord(dir))
		}
	}
	s.Tables = filesOf(commits)
	for _, c := range commits {
		for i := range c.Traces {
			if uid == "" || uid == c.Traces[i].UID {
				s.UIDs = append(s.UIDs, c.Traces[i].UID)
			}
		}
	}
	return s, nil
}

// sharedTraces describes the traces that several datasets have.
func sharedTraces(inputs []string, sources []tables.Source) (notes []string) {
	first := make(map[string]int) // index of an input by UID
	shared := make(map[[2]int]int64)
	for i := range sources {
		for _, uid := range sources[i].UIDs {
			if k, ok := first[uid]; ok {
				shared[[2]int{k, i}]++
			} else {
				first[uid] = i
			}
		}
	}
	for _, pair := range slices.SortedFunc(maps.Keys(shared), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		notes = append(notes, fmt.Sprintf("%s: %s also in %s: the query finds their rows in both", inputs[pair[1]],
			message.Count(shared[pair], "trace is", "traces are"), inputs[pair[0]]))
	}
	return notes
}

// filesOf returns the tables of commits. Files without rows are omitted from tables that have others.
func filesOf(commits []*dataset.Commit) (list []tables.SourceTable) {
	files := make(map[string][]dataset.File)
	for _, c := range commits {
		for _, f := range c.Files {
			files[f.Table] = append(files[f.Table], f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t := tables.SourceTable{Name: name}
		columns := make(map[string]bool)
		for _, f := range files[name] {
			if f.Rows > 0 || len(files[name]) == 1 {
				t.Files = append(t.Files, f.Path)
				columns[f.Columns] = true
			}
		}
		slices.Sort(t.Files)
		t.Differs = len(columns) > 1
		list = append(list, t)
	}
	return list
}

// nameTraces sets the column trace of sources that are not datasets: the name of the input without directories and extensions, with
// as many directories as distinguish it from the others.
func nameTraces(inputs []string, sources []tables.Source) error {
	for i := range sources {
		for k := range i {
			// Joins would match rows of a trace with those of its copy.
			a, b := &sources[k], &sources[i]
			same := a.Keys != nil && b.Keys != nil && filepath.Clean(a.Dir) == filepath.Clean(b.Dir)
			if same && (a.Trace == "" || b.Trace == "" || a.Trace == b.Trace) {
				return failf(exitUsage, "%s is in more than one of the inputs; name it once", inputs[i])
			}
		}
	}
	names := make([]string, len(inputs))
	const maxDirs = 8
	for dirs := 1; dirs <= maxDirs; dirs++ {
		count := make(map[string]int)
		for _, name := range names {
			count[name]++
		}
		for i, in := range inputs {
			if names[i] == "" || count[names[i]] > 1 {
				names[i] = traceName(in, dirs)
			}
		}
	}
	var unique tables.Names
	for i := range sources {
		if sources[i].Keys == nil {
			sources[i].Trace = unique.Add(names[i])
		}
	}
	return nil
}

// traceName returns the last elements of the name of an input, without extensions.
func traceName(in string, elements int) string {
	if in == "-" {
		return "stdin"
	}
	if fileio.IsRemote(in) {
		in = fileio.Shown(in)
	}
	dir, base := filepath.Split(lastElements(in, elements))
	return filepath.ToSlash(filepath.Join(dir, filepath.Base(formats.DirFor(base))))
}

// sqlInputs returns the inputs that the arguments of ntconv sql represent. Datasets stay as they are.
func (a *app) sqlInputs(args []string) (names []string, err error) {
	for _, arg := range args {
		if exists(store.Join(arg, dataset.ConfigName)) {
			names = append(names, arg)
			continue
		}
		in, err := a.findInputs([]string{arg})
		if err != nil {
			if part, ok := errors.AsType[*input.DatasetError](err); ok {
				err = failf(exitUsage, "%s: this is not a whole dataset; name the dataset, and the table in the query: ntconv sql 'SHOW TABLES' %s",
					arg, message.ShellWord(part.Dir))
			}
			return nil, err
		}
		names = append(names, in.Names...)
	}
	return names, nil
}

// tablesOf returns the tables of all inputs. It converts inputs that are not tables. partial is the error of an
// incomplete trace.
func (a *app) tablesOf(cmd *cobra.Command, inputs []string) (sources []tables.Source, partial, err error) {
	dir := ""
	for _, name := range inputs {
		s, err := tablesAt(name)
		if err != nil {
			return nil, nil, err
		}
		if s == nil {
			if dir == "" {
				if dir, err = a.temps.createDir(); err != nil {
					return nil, nil, noTemp(err)
				}
			}
			s = &tables.Source{Dir: filepath.ToSlash(filepath.Join(dir, fmt.Sprint(len(sources))))}
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
			a.quota.Read(sizeBelow(s.Dir) * input.AtFactor)
		}
		sources = append(sources, *s)
	}
	if partial != nil {
		partial = fail(exitIncomplete, partial)
	}
	return sources, partial, nameTraces(inputs, sources)
}

// emptyViews returns views without rows for the typed tables of the runtime's events that a query names and no source has.
func emptyViews(sources []tables.Source, named func(string) bool) string {
	has := make(map[string]bool)
	for i := range sources {
		for _, t := range sources[i].Tables {
			has[t.Name] = true
		}
	}
	views := ""
	for _, t := range typedtable.Runtime() {
		if named(t.Name) && !has[t.Name] {
			views += t.View()
		}
	}
	return views
}

// missingTables describes typed tables that a query names and that a directory of tables lacks, although its trace has such events.
func missingTables(inputs []string, sources []tables.Source, query string) (notes []string) {
	query = strings.ToLower(query)
	for i := range sources {
		s := &sources[i]
		if s.Keys != nil || filepath.ToSlash(inputs[i]) != s.Dir {
			continue
		}
		for _, table := range untypedEvents(filepath.FromSlash(s.Dir)) {
			if strings.Contains(query, strings.ToLower(table)) && !slices.ContainsFunc(s.Tables, func(t tables.SourceTable) bool { return t.Name == table }) {
				notes = append(notes, fmt.Sprintf(
					"%s has no table %s, although its trace has such events: they are not in the result; ntconv to parquet --typed all TRACE writes the table",
					inputs[i], table))
			}
		}
	}
	return notes
}

// untypedEvents returns the names that the typed tables of the events without one would have.
func untypedEvents(dir string) (names []string) {
	f, err := os.Open(filepath.Join(dir, tables.Of[tables.EventType]().Name+tableExt))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	types, err := parquetreader.Open(f, info.Size(), nil)
	if err != nil {
		return nil // DuckDB reports it
	}
	defer types.Close()
	type row struct {
		Provider string `parquet:"provider"`
		Event    string `parquet:"event"`
		Table    string `parquet:"typed_table,optional"`
	}
	r, err := parquetreader.NewReader[row](types)
	if err != nil {
		return nil
	}
	defer r.Close()
	for rows := make([]row, 256); err == nil; {
		var n int
		n, err = r.Read(rows)
		for _, t := range rows[:n] {
			if t.Table == "" {
				names = append(names, tables.TypedName(t.Provider, t.Event))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names) // versions of an event share a table
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
	if err := flags.Set(formats.FlagTyped, typedtable.All); err != nil {
		return err
	}
	c.Adapt = func(target *formats.Target) { target.Uniform = true } // so that several traces have the same columns
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
