package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Problem is a defect of a dataset.
type Problem struct {
	Path string `json:"path"`          // path relative to the dataset
	UID  string `json:"uid,omitempty"` // UID of the trace; "" if the problem does not concern a single trace
	Text string `json:"problem"`       // what is wrong; also the next step, unless UID is set: then remove the trace and add it again
}

// Check contains optional callbacks of Verify.
type Check struct {
	// Tables, if not nil, checks the contents of the files of a trace, after their sizes and hashes have been checked.
	// It may be called for a trace with another schema version.
	Tables func(t *Trace) error
	// Done, if not nil, is called after each trace with the number of bytes of its files.
	Done func(bytes int64)
}

// Verified is the result of Verify.
type Verified struct {
	Traces   int       `json:"traces"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Events   int64     `json:"events"`
	Parts    int       `json:"parts"` // of Traces: with a selection of events
	Busy     int       `json:"busy"`  // traces that other runs are adding or removing
	Problems []Problem `json:"problems"`
}

func (v *Verified) add(d *Dataset, path, uid, format string, args ...any) {
	v.Problems = append(
		v.Problems, Problem{Path: filepath.ToSlash(d.relative(path)), UID: uid, Text: fmt.Sprintf(format, args...)},
	)
}

// Verify checks that every trace is complete and unchanged since it was added, that no trace occurs twice, that the
// directories of traces contain nothing else, and that no killed run has left files. It changes nothing. Verify returns
// an error only if it cannot read a directory; defects are in Verified.
func (d *Dataset) Verify(check *Check) (*Verified, error) {
	v := &Verified{Problems: []Problem{}}
	if err := d.verifyTree(v, d.dir, d.config.Partition); err != nil {
		return nil, err
	}
	traces, err := d.Traces()
	if err != nil {
		return nil, err
	}
	first := make(map[string]string)
	for i := range traces {
		t, before := &traces[i], *v
		v.Traces++
		if other, twice := first[t.UID]; twice {
			v.add(d, t.Path, "", "the trace is in the dataset twice, also in %s; delete one of the two directories",
				filepath.ToSlash(d.relative(other)))
		}
		first[t.UID] = t.Path
		d.verifyTrace(v, t, check)
		if _, err := os.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
			*v = before // another run has removed the trace in the meantime
			delete(first, t.UID)
		}
		if check.Done != nil && t.Manifest != nil {
			check.Done(t.Manifest.TableBytes())
		}
	}
	return v, d.verifyStaging(v)
}

// verifyTree reports entries that do not belong in the directories above those of traces.
func (d *Dataset) verifyTree(v *Verified, dir string, keys []Key) error {
	key := Key(traceKey)
	if len(keys) > 0 {
		key = keys[0]
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		value, ok := strings.CutPrefix(e.Name(), string(key)+"=")
		switch _, valid := unescape(value); {
		case hidden(e.Name()):
		case !ok || !e.IsDir() || !valid:
			v.add(d, path, "", "does not belong here: want directories %s=VALUE; move it out of the dataset", key)
		case len(keys) > 0:
			if err := d.verifyTree(v, path, keys[1:]); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case !IsUID(value):
			v.add(d, path, "", "not the UID of a trace: want %d hexadecimal digits; move it out of the dataset", uidDigits)
		}
	}
	return nil
}

// verifyTrace checks one trace: its manifest, its place and its files.
func (d *Dataset) verifyTrace(v *Verified, t *Trace, check *Check) {
	m := t.Manifest
	if errors.Is(t.Err, fs.ErrNotExist) {
		v.add(d, t.Path, t.UID, "the trace has no %s", ManifestName)
		return
	}
	if t.Err != nil {
		v.add(d, t.Path, t.UID, "%v", t.Err)
		return
	}
	if m.UID != t.UID || !strings.HasPrefix(m.SHA256, t.UID) {
		v.add(d, t.Path, t.UID, "the manifest belongs to trace %s", m.UID)
	}
	if m.Schema != d.config.Schema {
		v.add(d, t.Path, t.UID, "the tables have schema version %d, want %d as in the dataset", m.Schema, d.config.Schema)
	}
	if want := d.place(m); want != d.relative(t.Path) {
		v.add(d, t.Path, t.UID, "the trace belongs in %s", filepath.ToSlash(want))
	}
	v.Events += m.Events
	if m.Selection != "" {
		v.Parts++
	}
	wrong := len(v.Problems)
	d.verifyFiles(v, t)
	if check.Tables != nil && len(v.Problems) == wrong {
		if err := check.Tables(t); err != nil {
			v.add(d, t.Path, t.UID, "%v", err)
		}
	}
}

// place returns the directory in which a trace belongs, relative to the dataset.
func (d *Dataset) place(m *Manifest) string {
	var parts []string
	for _, key := range d.config.Partition {
		parts = append(parts, key.directory(&m.Properties))
	}
	return filepath.Join(append(parts, traceKey+"="+m.UID)...)
}

// verifyFiles compares the files of a trace with its manifest.
func (d *Dataset) verifyFiles(v *Verified, t *Trace) {
	listed := make(map[string]bool, len(t.Manifest.Files))
	for _, f := range t.Manifest.Files {
		listed[f.Name] = true
		v.Files++
		v.Bytes += f.Size
		path, err := filepath.Localize(f.Name)
		if err != nil {
			v.add(d, t.Path, t.UID, "%s lists %q, which is not a name of a file in the directory", ManifestName, f.Name)
			continue
		}
		path = filepath.Join(t.Path, path)
		is, err := describeFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.add(d, path, t.UID, "the file is missing")
		case err != nil:
			v.add(d, path, t.UID, "%v", err)
		case is.Size != f.Size:
			v.add(d, path, t.UID, "the file has %d bytes, want %d", is.Size, f.Size)
		case is.SHA256 != f.SHA256:
			v.add(d, path, t.UID, "the content of the file has changed: SHA-256 sum %s, want %s", is.SHA256, f.SHA256)
		}
	}
	err := filepath.WalkDir(t.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || hidden(e.Name()) {
			return err
		}
		name, err := filepath.Rel(t.Path, path)
		if err == nil && !listed[filepath.ToSlash(name)] {
			v.add(d, path, "", "the file does not belong to the trace; move it out of the dataset")
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.add(d, t.Path, t.UID, "%v", err)
	}
}

// verifyStaging reports leftovers of killed runs, and names that ntconv did not create.
func (d *Dataset) verifyStaging(v *Verified) error {
	dirs, foreign, err := d.leftovers()
	if err != nil {
		return err
	}
	for _, name := range foreign {
		v.add(d, filepath.Join(d.staging(), name), "", "does not belong here; move it out of the dataset")
	}
	for _, uid := range slices.Sorted(maps.Keys(dirs)) {
		busy, err := d.busy(uid)
		switch {
		case err != nil:
			return err
		case busy:
			v.Busy++
			continue
		}
		for _, name := range dirs[uid] {
			v.add(d, filepath.Join(d.staging(), name), "",
				"left by a killed run; the next ntconv to parquet --dataset removes it")
		}
	}
	return nil
}

// busy reports whether another run holds the lock of a UID. It takes and releases the lock.
func (d *Dataset) busy(uid string) (bool, error) {
	if _, err := os.Stat(filepath.Join(d.staging(), uid+lockSuffix)); err != nil {
		return false, nil
	}
	l, err := d.lock(uid)
	if errors.Is(err, ErrBusy) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	l.release()
	return false, nil
}
