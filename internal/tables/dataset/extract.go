package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// SplitTrace divides the name of a trace in a dataset, DIR/trace=UID, as Trace.Path has it. ok is false for other names, and if DIR
// is not a dataset.
func SplitTrace(name string) (dir, uid string, ok bool) {
	dir, base := store.Split(name)
	uid, ok = strings.CutPrefix(base, TraceKey+"=")
	if !ok || !IsUID(uid) {
		return "", "", false
	}
	_, err := store.Stat(store.Join(dir, ConfigName))
	return dir, uid, err == nil
}

// Extract writes the tables of a trace to a new directory, as it would have them outside of the dataset, and its manifest. The error
// wraps fs.ErrNotExist if the dataset does not have the trace.
func (d *Dataset) Extract(uid, dir string) error {
	t, found, err := d.find(uid)
	if err != nil {
		return err
	}
	if !found {
		return &fileio.Error{Name: store.Join(d.dir, TraceKey+"="+uid), Op: "open", Bytes: -1, Err: fs.ErrNotExist}
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	written := make(map[string]bool)
	place := d.place(&t.Manifest.Properties)
	for _, f := range t.Commit.Files {
		if placeOf(f) != place {
			continue
		}
		to := filepath.Join(dir, f.Table+".parquet")
		if written[f.Table] { // of traces with other columns
			continue
		}
		ok, err := extractTable(d.file(f.Path), uid, to)
		if err != nil {
			return fmt.Errorf("%s: %w", d.file(f.Path), err)
		}
		written[f.Table] = ok
	}
	for _, empty := range d.emptyTables() {
		if !written[empty.name] && !strings.HasPrefix(empty.name, tables.TypedPrefix) {
			if _, err := writeStaged(filepath.Join(dir, empty.name+".parquet"), empty.write); err != nil {
				return err
			}
		}
	}
	return writeJSON(filepath.Join(dir, ManifestName), t.Manifest)
}

// extractTable writes the rows of a trace in a file to another, and reports whether there are any.
func extractTable(name, uid, to string) (bool, error) {
	s, err := open(piece{name: name})
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return false, err
	}
	runs, err := s.rows.Runs(TraceKey)
	if err != nil {
		return false, err
	}
	var parts []parquetwriter.Part
	for _, run := range runs {
		if run.Value == uid {
			parts = append(parts, parquetwriter.Part{File: s.rows, From: run.From, To: run.To})
		}
	}
	switch {
	case len(parts) == 0:
		return false, nil
	case len(runs) == 1:
		return true, link(name, to)
	}
	_, err = join(parts, strings.TrimSuffix(filepath.Base(to), ".parquet"), to)
	return true, err
}

// ReadManifest reads the manifest in the directory of a trace that Extract has written, or that a dataset of layout 1 has. The error
// wraps fs.ErrNotExist if there is none.
func ReadManifest(dir string) (*Manifest, error) {
	m := new(Manifest)
	if err := readJSON(filepath.Join(dir, ManifestName), m); err != nil {
		return nil, err
	}
	return m, nil
}
