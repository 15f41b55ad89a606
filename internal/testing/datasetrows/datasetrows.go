// Package datasetrows reads the rows of all tables of a dataset, with other code than that which wrote them, so that tests can compare
// datasets.
package datasetrows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Read returns the rows of all tables of a dataset by table, sorted: each as the values of its columns by name. NULL is absent.
func Read(dir string) (map[string][]string, error) {
	rows := make(map[string][]string)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".parquet" {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		table, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		list, err := fileRows(name)
		rows[table] = append(rows[table], list...)
		return err
	})
	for _, list := range rows {
		slices.Sort(list)
	}
	return rows, err
}

// Rename replaces the name of a trace in all rows: a dataset keeps that one of several equal traces that came first.
func Rename(rows map[string][]string, from, to string) {
	for _, list := range rows {
		for i, row := range list {
			list[i] = strings.ReplaceAll(row, from, to)
		}
		slices.Sort(list)
	}
}

func fileRows(name string) (list []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	columns := file.Schema().Columns()
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		buffer := make([]parquet.Row, 100)
		for {
			n, err := reader.ReadRows(buffer)
			for _, row := range buffer[:n] {
				list = append(list, rowText(row, columns))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", name, err), reader.Close())
			}
		}
		if err := reader.Close(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func rowText(row parquet.Row, columns [][]string) string {
	var parts []string
	for _, v := range row {
		if !v.IsNull() {
			parts = append(parts, fmt.Sprintf("%s=%q", strings.Join(columns[v.Column()], "."), v.String()))
		}
	}
	slices.Sort(parts) // files have the columns in the order of their first trace
	return strings.Join(parts, " ")
}
