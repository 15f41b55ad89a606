// Package dataset keeps the tables of many traces in one directory tree that query engines read as one partitioned
// dataset.
//
//	DIR/_dataset.json                                      what the dataset is: Config
//	DIR/day=2026-11-21/service=shop/trace=1f0c0ffee1f0c0ff the directory of a trace
//	    events.parquet, ...                                its tables
//	    _trace.json                                        what it is: Manifest
//	DIR/_staging/                                          traces that are being added or removed, and locks
//
// Engines that read Hive-style partitions ignore names that begin with an underscore or a dot.
//
// # Invariants
//
// A trace appears by one rename of its complete directory, and disappears by one rename. Its files, their directory and
// its manifest are on the disk before it appears. So every directory of a trace outside of _staging is complete, at any
// moment and after any crash.
//
// A trace is identified by its UID, a hash of its content. Whoever adds or removes a trace holds the lock of its UID,
// and looks for the trace in the whole dataset while holding it, so a trace is in a dataset once, whichever processes
// add it at the same time. The operating system releases the locks of a process that ends, so everything in _staging
// without a locked UID is left over from a run that was killed; Clean removes it.
//
// The package knows directories and files; what the tables hold is decided elsewhere.
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

	"github.com/ntconv/ntconv/internal/iox"
)

// Names in a dataset.
const (
	ConfigName   = "_dataset.json"
	ManifestName = "_trace.json"
	stagingName  = "_staging"
	traceKey     = "trace" // key of the innermost directories
)

// Layout is the version of the layout of directories that this package reads and writes.
const Layout = 1

// ErrNotDataset means that a directory is not a dataset.
var ErrNotDataset = errors.New("not a dataset")

// ErrMismatch means that a dataset has other keys or another schema than what is to be added.
var ErrMismatch = errors.New("the dataset differs")

// A Config is what a dataset states about itself in ConfigName. It does not change once it is written.
type Config struct {
	Layout    int       `json:"layout"`    // version of the layout
	Schema    int       `json:"schema"`    // version of the tables of all traces
	Partition []Key     `json:"partition"` // keys of the directories, outermost first
	Version   string    `json:"ntconv_version"`
	Created   time.Time `json:"created"`
}

// A Dataset is an open dataset. Its methods are safe for concurrent use.
type Dataset struct {
	dir    string
	config Config
	index  index
	synced sync.Map // directories whose names are on the disk
}

// Dir returns the directory as the user named it.
func (d *Dataset) Dir() string { return d.dir }

// Config returns what the dataset states about itself. The caller must not change its list of keys.
func (d *Dataset) Config() Config { return d.config }

// Open opens an existing dataset. The error wraps ErrNotDataset if the directory has no ConfigName.
func Open(dir string) (*Dataset, error) {
	d := &Dataset{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, ConfigName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, serr := os.Stat(dir); serr != nil {
			return nil, &iox.Error{Name: dir, Op: "open", Bytes: -1, Err: serr}
		}
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNotDataset, ConfigName)
	}
	if err != nil {
		return nil, &iox.Error{Name: dir, Op: "open " + ConfigName, Bytes: -1, Err: err}
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

// Create opens a dataset, and creates it if it does not exist. want has the wanted schema and keys; without keys, those
// of an existing dataset are used, and DefaultKeys for a new one. It is an error if an existing dataset has another
// schema or other keys, or if the directory holds something else than a dataset.
func Create(dir string, want Config) (*Dataset, error) {
	if err := checkKeys(want.Partition); err != nil {
		return nil, err
	}
	d, err := Open(dir)
	if errors.Is(err, ErrNotDataset) || errors.Is(err, fs.ErrNotExist) {
		made := create(dir, want)
		if d, err = Open(dir); err != nil &&
			made != nil { // another process may have created it, and added traces, in the meantime
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

// create makes a directory a dataset. Another process may do the same: the first one wins, and the others use its
// Config.
func create(dir string, c Config) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &iox.Error{Name: dir, Op: "create", Bytes: -1, Err: err}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &iox.Error{Name: dir, Op: "create", Bytes: -1, Err: err}
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
		err = iox.SyncDir(filepath.Dir(filepath.Clean(dir)))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// writeJSON writes a new file, which appears complete and is on the disk afterwards. The error wraps fs.ErrExist if
// there is one.
func writeJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	out, err := iox.Create(name, iox.OutputOptions{})
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

// staging returns the directory of what is unfinished.
func (d *Dataset) staging() string { return filepath.Join(d.dir, stagingName) }
