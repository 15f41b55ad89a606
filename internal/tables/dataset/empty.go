package dataset

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
)

// An emptyTable writes a table without rows.
type emptyTable struct {
	name  string
	write func(io.Writer) error
}

// emptyTables returns the tables that a dataset has from the start: all fixed tables, and those of the events of the runtime.
func (d *Dataset) emptyTables() []emptyTable {
	constants := d.constants("", new(Properties))
	metadata := func(name string) map[string]string {
		return map[string]string{tables.VersionKey: strconv.Itoa(d.config.Schema), tables.TableKey: name}
	}
	var list []emptyTable
	for _, t := range tables.All() {
		list = append(list, emptyTable{t.Name, func(w io.Writer) error {
			return parquetwriter.WriteEmpty(w, t.Row, constants, &parquetwriter.Options{Metadata: metadata(t.Name)})
		}})
	}
	if slices.Contains(d.config.Typed, typedtable.None) {
		return list
	}
	for _, t := range typedtable.Runtime() {
		list = append(list, emptyTable{t.Name, func(w io.Writer) error {
			return parquetwriter.WriteEmptyColumns(w, t.Columns, constants, &parquetwriter.Options{Metadata: metadata(t.Name)})
		}})
	}
	return list
}

// createTables publishes the first commit, which has the tables without rows.
func (d *Dataset) createTables() (err error) {
	id := newID()
	l, err := d.lock(id)
	if err != nil {
		return err
	}
	defer l.release()
	staging := d.stagingDir(id)
	defer func() { err = errors.Join(err, removeStaging(staging, err)) }()
	if err := os.MkdirAll(staging, 0o777); err != nil {
		return err
	}
	if !d.remote() {
		if err := os.MkdirAll(filepath.Join(d.dir, commitsName), 0o777); err != nil {
			return err
		}
	}
	if commits, err := d.Commits(); err != nil || len(commits) > 0 {
		return err // another run has created the tables
	}
	c := &Commit{ID: id, Version: d.config.Version, Created: d.config.Created, Traces: []Manifest{}}
	for i, t := range d.emptyTables() {
		file, err := writeStaged(filepath.Join(staging, stagedFile(i)), t.write)
		if err != nil {
			return err
		}
		s, err := open(piece{name: filepath.Join(staging, stagedFile(i))})
		if err != nil {
			return err
		}
		s.close()
		file.Columns = columnsID(s.schema())
		file.Table, file.Path = t.name, path.Join(t.name, d.place(new(Properties)), id+"-0.parquet")
		c.Files = append(c.Files, file)
	}
	if err := d.publish(c, staging); !errors.Is(err, fs.ErrExist) { // another run may have been faster
		return err
	}
	return nil
}
