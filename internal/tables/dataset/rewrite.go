package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Remove removes traces by UID, and returns those that other runs are adding or removing, which it keeps. It ignores UIDs that the
// dataset does not have; if it has none of them, the error wraps fs.ErrNotExist. Traces of one commit disappear together.
func (d *Dataset) Remove(uids []string) (busy []string, err error) {
	gone := make(map[string]bool)
	var locks []*lock
	defer func() {
		for _, l := range locks {
			l.release()
		}
	}()
	for _, uid := range uids {
		_, found, err := d.find(uid)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		l, err := d.lock(uid)
		if errors.Is(err, ErrBusy) {
			busy = append(busy, uid)
			continue
		}
		if err != nil {
			return nil, err
		}
		locks = append(locks, l)
		gone[uid] = true
	}
	if len(gone)+len(busy) == 0 {
		return nil, &fileio.Error{Name: d.dir, Op: "remove traces", Bytes: -1, Err: fs.ErrNotExist}
	}
	if len(gone) == 0 {
		return busy, nil
	}
	// Each commit is replaced by itself, because those without the traces do not share files.
	commits, err := d.Commits()
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		own := make(map[string]bool)
		for i := range c.Traces {
			if gone[c.Traces[i].UID] {
				own[c.Traces[i].UID] = true
			}
		}
		if len(own) > 0 {
			if err := d.replace(own, nil); err != nil {
				return busy, err
			}
		}
	}
	return busy, nil
}

// replace publishes a commit without the traces of gone, in place of those that have them and of merged.
func (d *Dataset) replace(gone map[string]bool, merged []string) (err error) {
	id := newID()
	l, err := d.lock(id)
	if err != nil {
		return err
	}
	defer l.release()
	dir := d.stagingDir(id)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeStaging(dir, err)) }()
	for range 100 {
		if err := d.rewrite(dir, gone, merged, nil); !errors.Is(err, errStale) {
			return err
		}
		if len(merged) > 0 {
			return errStale // the caller chooses others
		}
	}
	return fmt.Errorf("%s: %w, again and again", d.dir, errStale)
}

// Optimized is the result of Optimize.
type Optimized struct {
	Traces int   `json:"traces"` // whose files were joined with others
	Before int   `json:"files_before"`
	After  int   `json:"files_after"`
	Saved  int64 `json:"bytes_saved"`
}

// Optimize joins the files of small commits, until commits have about target bytes. It runs beside runs that add and remove
// traces: a commit that one of them replaces in the meantime stays as it is. done, if not nil, is called after each new commit with
// the bytes of those that it replaces.
func (d *Dataset) Optimize(target int64, done func(bytes int64)) (o Optimized, err error) {
	if err := d.Recover(); err != nil {
		return o, err
	}
	commits, err := d.Commits()
	if err != nil {
		return o, err
	}
	for _, c := range commits {
		o.Before += len(c.Files)
		o.Saved += c.Bytes()
	}
	joined := make(map[string]bool) // traces
	for {
		n, err := d.joinSmall(commits, target, joined, done)
		if err != nil {
			return o, err
		}
		if commits, err = d.Commits(); err != nil {
			return o, err
		}
		if n == 0 {
			break
		}
	}
	o.Traces = len(joined)
	for _, c := range commits {
		o.After += len(c.Files)
		o.Saved -= c.Bytes()
	}
	return o, err
}

// joinSmall joins groups of small commits, notes their traces, and returns the number of groups.
func (d *Dataset) joinSmall(commits []*Commit, target int64, joined map[string]bool, done func(bytes int64)) (n int, err error) {
	for _, group := range smallCommits(commits, target) {
		var ids []string
		bytes := int64(0)
		for _, c := range group {
			ids = append(ids, c.ID)
			bytes += c.Bytes()
		}
		err := d.replace(nil, ids)
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return n, err
		}
		n++
		for _, c := range group {
			for i := range c.Traces {
				joined[c.Traces[i].UID] = true
			}
		}
		if done != nil {
			done(bytes)
		}
	}
	return n, nil
}

// joinCommits is the number of commits that are joined at a time: their files of one table are open together.
const joinCommits = 100

// smallCommits returns groups of commits to join: of those with at most half of the target, in the order of their first trace, so
// that a file has traces of one time.
func smallCommits(commits []*Commit, target int64) (groups [][]*Commit) {
	commits = slices.DeleteFunc(slices.Clone(commits), func(c *Commit) bool { return len(c.Traces) == 0 || c.Bytes() > target/2 })
	slices.SortFunc(commits, func(a, b *Commit) int { return byStart(&a.Traces[0], &b.Traces[0]) })
	var group []*Commit
	bytes := int64(0)
	for _, c := range commits {
		if bytes += c.Bytes(); bytes > target || len(group) == joinCommits {
			groups = append(groups, group)
			group, bytes = nil, c.Bytes()
		}
		group = append(group, c)
	}
	groups = append(groups, group)
	return slices.DeleteFunc(groups, func(g []*Commit) bool { return !shrinks(g) })
}

// shrinks reports whether commits have fewer files when they are joined.
func shrinks(commits []*Commit) bool {
	type key struct{ table, place, columns string }
	seen := make(map[key]bool)
	for _, c := range commits {
		for _, f := range c.Files {
			k := key{f.Table, placeOf(f), f.Columns}
			if seen[k] {
				return true
			}
			seen[k] = true
		}
	}
	return false
}
