package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/files/store"
)

// A catalog refers to files of a dataset by their names. So the files of a commit that was replaced stay as long as a catalog may refer
// to them:
//
//	_published/CATALOG-RUN.json    a Pin: what a run has published, or is publishing, in a catalog
//
// The commit itself stays, too, replaced by another one, and readers of commits ignore it. A pin is written before the state that it
// protects is read for good: a run that replaces a commit afterwards finds the pin. Pins do not change. A run that has published all
// tables removes the pins of its catalog that were there when it began; the later ones are those of runs that are still working.

// A Pin has the commits whose files a catalog may refer to.
type Pin struct {
	Catalog   string   `json:"catalog"` // its address, without secrets
	Namespace string   `json:"namespace"`
	Commits   []string `json:"commits"` // sorted
}

// pins returns the pins by the names of their files.
func (d *Dataset) pins() (map[string]*Pin, error) {
	entries, err := store.ReadDir(store.Join(d.dir, pinsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	pins := make(map[string]*Pin)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || hidden(e.Name()) {
			continue
		}
		p := new(Pin)
		err := readJSON(d.pinFile(e.Name()), p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		pins[e.Name()] = p
	}
	return pins, nil
}

func (d *Dataset) pinFile(name string) string { return store.Join(d.dir, pinsName, name) }

// pinned returns the commits of all pins.
func (d *Dataset) pinned() (map[string]bool, error) {
	pins, err := d.pins()
	commits := make(map[string]bool)
	for _, p := range pins {
		for _, id := range p.Commits {
			commits[id] = true
		}
	}
	return commits, err
}

// A Publication is a run that publishes the dataset in a catalog. It is not safe for concurrent use.
type Publication struct {
	d                  *Dataset
	catalog, namespace string
	before             map[string]*Pin // of the catalog, when the run began
	own                map[string]*Pin // which protect what the run has read
}

// Publication begins a run for a namespace of a catalog. The address must always be the same for a catalog, and have no secrets.
func (d *Dataset) Publication(address, namespace string) (*Publication, error) {
	all, err := d.pins()
	if err != nil {
		return nil, err
	}
	p := &Publication{d: d, catalog: address, namespace: namespace, before: make(map[string]*Pin), own: make(map[string]*Pin)}
	for name, pin := range all {
		if strings.HasPrefix(name, p.key()) {
			p.before[name] = pin
		}
	}
	return p, nil
}

// key returns the beginning of the names of the pins for the catalog.
func (p *Publication) key() string {
	sum := sha256.Sum256([]byte(p.catalog + "\n" + p.namespace))
	return hex.EncodeToString(sum[:8]) + "-"
}

// Pin protects the files of commits, until a later run for the catalog ends. It reports false if they were protected before; else
// another run may have replaced one of them a moment ago, and the caller must read the commits again.
func (p *Publication) Pin(commits []string) (added bool, err error) {
	commits = slices.Sorted(slices.Values(commits))
	for _, pin := range p.own {
		if slices.Equal(pin.Commits, commits) {
			return false, nil
		}
	}
	for name, pin := range p.before {
		if slices.Equal(pin.Commits, commits) {
			p.own[name] = pin
			return true, nil
		}
	}
	if !p.d.remote() {
		if err := os.MkdirAll(store.Join(p.d.dir, pinsName), 0o777); err != nil {
			return false, err
		}
	}
	name, pin := p.key()+newID()+".json", &Pin{p.catalog, p.namespace, commits}
	if err := writeJSON(p.d.pinFile(name), pin); err != nil {
		return false, err
	}
	p.own[name] = pin
	return true, nil
}

// Release ends a run that has published all tables: the catalog refers only to files of commits that this run has pinned. It removes
// the files that no catalog needs now.
func (p *Publication) Release() error {
	for name := range p.before {
		if p.own[name] != nil {
			continue
		}
		if err := remove(p.d.pinFile(name)); err != nil {
			return err
		}
	}
	return p.d.sweep()
}

// kept returns the commits that were replaced and are still there.
func (d *Dataset) kept() (list []*Commit, err error) {
	live, err := d.Commits()
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	for _, c := range d.state.known {
		if !c.Undone && !slices.Contains(live, c) {
			list = append(list, c)
		}
	}
	return list, err
}

// sweep removes the replaced commits that no catalog needs.
func (d *Dataset) sweep() error {
	old, err := d.kept()
	if err != nil || len(old) == 0 {
		return err
	}
	live, err := d.Commits()
	if err != nil {
		return err
	}
	for _, c := range live {
		if slices.ContainsFunc(old, func(o *Commit) bool { return slices.Contains(c.Replaces, o.ID) }) {
			if err := d.removeReplaced(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Kept are the files that were replaced and stay because of catalogs.
type Kept struct {
	Files int
	Bytes int64
	Pins  []Pin // of the catalogs, one per catalog, sorted
}

// Kept returns the files that stay until catalogs have been brought up to date.
func (d *Dataset) Kept() (k Kept, err error) {
	old, err := d.kept()
	if err != nil || len(old) == 0 {
		return k, err
	}
	pins, err := d.pins()
	if err != nil {
		return k, err
	}
	seen := make(map[[2]string]bool)
	for _, c := range old {
		k.Files += len(c.Files)
		k.Bytes += c.Bytes()
		for _, p := range pins {
			if at := [2]string{p.Catalog, p.Namespace}; slices.Contains(p.Commits, c.ID) && !seen[at] {
				seen[at] = true
				k.Pins = append(k.Pins, *p)
			}
		}
	}
	slices.SortFunc(k.Pins, func(a, b Pin) int { return strings.Compare(a.Catalog+"\n"+a.Namespace, b.Catalog+"\n"+b.Namespace) })
	return k, nil
}
