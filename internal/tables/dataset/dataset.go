// Package dataset stores the tables of many traces in one directory tree that query engines read as one partitioned
// dataset.
//
//	DIR/_dataset.json                                      Config: version of the layout, partition keys
//	DIR/day=2026-11-21/service=shop/trace=1f0c0ffee1f0c0ff the directory of a trace
//	    events.parquet, ...                                its tables
//	    _trace.json                                        its Manifest
//	DIR/_staging/                                          traces that are being added or removed, and locks
//
// Query engines that read Hive-style partitions ignore names that begin with an underscore or a dot.
//
// # Invariants
//
// A trace appears by one rename of its complete directory, and disappears by one rename. Its files, its manifest and
// their directory are synced to disk before it appears. Therefore every directory of a trace outside of _staging is
// complete at any moment and after any crash.
//
// A trace is identified by its UID, a hash of its content. A process that adds or removes a trace holds the lock of its
// UID, and searches the whole dataset for the trace while holding it. So a trace occurs at most once, even if several
// processes add it concurrently. The operating system releases the locks of a process that ends. Therefore everything
// in _staging whose UID is not locked was left by a killed run; Clean removes it.
//
// The package handles directories and files; package tables defines their contents.
package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// File and directory names in a dataset.
const (
	ConfigName   = "_dataset.json"
	ManifestName = "_trace.json"
	stagingName  = "_staging"
	traceKey     = "trace" // key of the innermost directories
)

// Layout is the version of the directory layout that this package reads and writes.
const Layout = 1

// ErrNotDataset means that the directory is not a dataset.
var ErrNotDataset = errors.New("not a dataset")

// ErrMismatch means that an existing dataset has other partition keys or another schema version than requested.
var ErrMismatch = errors.New("the dataset differs")

// A Config is the contents of ConfigName. It does not change after the dataset has been created.
type Config struct {
	Layout    int       `json:"layout"`    // version of the directory layout
	Schema    int       `json:"schema"`    // schema version of the tables of all traces
	Partition []Key     `json:"partition"` // partition keys, outermost first
	Version   string    `json:"ntconv_version"`
	Created   time.Time `json:"created"`
}

// A Dataset is an open dataset. Its methods are safe for concurrent use.
type Dataset struct {
	dir    string
	config Config
	index  index
	synced sync.Map // directories whose names have been synced to disk
}

// Dir returns the directory as the user specified it.
func (d *Dataset) Dir() string { return d.dir }

// Config returns the contents of ConfigName. The caller must not change its Partition.
func (d *Dataset) Config() Config { return d.config }

// Open opens an existing dataset. The error wraps ErrNotDataset if the directory has no ConfigName.
func Open(dir string) (*Dataset, error) {
	d := &Dataset{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, ConfigName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, serr := os.Stat(dir); serr != nil {
			return nil, &fileio.Error{Name: dir, Op: "open", Bytes: -1, Err: serr}
		}
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNotDataset, ConfigName)
	}
	if err != nil {
		return nil, &fileio.Error{Name: dir, Op: "open " + ConfigName, Bytes: -1, Err: err}
	}
	if err := json.Unmarshal(data, &d.config); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, ConfigName, err)
	}
	if d.config.Layout != Layout {
		return nil, fmt.Errorf(
			"%s: the dataset has layout %d, this release reads layout %d; use the release that wrote it (ntconv %s)",
			dir, d.config.Layout, Layout, d.config.Version,
		)
	}
	if err := checkKeys(d.config.Partition); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, ConfigName, err)
	}
	d.index.dataset = d
	return d, nil
}

// Create opens a dataset, and creates it if it does not exist. want contains the requested schema version and partition
// keys. Without keys, an existing dataset keeps its own, and a new one gets DefaultKeys. The error wraps ErrMismatch if
// an existing dataset has another schema version or other keys, and ErrNotDataset if the directory contains other
// files.
func Create(dir string, want Config) (*Dataset, error) {
	if err := checkKeys(want.Partition); err != nil {
		return nil, err
	}
	d, err := Open(dir)
	if errors.Is(err, ErrNotDataset) || errors.Is(err, fs.ErrNotExist) {
		made := create(dir, want)
		// If create failed, another process may have created the dataset, and added traces, in the meantime.
		if d, err = Open(dir); err != nil && made != nil {
			return nil, made
		}
	}
	if err != nil {
		return nil, err
	}
	if has := d.config.Partition; len(want.Partition) > 0 && !slices.Equal(has, want.Partition) {
		return nil, fmt.Errorf(
			"%s: %w: it is partitioned by %s, not by %s; omit --partition, or add to another dataset",
			dir, ErrMismatch, JoinKeys(has), JoinKeys(want.Partition),
		)
	}
	if d.config.Schema != want.Schema {
		return nil, fmt.Errorf(
			"%s: %w: its tables have schema version %d, this release writes version %d; add to a new dataset",
			dir, ErrMismatch, d.config.Schema, want.Schema,
		)
	}
	return d, nil
}

// create makes a directory a dataset. If several processes do this concurrently, the first one succeeds and the others
// read its Config.
func create(dir string, c Config) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &fileio.Error{Name: dir, Op: "create", Bytes: -1, Err: err}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &fileio.Error{Name: dir, Op: "create", Bytes: -1, Err: err}
	}
	for _, e := range entries {
		if !hidden(e.Name()) {
			return fmt.Errorf("%s: %w, and not empty (%s); name a new directory", dir, ErrNotDataset, e.Name())
		}
	}
	c.Layout = Layout
	if len(c.Partition) == 0 {
		c.Partition = DefaultKeys()
	}
	err = writeJSON(filepath.Join(dir, ConfigName), &c)
	if err == nil {
		err = fileio.SyncDir(filepath.Dir(filepath.Clean(dir)))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// writeJSON creates a file that appears complete and has been synced to disk when writeJSON returns. The error wraps
// fs.ErrExist if the file exists.
func writeJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	out, err := fileio.Create(name, fileio.OutputOptions{})
	if err != nil {
		return err
	}
	if _, err := out.Write(append(data, '\n')); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// hidden reports whether query engines ignore a name.
func hidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

// staging returns the directory of unfinished additions and removals.
func (d *Dataset) staging() string { return filepath.Join(d.dir, stagingName) }
