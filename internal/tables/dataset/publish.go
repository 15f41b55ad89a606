package dataset

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// A Promise is a table that a dataset has from the start, with the columns that parquet-tables.md promises and those of the partition
// keys.
type Promise struct {
	Table string
	// Write writes a Parquet file without rows that has the columns.
	Write func(io.Writer) error
}

// Promises returns the tables of this release for the dataset: all fixed tables and, unless the dataset has no typed tables, those of
// the events of the runtime. A dataset that an earlier release created may have fewer.
func (d *Dataset) Promises() []Promise {
	var list []Promise
	for _, t := range d.emptyTables() {
		list = append(list, Promise{t.name, t.write})
	}
	return list
}

// Identity returns a string that no other dataset has: the ID of the commit that created the tables, which is never replaced. A copy
// of the directory has the same identity.
func (d *Dataset) Identity() (string, error) {
	commits, err := d.Commits()
	if err != nil {
		return "", err
	}
	for _, c := range commits {
		if len(c.Traces) == 0 && len(c.Replaces) == 0 {
			return c.ID, nil
		}
	}
	return "", fmt.Errorf("%s: the commit that created its tables is missing", d.dir)
}

// Location returns the address of a file for programs that read it: an absolute path of the file system, or the address of the object
// if the dataset is in a store.
func (d *Dataset) Location(f *File) (string, error) {
	if d.remote() {
		return d.file(f.Path), nil
	}
	name, err := filepath.Abs(d.file(f.Path))
	return filepath.ToSlash(name), err
}

// PartitionOf returns the values of the partition keys of a file, in the order of the keys. "" is an unknown value.
func (d *Dataset) PartitionOf(f *File) ([]string, error) {
	parts := strings.Split(placeOf(*f), "/")
	if len(parts) != len(d.config.Partition) {
		return nil, fmt.Errorf("%s: want a directory per partition key (%s)", f.Path, JoinKeys(d.config.Partition))
	}
	values := make([]string, len(parts))
	for i, key := range d.config.Partition {
		text, ok := strings.CutPrefix(parts[i], string(key)+"=")
		if ok {
			values[i], ok = unescape(text)
		}
		if !ok {
			return nil, fmt.Errorf("%s: directory %s: want %s=VALUE", f.Path, parts[i], key)
		}
	}
	return values, nil
}
