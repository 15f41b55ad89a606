package dataset

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/ntconv/ntconv/internal/files/store"
)

// A state caches commits, which do not change, and finds their traces.
type state struct {
	mu    sync.Mutex
	known map[string]*Commit // by ID; also those that are Undone
	list  []*Commit          // those that are not replaced, by ID
	at    map[string]place   // of the traces in list, by UID
	sign  sign               // of the turn of another run
}

// A place is that of a trace in its commit.
type place struct {
	commit *Commit
	i      int
}

// Commits returns all commits, sorted by ID. They are shared and must not be modified. Commits that cannot be read are omitted; the
// error names them.
func (d *Dataset) Commits() ([]*Commit, error) {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	err := d.read()
	return slices.Clone(d.state.list), err
}

// find returns a trace, and false if the dataset does not have it.
func (d *Dataset) find(uid string) (Trace, bool, error) {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	err := d.read()
	if at, ok := d.state.at[uid]; ok {
		return d.traceOf(at.commit, &at.commit.Traces[at.i]), true, nil
	}
	return Trace{}, false, err
}

// read brings the state up to date. The caller holds its lock.
func (d *Dataset) read() error {
	entries, err := store.ReadDir(store.Join(d.dir, commitsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now := make(map[string]*Commit, len(entries))
	changed := false
	var errs []error
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !IsUID(id) {
			continue
		}
		c := d.state.known[id]
		if c == nil {
			changed = true
			c = new(Commit)
			err := readJSON(d.commitFile(e.Name()), c)
			if errors.Is(err, fs.ErrNotExist) {
				continue // replaced in the meantime
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		now[id] = c
	}
	if changed || len(now) != len(d.state.known) {
		d.state.known = now
		d.state.index()
	}
	return errors.Join(errs...)
}

// index sets list and at from known.
func (s *state) index() {
	replaced := make(map[string]bool)
	for _, c := range s.known {
		for _, old := range c.Replaces {
			replaced[old] = true
		}
	}
	s.list, s.at = nil, make(map[string]place)
	for id, c := range s.known {
		if replaced[id] || c.Undone {
			continue
		}
		s.list = append(s.list, c)
		for i := range c.Traces {
			s.at[c.Traces[i].UID] = place{c, i}
		}
	}
	slices.SortFunc(s.list, func(a, b *Commit) int { return cmp.Compare(a.ID, b.ID) })
}

// A Trace is a trace in a dataset.
type Trace struct {
	UID      string
	Path     string // DIR/trace=UID, which commands accept as an input
	Manifest *Manifest
	Commit   *Commit
}

func (d *Dataset) traceOf(c *Commit, m *Manifest) Trace {
	return Trace{UID: m.UID, Path: store.Join(d.dir, TraceKey+"="+m.UID), Manifest: m, Commit: c}
}

// Traces returns all traces, sorted by partition, start and UID. Those of commits that cannot be read are missing; the error names
// the commits.
func (d *Dataset) Traces() ([]Trace, error) {
	commits, err := d.Commits()
	var list []Trace
	places := make(map[string]string)
	for _, c := range commits {
		for i := range c.Traces {
			t := d.traceOf(c, &c.Traces[i])
			list = append(list, t)
			places[t.UID] = d.place(&t.Manifest.Properties)
		}
	}
	slices.SortFunc(list, func(a, b Trace) int {
		return cmp.Or(cmp.Compare(places[a.UID], places[b.UID]), byStart(a.Manifest, b.Manifest))
	})
	return list, err
}

// byStart is the order of traces in a commit and in its files.
func byStart(a, b *Manifest) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.UID, b.UID))
}
