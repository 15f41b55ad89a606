package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Limits of a Batch: a trace with more bytes is published alone, because its files need no others, and a batch is published when it
// has so many bytes or traces, or has waited so long. Every trace holds an open file, its lock.
const (
	largeBytes  = 8 << 20
	batchBytes  = 32 << 20
	batchTraces = 200
	batchWait   = 10 * time.Second
)

// A Batch publishes additions, small ones together, so that they share files. It is safe for concurrent use. Call Flush at the end.
type Batch struct {
	d     *Dataset
	mu    sync.Mutex
	list  []*staged
	bytes int64
	since time.Time     // of the first element of list
	wait  time.Duration // batchWait, except in tests
}

// A staged trace has been converted and waits to be published.
type staged struct {
	a    *Addition
	m    *Manifest
	done func(error)
}

// NewBatch returns an empty batch.
func (d *Dataset) NewBatch() *Batch { return &Batch{d: d, wait: batchWait} }

// Add takes over an addition whose Outputs have been committed: it ends it. done is called once, when the trace is in the dataset
// or cannot be added, in this call of Add, a later one or in Flush. Add sets UID, SHA256 and Bytes in m.
func (b *Batch) Add(a *Addition, m *Manifest, done func(error)) {
	a.describe(m)
	s := &staged{a, m, done}
	if m.Bytes >= largeBytes {
		b.d.commit([]*staged{s})
		return
	}
	b.mu.Lock()
	if len(b.list) == 0 {
		b.since = time.Now()
	}
	b.list = append(b.list, s)
	b.bytes += m.Bytes
	var full []*staged
	if len(b.list) >= batchTraces || b.bytes >= batchBytes || time.Since(b.since) > b.wait {
		full, b.list, b.bytes = b.list, nil, 0
	}
	b.mu.Unlock()
	b.d.commit(full)
}

// Flush publishes what has been added.
func (b *Batch) Flush() {
	b.mu.Lock()
	list := b.list
	b.list, b.bytes = nil, 0
	b.mu.Unlock()
	b.d.commit(list)
}

// commit publishes staged traces as one commit, and ends their additions.
func (d *Dataset) commit(list []*staged) {
	if len(list) == 0 {
		return
	}
	// Abort waits from here until the commit is published or has failed.
	kept := list[:0:0]
	for _, s := range list {
		if s.a.mu.Lock(); s.a.ended {
			s.a.mu.Unlock()
			s.done(fileio.ErrAborted)
			continue
		}
		kept = append(kept, s)
	}
	d.commitStaged(kept)
}

// commitStaged is commit for additions whose locks the caller holds; it releases them.
func (d *Dataset) commitStaged(kept []*staged) {
	for len(kept) > 0 {
		err := d.commitLocked(kept)
		i := meanwhile(kept, err)
		if half := len(kept) / 2; half > 0 && isFull(err) { // some of them may fit
			d.commitStaged(kept[:half])
			kept = kept[half:]
			continue
		}
		if i < 0 {
			for _, s := range kept {
				s.finish(err)
			}
			return
		}
		s, again := kept[i], error(nil)
		if exists, _ := errors.AsType[*ExistsError](err); exists != nil {
			if again = s.a.exists(exists.Trace); again == nil {
				s.a.replaced = append(s.a.replaced, exists.Trace.UID)
				continue
			}
		}
		kept = slices.Delete(kept, i, i+1)
		s.finish(again)
	}
}

// isFull reports whether a commit was not decided because the disk is full.
func isFull(err error) bool {
	_, unfinished := errors.AsType[*unfinishedError](err)
	return !unfinished && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT))
}

// meanwhile returns the index of the trace that another run has added since its addition began, -1 for any other result: in an
// object store no run holds locks that the others see.
func meanwhile(list []*staged, err error) int {
	exists, ok := errors.AsType[*ExistsError](err)
	if !ok {
		return -1
	}
	return slices.IndexFunc(list, func(s *staged) bool { return s.a.uid == exists.Trace.UID && !slices.Contains(s.a.replaced, s.a.uid) })
}

// finish ends the addition. The caller holds its lock.
func (s *staged) finish(err error) {
	end := s.a.end(err)
	s.a.mu.Unlock()
	s.done(errors.Join(err, end))
}

// commitLocked publishes staged traces. It tries again if another run has replaced a commit that this one replaces.
func (d *Dataset) commitLocked(list []*staged) error {
	for range 100 {
		err := d.tryCommit(list)
		if !errors.Is(err, errStale) {
			return err
		}
	}
	return fmt.Errorf("%s: %w, again and again", d.dir, errStale)
}

func (d *Dataset) tryCommit(list []*staged) error {
	slices.SortFunc(list, func(x, y *staged) int { return byStart(x.m, y.m) })
	var pieces []piece
	gone := make(map[string]bool) // traces that the new ones replace
	for _, s := range list {
		for _, uid := range s.a.replaced {
			gone[uid] = true
		}
		for _, f := range s.a.tablesLocked() {
			pieces = append(pieces, piece{
				name: f.Name, data: f.Data, table: strings.TrimSuffix(f.Member, ".parquet"), place: d.place(&s.m.Properties), order: s.m,
				constants: d.constants(s.m.UID, &s.m.Properties),
			})
		}
	}
	return d.rewrite(list[0].a.dir, gone, nil, func(c *Commit) []piece {
		for _, s := range list {
			c.Traces = append(c.Traces, *s.m)
		}
		return pieces
	})
}

// rewrite publishes a commit that replaces those that have a trace of gone, and those of merged, without the traces of gone. more,
// which may be nil, adds other traces to the commit and returns their files. If there is nothing to publish, rewrite does nothing.
func (d *Dataset) rewrite(dir string, gone map[string]bool, merged []string, more func(*Commit) []piece) error {
	commits, err := d.Commits()
	if err != nil {
		return err
	}
	c := &Commit{ID: newID(), Created: time.Now().UTC().Truncate(time.Second), Version: d.config.Version, Traces: []Manifest{}, Files: []File{}}
	var pieces []piece
	for _, old := range commits {
		touched := slices.ContainsFunc(old.Traces, func(m Manifest) bool { return gone[m.UID] })
		if !touched && !slices.Contains(merged, old.ID) {
			continue
		}
		c.Replaces = append(c.Replaces, old.ID)
		places := make(map[string]bool)
		for _, m := range old.Traces {
			if !gone[m.UID] {
				c.Traces = append(c.Traces, m)
				places[d.place(&m.Properties)] = true
			}
		}
		for _, f := range old.Files {
			if places[placeOf(f)] { // other files are not read, because they may be damaged
				pieces = append(pieces, piece{name: d.file(f.Path), table: f.Table, place: placeOf(f), without: gone})
			}
		}
	}
	if more != nil {
		pieces = append(pieces, more(c)...)
	}
	if len(c.Replaces) == 0 && more == nil {
		return nil
	}
	slices.SortFunc(c.Traces, func(a, b Manifest) int { return byStart(&a, &b) })
	return d.build(c, pieces, dir)
}

// placeOf returns the directories of the partition of a file.
func placeOf(f File) string {
	_, rest, _ := strings.Cut(f.Path, "/")
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		return rest[:i]
	}
	return ""
}

// build makes the files of a commit in a directory below dir, and publishes it. A file of a replaced commit that does not exist
// means that the commit has been replaced.
func (d *Dataset) build(c *Commit, pieces []piece, dir string) (err error) {
	staging := filepath.Join(dir, "commit-"+c.ID)
	if err := os.Mkdir(staging, 0o777); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeStaging(staging, err)) }()
	p := &packer{id: c.ID, staging: staging, traces: make(map[string]*Manifest)}
	for i := range c.Traces {
		p.traces[c.Traces[i].UID] = &c.Traces[i]
	}
	if c.Files, err = p.pack(pieces); err != nil {
		if errors.Is(err, fs.ErrNotExist) && len(c.Replaces) > 0 && d.replaced(c.Replaces) {
			return errStale
		}
		return err
	}
	return d.publish(c, staging)
}

// replaced reports whether one of the commits is no longer in the dataset.
func (d *Dataset) replaced(ids []string) bool {
	commits, _ := d.Commits()
	for _, id := range ids {
		if !slices.ContainsFunc(commits, func(c *Commit) bool { return c.ID == id }) {
			return true
		}
	}
	return false
}
