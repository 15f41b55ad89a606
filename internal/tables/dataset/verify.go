package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables"
)

// A Problem is a defect of a dataset.
type Problem struct {
	Path string   `json:"path"`           // path relative to the dataset
	UIDs []string `json:"uids,omitempty"` // traces whose rows are damaged; nil if the problem does not concern traces
	Text string   `json:"problem"`        // what is wrong; also the next step, unless UIDs is set: then remove the traces and add them again
}

// Check contains optional callbacks of Verify.
type Check struct {
	// Table, if not nil, checks the content of a file, after its size and hash have been checked.
	Table func(name string, f *File) error
	// Done, if not nil, is called after each file with its size.
	Done func(bytes int64)
}

// Verified is the result of Verify.
type Verified struct {
	Traces   int       `json:"traces"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Events   int64     `json:"events"`
	Parts    int       `json:"parts"`      // of Traces: with a selection of events
	Busy     int       `json:"busy"`       // traces that other runs are adding or removing
	Kept     int       `json:"kept_files"` // files that were replaced, and that a catalog needs until the dataset is published again
	Problems []Problem `json:"problems"`
}

func (v *Verified) add(name string, uids []string, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{Path: name, UIDs: uids, Text: fmt.Sprintf(format, args...)})
}

// Verify checks that every file of every commit is unchanged since it was published and has the rows of the commit's traces, that
// no trace occurs twice, that there are no other files, and that no killed run has left files. It changes nothing. Verify returns
// an error only if it cannot read a directory; defects are in Verified.
func (d *Dataset) Verify(check *Check) (*Verified, error) {
	v := &Verified{Problems: []Problem{}}
	commits, err := d.Commits()
	for _, one := range problems(err) {
		v.add(commitsName, nil, "%v; the traces of this commit are lost: remove its files, which follow, and add the traces again", one)
	}
	known := make(map[string]bool)
	first := make(map[string]string)
	for _, c := range commits {
		before := *v
		for i := range c.Traces {
			m := &c.Traces[i]
			v.Traces++
			v.Events += m.Events
			if m.Selection != "" {
				v.Parts++
			}
			if other, twice := first[m.UID]; twice {
				v.add(path.Join(commitsName, c.ID+".json"), []string{m.UID}, "trace %s is in the dataset twice, also in commit %s", m.UID, other)
			}
			first[m.UID] = c.ID
		}
		d.verifyCommit(v, c, check)
		if d.replaced([]string{c.ID}) {
			*v = before // another run has replaced the commit in the meantime
			for i := range c.Traces {
				delete(first, c.Traces[i].UID)
			}
		}
		for i := range c.Files {
			known[c.Files[i].Path] = true
		}
	}
	pending, err := d.verifyStaging(v)
	if err != nil || pending { // the files of the pending commit may be anywhere
		return v, err
	}
	old, err := d.kept()
	if err != nil {
		return v, d.verifyTree(v, known) // Verify has reported what cannot be read
	}
	for _, c := range old {
		for i := range c.Files {
			known[c.Files[i].Path] = true
			v.Kept++
		}
	}
	return v, d.verifyTree(v, known)
}

// problems returns the errors that errors.Join has joined.
func problems(err error) []error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// verifyCommit checks the files of a commit.
func (d *Dataset) verifyCommit(v *Verified, c *Commit, check *Check) {
	uids := make(map[string][]string) // by place
	events := int64(0)
	for i := range c.Traces {
		m := &c.Traces[i]
		place := d.place(&m.Properties)
		uids[place] = append(uids[place], m.UID)
		events += m.Events
		if m.Schema != d.config.Schema {
			v.add(path.Join(commitsName, c.ID+".json"), []string{m.UID}, "the tables of trace %s have schema version %d, want %d as in the dataset",
				m.UID, m.Schema, d.config.Schema)
		}
	}
	rows := int64(0)
	for i := range c.Files {
		f := &c.Files[i]
		v.Files++
		v.Bytes += f.Size
		if f.Table == tables.Of[tables.Event]().Name {
			rows += f.Rows
		}
		of := uids[placeOf(*f)]
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Path)):
			v.add(path.Join(commitsName, c.ID+".json"), of, "it lists %q, which is not in the dataset", f.Path)
		case of == nil && f.Rows > 0:
			v.add(f.Path, nil, "no trace of commit %s belongs here", c.ID)
		default:
			d.verifyFile(v, f, of, check)
		}
		if check.Done != nil {
			check.Done(f.Size)
		}
	}
	if rows != events {
		v.add(path.Join(commitsName, c.ID+".json"), nil, "its files have %d events, its traces %d", rows, events)
	}
}

// verifyFile compares a file with what its commit says.
func (d *Dataset) verifyFile(v *Verified, f *File, uids []string, check *Check) {
	name := d.file(f.Path)
	is, err := describeFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(f.Path, uids, "the file is missing")
	case err != nil:
		v.add(f.Path, uids, "%v", err)
	case is.Size != f.Size:
		v.add(f.Path, uids, "the file has %d bytes, want %d", is.Size, f.Size)
	case is.SHA256 != f.SHA256:
		v.add(f.Path, uids, "the content of the file has changed: SHA-256 sum %s, want %s", is.SHA256, f.SHA256)
	case check.Table != nil:
		if err := check.Table(name, f); err != nil {
			v.add(f.Path, uids, "%v", err)
		}
	}
}

// verifyTree reports files that no commit has.
func (d *Dataset) verifyTree(v *Verified, known map[string]bool) error {
	var others []string
	err := d.walk(func(rel string) {
		if !known[rel] {
			others = append(others, rel)
		}
	})
	if err != nil || len(others) == 0 {
		return err
	}
	// A commit may have been published since the commits were read.
	commits, _ := d.Commits() // Verify has reported those that cannot be read
	for _, c := range commits {
		for i := range c.Files {
			known[c.Files[i].Path] = true
		}
	}
	undone := d.undone()
	for _, name := range others {
		if _, serr := store.Stat(d.file(name)); known[name] || serr != nil {
			continue
		}
		if id, _, _ := strings.Cut(path.Base(name), "-"); undone[id] != nil {
			v.add(name, nil, "left by a run that has lost its turn; the next ntconv to parquet --dataset removes it")
		} else {
			v.add(name, nil, "the file belongs to no trace, and engines that read the directory read its rows; move it out of the dataset")
		}
	}
	return nil
}

// walk calls visit for the names of all files that engines which read the directory read.
func (d *Dataset) walk(visit func(rel string)) error {
	if d.remote() {
		return store.Walk(d.dir, func(rel string, _ *store.Object) error {
			if !slices.ContainsFunc(strings.Split(rel, "/"), hidden) {
				visit(rel)
			}
			return nil
		})
	}
	return filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(d.dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another run has removed it
		case err != nil || rerr != nil:
			return errors.Join(err, rerr)
		case rel != "." && hidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case !e.IsDir() && !hidden(e.Name()):
			visit(filepath.ToSlash(rel))
		}
		return nil
	})
}

// verifyStaging reports leftovers of killed runs, and names that ntconv did not create. pending means that a commit is being
// published, or that its run was killed.
func (d *Dataset) verifyStaging(v *Verified) (pending bool, err error) {
	dirs, foreign, err := d.leftovers()
	if err != nil {
		return false, err
	}
	for _, name := range foreign {
		v.add(path.Join(stagingName, name), nil, "does not belong here; move it out of the dataset")
	}
	if d.remote() {
		if pending, err = d.verifyTurns(v); err != nil {
			return pending, err
		}
	} else if _, err := os.Stat(d.commitFile(pendingName)); err == nil {
		pending = true
		if busy, err := d.busy(commitLock); err == nil && !busy {
			v.add(path.Join(commitsName, pendingName), nil, "left by a killed run; the next ntconv to parquet --dataset publishes the rest of this commit")
		}
	}
	if err := d.verifyWorkspaces(v); err != nil {
		return pending, err
	}
	for _, uid := range slices.Sorted(maps.Keys(dirs)) {
		busy, err := d.busy(uid)
		switch {
		case err != nil:
			return pending, err
		case busy && uid != commitLock:
			v.Busy++
			continue
		}
		for _, name := range dirs[uid] {
			v.add(path.Join(stagingName, name), nil, "left by a killed run; the next ntconv to parquet --dataset removes it")
		}
	}
	return pending, nil
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
