package input

import (
	"os"
	"path/filepath"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// openExtracted opens a trace of a dataset: its tables, which share files with those of other traces, are written to a temporary
// directory.
func (in *Input) openExtracted(name, dir, uid string) error {
	set, err := dataset.Open(dir)
	if err != nil {
		return err
	}
	temp := in.opts.TempDir
	if temp == nil {
		temp = func() (string, error) { return os.MkdirTemp("", "ntconv-") }
	}
	if in.extracted, err = temp(); err != nil {
		return err
	}
	tables := filepath.Join(in.extracted, "tables")
	if err := set.Extract(uid, tables); err != nil {
		return err
	}
	if in.manifest, err = dataset.ReadManifest(tables); err != nil {
		return err
	}
	opts := in.options()
	opts.Name = name
	in.raw, err = fileio.Open(tables, opts)
	return err
}

// Manifest describes a trace of a dataset, nil for other inputs: also the directory of one that was extracted, or that a dataset of
// layout 1 has.
func (in *Input) Manifest() *dataset.Manifest {
	if in.manifest == nil && in.raw.IsDir() {
		in.manifest, _ = dataset.ReadManifest(in.raw.Name())
	}
	return in.manifest
}
