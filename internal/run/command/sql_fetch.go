package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables"
)

// fetchTables copies the tables that a query names from object stores to a temporary directory, because DuckDB reads stores only
// with an extension that it downloads.
func (a *app) fetchTables(sources []tables.Source, named func(string) bool) error {
	for i := range sources {
		s := &sources[i]
		if !store.Is(s.Dir) {
			continue
		}
		dir, err := a.temps.createDir()
		if err != nil {
			return noTemp(err)
		}
		for k := range s.Tables {
			if t := &s.Tables[k]; !named(t.Name) {
				continue
			} else if err := a.fetchTable(s.Dir, t, dir); err != nil {
				return err
			}
		}
		s.Dir = filepath.ToSlash(dir)
	}
	return nil
}

// fetchTable copies the files of a table.
func (a *app) fetchTable(from string, t *tables.SourceTable, dir string) error {
	files := t.Files
	if files == nil {
		files = []string{t.Name + tableExt}
	}
	size := int64(0)
	opened := make([]store.File, len(files))
	for i, name := range files {
		f, err := store.Open(store.Join(from, name))
		if err != nil {
			return fail(exitInput, err)
		}
		defer f.Close()
		if size += f.Size(); a.read.MaxTemp > 0 && size > a.read.MaxTemp {
			return fail(exitInput, fmt.Errorf("%s: table %s has more than %s; raise --%s", from, t.Name, message.Bytes(a.read.MaxTemp), formats.FlagSpool))
		}
		a.quota.Read(f.Size())
		opened[i] = f
	}
	for i, name := range files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return noTemp(err)
		}
		if err := store.Save(opened[i], to); err != nil {
			return fail(exitInput, err)
		}
	}
	return nil
}
