package input

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// openExtracted opens a trace of a dataset: its tables, which share files with those of other traces, are written to a temporary
// directory.
func (in *Input) openExtracted(name, dir, uid string) error {
	set, err := dataset.Open(dir)
	if err != nil {
		return err
	}
	if err := in.makeTemp(); err != nil {
		return err
	}
	tables := filepath.Join(in.extracted, "tables")
	if err := set.Extract(uid, tables); err != nil {
		return err
	}
	if in.manifest, err = dataset.ReadManifest(tables); err != nil {
		return err
	}
	return in.openCopy(name, tables)
}

// makeTemp creates the temporary directory of the input.
func (in *Input) makeTemp() (err error) {
	temp := in.opts.TempDir
	if temp == nil {
		temp = func() (string, error) { return os.MkdirTemp("", "ntconv-") }
	}
	in.extracted, err = temp()
	return err
}

// openCopy opens a directory that is a copy of the input.
func (in *Input) openCopy(name, dir string) (err error) {
	opts := in.options()
	opts.Name = name
	in.raw, err = fileio.Open(dir, opts)
	return err
}

// openObjects opens a directory of a store, such as one with the tables of a trace. Its files are copied to a temporary directory.
func (in *Input) openObjects(name string) error {
	if err := checkDataset(name); err != nil {
		return err
	}
	entries, err := store.ReadDir(name)
	if err != nil {
		return err
	}
	var members []string
	for _, e := range entries {
		if !e.IsDir() {
			members = append(members, e.Name())
		}
	}
	if in.opts.From == nil && formats.SniffDir(formats.Readable(), members) == nil { // it is not copied in vain
		return &fileio.Error{Name: name, Op: "open", Bytes: -1, Err: syscall.EISDIR}
	}
	if err := in.makeTemp(); err != nil {
		return err
	}
	for _, member := range members {
		if err := store.Copy(store.Join(name, member), filepath.Join(in.extracted, filepath.Base(member))); err != nil {
			return err
		}
	}
	return in.openCopy(name, in.extracted)
}

// Manifest describes a trace of a dataset, nil for other inputs: also the directory of one that was extracted, or that a dataset of
// layout 1 has.
func (in *Input) Manifest() *dataset.Manifest {
	if in.manifest == nil && in.raw.IsDir() {
		in.manifest, _ = dataset.ReadManifest(in.raw.Name())
	}
	return in.manifest
}
