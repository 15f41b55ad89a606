package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
)

// A Commit is a set of traces and the files with their rows.
type Commit struct {
	ID       string     `json:"id"`
	Replaces []string   `json:"replaces,omitempty"` // commits that it replaced
	Version  string     `json:"ntconv_version,omitempty"`
	Created  time.Time  `json:"created"`
	Traces   []Manifest `json:"traces"` // sorted by start and UID
	Files    []File     `json:"files"`  // those of trace_info are the last
	// Undone means that the commit was not decided, and never will be: another run has ended its turn.
	Undone bool `json:"undone,omitempty"`
}

// A File is a file of a commit.
type File struct {
	Table string `json:"table"`
	Path  string `json:"path"` // relative to the dataset, with slashes
	// Columns identifies the columns: files with equal ones have the same.
	Columns string `json:"columns"`
	Rows    int64  `json:"rows"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
}

// Bytes returns the total size of the files.
func (c *Commit) Bytes() (n int64) {
	for i := range c.Files {
		n += c.Files[i].Size
	}
	return n
}

// trace returns the manifest of a trace, nil if the commit does not have it.
func (c *Commit) trace(uid string) *Manifest {
	i := slices.IndexFunc(c.Traces, func(m Manifest) bool { return m.UID == uid })
	if i < 0 {
		return nil
	}
	return &c.Traces[i]
}

// newID returns an ID of a commit. It has the form of a UID, so that it can be locked and staged as a trace is.
func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// A pending is the content of pendingName: the commit that is being published. Its files are in a directory below that of the
// dataset, under the names of their positions in Commit.Files, until they are moved.
type pending struct {
	ID      string `json:"id"`
	Staging string `json:"staging"` // relative to the dataset, with slashes
}

// commitName is the name of a commit in its staging directory.
const commitName = "commit.json"

// errStale means that a commit is no longer in the dataset, because another run has replaced it.
var errStale = errors.New("another run has changed the dataset")

// publish makes a commit visible, whose files are in the directory staging. The error wraps errStale if a commit that it replaces
// has been replaced, and is an *ExistsError if another commit has one of its traces. If publish fails before the commit is decided,
// the dataset is unchanged.
func (d *Dataset) publish(c *Commit, staging string) error {
	if d.remote() {
		return d.send(c, staging)
	}
	release, err := d.lockCommits()
	if err != nil {
		return err
	}
	defer release()
	if err := d.recoverLocked(); err != nil {
		return err
	}
	if err := d.admit(c); err != nil {
		return err
	}
	// Everything that needs space is written before the commit is decided.
	for i := range c.Files {
		if err := os.MkdirAll(filepath.Dir(d.file(c.Files[i].Path)), 0o777); err != nil {
			return err
		}
	}
	rel, err := filepath.Rel(d.dir, staging)
	if err == nil {
		err = writeCompact(filepath.Join(staging, commitName), c)
	}
	if err == nil {
		err = fileio.SyncDir(staging)
	}
	if err == nil {
		err = d.step()
	}
	if err == nil {
		err = writeJSON(d.commitFile(pendingName), &pending{c.ID, filepath.ToSlash(rel)})
	}
	if err != nil {
		return err
	}
	if err := d.finish(&pending{c.ID, filepath.ToSlash(rel)}); err != nil {
		return &unfinishedError{err}
	}
	return nil
}

// An unfinishedError means that a commit is decided, and that the rest of its publication failed. Its staging directory must stay.
type unfinishedError struct{ err error }

func (e *unfinishedError) Error() string {
	return e.err.Error() + "; the next ntconv to parquet --dataset does the rest of this commit"
}

func (e *unfinishedError) Unwrap() error { return e.err }

// removeStaging removes a staging directory after a publication with that result, unless the rest of it needs the directory.
func removeStaging(dir string, result error) error {
	if _, unfinished := errors.AsType[*unfinishedError](result); unfinished {
		return nil
	}
	return removeBusy(dir)
}

// admit checks that a commit may be published.
func (d *Dataset) admit(c *Commit) error {
	commits, err := d.Commits()
	if err != nil {
		return err
	}
	if len(c.Traces)+len(c.Replaces) == 0 && len(commits) > 0 {
		return fmt.Errorf("%s: its tables: %w", d.dir, fs.ErrExist)
	}
	live := make(map[string]bool)
	for _, other := range commits {
		if live[other.ID] = true; slices.Contains(c.Replaces, other.ID) {
			continue
		}
		for i := range c.Traces {
			if m := other.trace(c.Traces[i].UID); m != nil {
				return &ExistsError{d.traceOf(other, m)}
			}
		}
	}
	for _, id := range c.Replaces {
		if !live[id] {
			return fmt.Errorf("%s: %w", d.dir, errStale)
		}
	}
	return nil
}

// Recover publishes the rest of a commit whose run was killed. If it cannot write, or another run is publishing, the commit stays
// pending.
func (d *Dataset) Recover() error {
	if d.remote() {
		return nil // a commit of which the rest is missing is not visible, or whole
	}
	if _, err := os.Stat(d.commitFile(pendingName)); err != nil {
		return nil
	}
	release, err := d.lockCommits()
	if err != nil {
		return err
	}
	defer release()
	return d.recoverLocked()
}

func (d *Dataset) recoverLocked() error {
	p := new(pending)
	err := readJSON(d.commitFile(pendingName), p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !(IsUID(p.ID) && strings.HasPrefix(path.Clean(p.Staging), stagingName+"/")) {
		err = fmt.Errorf("%s: not written by ntconv", d.commitFile(pendingName))
	}
	if err != nil {
		return err
	}
	return d.finish(p)
}

// finish does what a decided commit needs. Every step can be repeated, because the run may be killed between any two.
func (d *Dataset) finish(p *pending) error {
	staging := d.file(p.Staging)
	c := new(Commit)
	err := readJSON(filepath.Join(staging, commitName), c)
	if errors.Is(err, fs.ErrNotExist) {
		if err = readJSON(d.commitFile(p.ID+".json"), c); errors.Is(err, fs.ErrNotExist) {
			return remove(d.commitFile(pendingName)) // all is done: retire has removed a commit without traces
		}
	}
	if err != nil {
		return err
	}
	dirs := make(map[string]bool)
	for i := range c.Files {
		to := d.file(c.Files[i].Path)
		for dir := filepath.Dir(to); !dirs[dir]; dir = filepath.Dir(dir) {
			if dirs[dir] = true; dir == filepath.Clean(d.dir) {
				break
			}
		}
		if err := d.step(); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(staging, stagedFile(i)), to)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Stat(to) // it was moved before
		}
		if err != nil {
			return err
		}
	}
	for dir := range dirs {
		if err := fileio.SyncDir(dir); err != nil { // the directories above it may be new, too
			return err
		}
	}
	if err := d.step(); err != nil {
		return err
	}
	err = os.Rename(filepath.Join(staging, commitName), d.commitFile(c.ID+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fileio.SyncDir(filepath.Join(d.dir, commitsName)); err != nil {
		return err
	}
	return d.retire(c)
}

// stagedFile returns the name of a file of a commit in the staging directory.
func stagedFile(i int) string { return fmt.Sprintf("%d.parquet", i) }

// retire removes the commits that c replaces, with their files, and ends the publication.
func (d *Dataset) retire(c *Commit) error {
	if err := d.removeReplaced(c); err != nil {
		return err // pending: the next run tries again
	}
	return errors.Join(remove(d.commitFile(pendingName)), fileio.SyncDir(filepath.Join(d.dir, commitsName)))
}

// removeReplaced removes the commits that c replaces, with their files, except for those that a catalog needs. It can be repeated.
func (d *Dataset) removeReplaced(c *Commit) error {
	pinned, err := d.pinned()
	if err == nil {
		_, err = d.removeOlder(c, pinned)
	}
	return errors.Join(err, d.step())
}

// removeOlder removes the commits that c replaces and that are not pinned, and reports whether none is left. A commit is removed after
// those that it replaced, which would else be in the dataset again.
func (d *Dataset) removeOlder(c *Commit, pinned map[string]bool) (all bool, err error) {
	all = true
	var errs []error
	for _, id := range c.Replaces {
		old := new(Commit)
		err := readJSON(d.commitFile(id+".json"), old)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		clear := false
		if err == nil {
			clear, err = d.removeOlder(old, pinned)
		}
		if err == nil && clear && !pinned[id] {
			err = d.removeCommit(old)
		} else {
			all = false
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil || !all {
		return false, err
	}
	if len(c.Traces) == 0 && len(c.Replaces) > 0 { // nothing was left of what it replaced
		return true, remove(d.commitFile(c.ID + ".json"))
	}
	return true, nil
}

// removeCommit removes the files of a commit, and then its description, without which nobody would find the files.
func (d *Dataset) removeCommit(c *Commit) error {
	var errs []error
	for i := range c.Files {
		if err := d.step(); err != nil {
			return err
		}
		name := d.file(c.Files[i].Path)
		errs = append(errs, remove(name))
		d.removeParents(filepath.Dir(name), c.Files[i].Table)
	}
	if err := errors.Join(append(errs, d.step())...); err != nil {
		return err
	}
	return remove(d.commitFile(c.ID + ".json"))
}

// remove removes a file that may not exist.
func remove(name string) error {
	if err := store.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeParents removes directories of a table that have become empty.
func (d *Dataset) removeParents(dir, table string) {
	if d.remote() {
		return
	}
	for top := filepath.Join(d.dir, table); len(dir) > len(top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // it has other files
			return
		}
	}
}

// file returns the name of a file in the file system.
func (d *Dataset) file(name string) string { return store.Join(d.dir, filepath.FromSlash(name)) }

// commitFile returns the name of a file in the directory of commits.
func (d *Dataset) commitFile(name string) string { return store.Join(d.dir, commitsName, name) }

// describeFile returns the size and hash of a file.
func describeFile(name string) (File, error) {
	f, err := store.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, f.Size()))
	return File{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
