package dataset

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A state caches commits, which do not change.
type state struct {
	mu    sync.Mutex
	known map[string]*Commit // by ID
}

// Commits returns all commits, sorted by ID. They are shared and must not be modified. Commits that cannot be read are omitted; the
// error names them.
func (d *Dataset) Commits() ([]*Commit, error) {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	entries, err := os.ReadDir(filepath.Join(d.dir, commitsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := make(map[string]*Commit, len(entries))
	replaced := make(map[string]bool)
	var errs []error
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !IsUID(id) {
			continue
		}
		c := d.state.known[id]
		if c == nil {
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
		for _, old := range c.Replaces {
			replaced[old] = true
		}
	}
	d.state.known = now
	var list []*Commit
	for id, c := range now {
		if !replaced[id] {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Commit) int { return cmp.Compare(a.ID, b.ID) })
	return list, errors.Join(errs...)
}

// A Trace is a trace in a dataset.
type Trace struct {
	UID      string
	Path     string // DIR/trace=UID, which commands accept as an input
	Manifest *Manifest
	Commit   *Commit
}

func (d *Dataset) traceOf(c *Commit, m *Manifest) Trace {
	return Trace{UID: m.UID, Path: filepath.Join(d.dir, TraceKey+"="+m.UID), Manifest: m, Commit: c}
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

// find returns a trace, and false if the dataset does not have it.
func (d *Dataset) find(uid string) (Trace, bool, error) {
	commits, err := d.Commits()
	for _, c := range commits {
		if m := c.trace(uid); m != nil {
			return d.traceOf(c, m), true, nil
		}
	}
	return Trace{}, false, err
}
