// Package dataset stores the tables of many traces in one directory tree that query engines read as partitioned tables.
//
//	DIR/_dataset.json                                       Config: version of the layout, partition keys, typed tables
//	DIR/events/day=2026-11-21/service=shop/COMMIT-0.parquet  rows of one or more traces
//	DIR/samples/...                                         every table has a directory
//	DIR/_commits/COMMIT.json                                a Commit: its traces and its files
//	DIR/_commits/pending.json                               the commit that is being published
//	DIR/_published/CATALOG-RUN.json                         a Pin: commits whose files a catalog may refer to
//	DIR/_staging/                                           traces that are being added or removed, and locks
//	DIR/_commits/turn-N.json                                in an object store: whose turn it is to publish
//
// Query engines that read Hive-style partitions ignore names that begin with an underscore or a dot. All files of a table have the
// columns trace and those of the partition keys; every table has a file without rows from the start, so that it can be queried.
//
// # Invariants
//
// Files do not change after they have been published. A commit is a closed set: its files have the rows of its traces and no
// others. Every change adds one commit, which may replace others: that of added traces, that without removed traces, that of
// several small commits.
//
// A commit is decided when pending.json appears, for which the process holds the lock of commits. What follows are renames and
// removals that can be repeated: whoever takes the lock next, and finds pending.json, does the rest. So a trace is in the dataset
// once and whole, or not at all, after any crash. A reader of commits sees each of them whole at any moment; a reader of the
// directories sees files come and go while a commit is published.
//
// A trace is identified by its UID, a hash of its content. A process that adds or removes a trace holds the lock of its UID. The
// operating system releases the locks of a process that ends. Therefore everything in _staging whose UID is not locked was left by
// a killed run; Clean removes it.
package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
)

// File and directory names in a dataset.
const (
	ConfigName   = "_dataset.json"
	ManifestName = "_trace.json" // in the directory of a trace outside of a dataset
	stagingName  = "_staging"
	commitsName  = "_commits"
	pinsName     = "_published"
	pendingName  = "pending.json"
	TraceKey     = "trace" // name of the column with the UID
)

// Layout is the version of the directory layout that this package reads and writes. In version 1 every trace had a directory.
const Layout = 2

// ErrLayout means that a dataset has the layout of another version.
var ErrLayout = errors.New("another layout")

// ErrNotDataset means that the directory is not a dataset.
var ErrNotDataset = errors.New("not a dataset")

// ErrBegun means that the creation of a dataset was interrupted. It is an ErrNotDataset.
var ErrBegun = fmt.Errorf("%w: its creation was interrupted", ErrNotDataset)

// ErrMismatch means that an existing dataset has other partition keys or another schema version than requested.
var ErrMismatch = errors.New("the dataset differs")

// A Config is the contents of ConfigName. It does not change after the dataset has been created.
type Config struct {
	Layout    int   `json:"layout"`    // version of the directory layout
	Schema    int   `json:"schema"`    // schema version of the tables of all traces
	Partition []Key `json:"partition"` // partition keys, outermost first
	// Typed are the events that have typed tables in addition to those of the runtime, as in parquet.Options.
	Typed   []string  `json:"typed,omitempty"`
	Version string    `json:"ntconv_version"`
	Created time.Time `json:"created"`
}

// A Dataset is an open dataset. Its methods are safe for concurrent use.
type Dataset struct {
	dir    string // a directory, or a name in an object store
	local  string // directory of _staging: dir, or one of this machine for a dataset in an object store
	config Config
	state  state
	fault  func() error // called by step; only tests set it

	testLease time.Duration // instead of turnLease; only tests set it
}

// step is called between the operations of a publication, so that tests can end a run there.
func (d *Dataset) step() error {
	if d.fault == nil {
		return nil
	}
	return d.fault()
}

// Dir returns the directory as the user specified it.
func (d *Dataset) Dir() string { return d.dir }

// Config returns the contents of ConfigName. The caller must not change its Partition.
func (d *Dataset) Config() Config { return d.config }

// Open opens an existing dataset. The error wraps ErrNotDataset if the directory has no ConfigName, and ErrBegun if a killed run has
// begun to create it.
func Open(dir string) (*Dataset, error) {
	d, err := at(dir)
	if err != nil {
		return nil, err
	}
	data, err := store.ReadFile(store.Join(dir, ConfigName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, serr := store.Stat(dir); serr != nil {
			return nil, &fileio.Error{Name: dir, Op: "open", Bytes: -1, Err: serr}
		}
		if entries, _ := store.ReadDir(dir); begun(entries) {
			return nil, fmt.Errorf("%s: %w", dir, ErrBegun)
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
		return nil, fmt.Errorf("%s: %w: the dataset has layout %d, written by ntconv %s, and this release reads layout %d", dir, ErrLayout,
			d.config.Layout, d.config.Version, Layout)
	}
	if err := checkKeys(d.config.Partition); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, ConfigName, err)
	}
	return d, nil
}

// at returns a dataset without its Config.
func at(dir string) (*Dataset, error) {
	d := &Dataset{dir: dir, local: dir}
	err := fileio.CheckAddress(dir)
	if err == nil && store.Is(dir) {
		d.local, err = localStaging(dir)
	}
	if err != nil {
		return nil, &fileio.Error{Name: dir, Op: "open", Bytes: -1, Err: err}
	}
	return d, nil
}

// Create opens a dataset, and creates it if it does not exist: it is Prepare with the method Create.
func Create(dir string, want Config) (*Dataset, error) {
	d, err := Prepare(dir, want)
	if err == nil {
		err = d.Create()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Prepare opens a dataset that exists or is to be created: then the caller must call Create before it adds anything. want contains the
// requested schema version, partition keys and typed tables. Without keys, an existing dataset keeps its own, and a new one gets
// DefaultKeys; without typed tables (nil) an existing one keeps its own. The error wraps ErrMismatch if an existing dataset differs, and
// ErrNotDataset if no dataset can be created because the directory contains other files, or is in another dataset.
func Prepare(dir string, want Config) (*Dataset, error) {
	if err := checkKeys(want.Partition); err != nil {
		return nil, err
	}
	d, err := Open(dir)
	if errors.Is(err, ErrNotDataset) || errors.Is(err, fs.ErrNotExist) {
		return vacant(dir, want)
	}
	if err != nil {
		return nil, err
	}
	return d, d.accepts(&want)
}

// Exists reports whether the dataset had been created when it was opened, or has been created since.
func (d *Dataset) Exists() bool { return d.config.Layout == Layout }

// Create creates the dataset unless it exists. It must not be called concurrently with other methods.
func (d *Dataset) Create() error {
	if d.Exists() {
		return nil
	}
	want := d.config
	made := d.create()
	// If create failed, another process may have created the dataset, and added traces, in the meantime.
	is, err := Open(d.dir)
	if err != nil {
		return cmp.Or(made, err)
	}
	d.config = is.config
	return d.accepts(&want)
}

// accepts returns an error that wraps ErrMismatch if the dataset differs from what is requested.
func (d *Dataset) accepts(want *Config) error {
	if has := d.config.Partition; len(want.Partition) > 0 && !slices.Equal(has, want.Partition) {
		return fmt.Errorf(
			"%s: %w: it is partitioned by %s, not by %s; omit --partition, or add to another dataset",
			d.dir, ErrMismatch, JoinKeys(has), JoinKeys(want.Partition),
		)
	}
	if has := d.config.Typed; want.Typed != nil && !slices.Equal(has, want.Typed) {
		return fmt.Errorf("%s: %w: its typed tables are %s, not %s; omit --typed, or add to another dataset", d.dir, ErrMismatch,
			typedText(has), typedText(want.Typed))
	}
	if d.config.Schema != want.Schema {
		return fmt.Errorf(
			"%s: %w: its tables have schema version %d, this release writes version %d; add to a new dataset",
			d.dir, ErrMismatch, d.config.Schema, want.Schema,
		)
	}
	return nil
}

// typedText describes the typed tables of a dataset.
func typedText(list []string) string {
	if len(list) == 0 {
		return "those of the runtime"
	}
	return strings.Join(list, ",")
}

// begun reports whether a directory without ConfigName has what creates a dataset first: another run is creating it, or was killed
// while it did.
func begun(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == commitsName || e.Name() == stagingName })
}

// vacant returns a dataset that Create will create in a directory, and an error if it cannot be created there.
func vacant(dir string, want Config) (*Dataset, error) {
	d, err := at(dir)
	if err != nil {
		return nil, err
	}
	if outer := Around(dir); outer != "" {
		return nil, fmt.Errorf("%s: %w: the directory is in the dataset %s; name a directory outside of it", dir, ErrNotDataset, outer)
	}
	entries, err := store.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &fileio.Error{Name: dir, Op: "create", Bytes: -1, Err: err}
	}
	for _, e := range entries {
		if !hidden(e.Name()) && !begun(entries) {
			return nil, fmt.Errorf("%s: %w, and not empty (%s); name a new directory", dir, ErrNotDataset, e.Name())
		}
	}
	d.config = want
	return d, nil
}

// Around returns the dataset that a directory is in, "" if there is none. A dataset is not in itself.
func Around(dir string) string {
	if !store.Is(dir) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return ""
		}
		dir = abs
	}
	for {
		parent, base := store.Split(dir)
		if base == "" || parent == dir {
			return ""
		}
		if _, err := store.Stat(store.Join(parent, ConfigName)); err == nil {
			return parent
		}
		dir = parent
	}
}

// create makes the directory a dataset. If several processes do this concurrently, the first one succeeds and the others
// read its Config.
func (d *Dataset) create() error {
	if !d.remote() {
		if err := os.MkdirAll(d.dir, 0o777); err != nil {
			return &fileio.Error{Name: d.dir, Op: "create", Bytes: -1, Err: err}
		}
	}
	d.config.Layout = Layout
	if len(d.config.Partition) == 0 {
		d.config.Partition = DefaultKeys()
	}
	err := d.createTables()
	if err != nil {
		return err
	}
	err = writeJSON(store.Join(d.dir, ConfigName), &d.config)
	if err == nil && !d.remote() {
		err = fileio.SyncDir(filepath.Dir(filepath.Clean(d.dir)))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// writeCompact is writeJSON for a large value, and for what a run decides in an object store.
func writeCompact(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return writeFile(name, data)
}

// writeJSON creates a file that appears complete and has been synced to disk when writeJSON returns. The error wraps
// fs.ErrExist if the file exists.
func writeJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(name, data)
}

func writeFile(name string, data []byte) error {
	if store.Is(name) {
		return store.WriteBytes(name, append(data, '\n'), store.CreateOptions{Absent: true})
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

// readJSON reads a file of at most maxJSON bytes.
func readJSON(name string, value any) error {
	f, err := store.Open(name)
	if err != nil {
		return &fileio.Error{Name: name, Op: "open", Bytes: -1, Err: err}
	}
	defer f.Close()
	if err := json.NewDecoder(io.NewSectionReader(f, 0, min(f.Size(), maxJSON))).Decode(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxJSON is the maximum size of a file of JSON in bytes. A commit of 5,000 tables or 1,000 traces has 1 MB.
const maxJSON = 256 << 20

// hidden reports whether query engines ignore a name.
func hidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

// staging returns the directory of unfinished additions and removals.
func (d *Dataset) staging() string { return filepath.Join(d.local, stagingName) }

// remote reports whether the dataset is in an object store.
func (d *Dataset) remote() bool { return store.Is(d.dir) }
