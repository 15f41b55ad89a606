package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables"
)

// A Fragment is a part of a commit: traces of a workspace, and the files with their rows, named by their positions.
type Fragment struct {
	Traces []Manifest `json:"traces"`
	Files  []File     `json:"files"` // their Path lacks the ID of the commit
}

// A FragmentRef names a fragment of a workspace.
type FragmentRef struct {
	Name   string    `json:"name"`
	Start  time.Time `json:"start"` // of its first trace
	Traces int       `json:"traces"`
}

// Pack makes the files of prepared traces, which are traces of one partition, and names the fragment by its content.
func (w *Workspace) Pack(uids []string) (*FragmentRef, error) {
	temp := filepath.Join(w.dir, packedName, fmt.Sprintf("_%016x", rand.Uint64()))
	if err := os.Mkdir(temp, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) // it was renamed, or is of no use
	f, err := w.pack(uids, temp)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if err := writeParts(filepath.Join(temp, fragmentName), [][]byte{data}); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	ref := &FragmentRef{Name: hex.EncodeToString(sum[:]), Start: f.Traces[0].Start, Traces: len(f.Traces)}
	to := filepath.Join(w.dir, packedName, ref.Name)
	if err := os.Rename(temp, to); err != nil {
		if _, serr := os.Stat(filepath.Join(to, fragmentName)); serr != nil {
			return nil, err
		} // a repetition was faster, and has made the same files
	}
	return ref, nil
}

// pack makes the files of a fragment in the directory temp.
func (w *Workspace) pack(uids []string, temp string) (*Fragment, error) {
	// A packer adds columns to the file of a large table, so it gets a copy: a repetition needs the file as it was.
	work := filepath.Join(temp, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		return nil, err
	}
	f := new(Fragment)
	var pieces []piece
	for _, uid := range uids {
		m, list, err := w.pieces(uid)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if name := list[i].name; name != "" {
				list[i].name = filepath.Join(work, filepath.Base(name))
				if err := store.Copy(name, list[i].name); err != nil {
					return nil, err
				}
			}
		}
		f.Traces = append(f.Traces, *m)
		pieces = append(pieces, list...)
	}
	slices.SortFunc(f.Traces, func(a, b Manifest) int { return byStart(&a, &b) })
	p := &packer{id: "commit", staging: temp, traces: make(map[string]*Manifest)}
	files, err := p.pack(pieces)
	if err != nil {
		return nil, err
	}
	f.Files = files
	return f, errors.Join(f.check(), os.RemoveAll(work))
}

// check compares the rows of the files with the events of the traces.
func (f *Fragment) check() error {
	rows, events := int64(0), int64(0)
	for i := range f.Files {
		if f.Files[i].Table == tables.Of[tables.Event]().Name {
			rows += f.Files[i].Rows
		}
	}
	for i := range f.Traces {
		events += f.Traces[i].Events
	}
	if rows != events {
		return fmt.Errorf("the files of %d traces have %d events, want %d", len(f.Traces), rows, events)
	}
	return nil
}

func (w *Workspace) fragment(name string) (*Fragment, error) {
	f := new(Fragment)
	return f, readJSON(filepath.Join(w.dir, packedName, name, fragmentName), f)
}

// Published is what Publish has done.
type Published struct {
	Commit string `json:"commit"` // "" if the dataset had all traces
	Traces int    `json:"traces"` // of the commit
	Bytes  int64  `json:"bytes"`  // of its files
	Files  int    `json:"files"`
}

// Publish adds the traces of fragments to the dataset, in one commit. Traces that the dataset has are omitted, so that a repetition
// changes nothing.
func (w *Workspace) Publish(refs []FragmentRef) (*Published, error) {
	for attempt := range 100 {
		made, err := w.tryPublish(refs, attempt)
		// Another run has added a trace since this one looked, or has ended the turn of this one.
		if exists := (*ExistsError)(nil); !errors.As(err, &exists) && !errors.Is(err, errStale) {
			return made, err
		}
	}
	return nil, fmt.Errorf("%s: %w, again and again", w.d.dir, errStale)
}

func (w *Workspace) tryPublish(refs []FragmentRef, attempt int) (*Published, error) {
	whole := new(Commit)
	var fragments []*Fragment
	for _, ref := range refs {
		f, err := w.fragment(ref.Name)
		if err != nil {
			return nil, err
		}
		fragments = append(fragments, f)
		whole.Traces = append(whole.Traces, f.Traces...)
	}
	if len(whole.Traces) == 0 {
		return new(Published), nil
	}
	if err := whole.identify(0); err != nil {
		return nil, err
	}
	commits, err := w.d.Commits()
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if c.ID == whole.ID { // this is a repetition
			return published(c), nil
		}
	}
	return w.publishMissing(refs, fragments, attempt)
}

func published(c *Commit) *Published {
	return &Published{Commit: c.ID, Traces: len(c.Traces), Bytes: c.Bytes(), Files: len(c.Files)}
}

// publishMissing publishes the traces of fragments that the dataset does not have.
func (w *Workspace) publishMissing(refs []FragmentRef, fragments []*Fragment, attempt int) (made *Published, err error) {
	dir := filepath.Join(w.dir, fmt.Sprintf("commit-%016x", rand.Uint64()))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeStaging(dir, err)) }()
	c := &Commit{Version: w.d.config.Version, Created: time.Now().UTC().Truncate(time.Second)}
	var sources []string
	for i, f := range fragments {
		name, f, err := w.missing(refs[i].Name, f)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		c.Traces = append(c.Traces, f.Traces...)
		for k, file := range f.Files {
			c.Files = append(c.Files, file)
			sources = append(sources, filepath.Join(w.dir, packedName, name, stagedFile(k)))
		}
	}
	if len(c.Traces) == 0 {
		return new(Published), nil
	}
	if err := c.identify(attempt); err != nil {
		return nil, err
	}
	if err := w.gather(c, sources, dir); err != nil {
		return nil, err
	}
	if err := w.d.publish(c, dir); err != nil {
		return nil, err
	}
	return published(c), nil
}

// missing returns a fragment without the traces that the dataset has, and its name. It is nil if there are no others.
func (w *Workspace) missing(name string, f *Fragment) (string, *Fragment, error) {
	var uids []string
	for i := range f.Traces {
		_, found, err := w.d.find(f.Traces[i].UID)
		if err != nil {
			return "", nil, err
		}
		if !found {
			uids = append(uids, f.Traces[i].UID)
		}
	}
	switch len(uids) {
	case 0:
		return "", nil, nil
	case len(f.Traces):
		return name, f, nil
	}
	ref, err := w.Pack(uids)
	if err != nil {
		return "", nil, err
	}
	f, err = w.fragment(ref.Name)
	return ref.Name, f, err
}

// identify sorts the traces and sets the ID, which follows from the manifests. They have the times of the conversions, so traces that are added again
// after they were removed get another ID: commits may list the first one as replaced. So do later attempts: in an object store the
// first one may be undone.
func (c *Commit) identify(attempt int) error {
	slices.SortFunc(c.Traces, func(a, b Manifest) int { return byStart(&a, &b) })
	data, err := json.Marshal(c.Traces)
	if err != nil {
		return err
	}
	if attempt > 0 {
		data = fmt.Append(data, attempt)
	}
	sum := sha256.Sum256(data)
	c.ID = UIDOf(sum[:])
	return nil
}

// gather names the files of a commit, and puts them into its staging directory. trace_info is the last table.
func (w *Workspace) gather(c *Commit, sources []string, dir string) error {
	order := make([]int, len(c.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return lastTable(c.Files[a].Table) - lastTable(c.Files[b].Table) })
	files := make([]File, 0, len(order))
	number := make(map[string]int)
	for i, from := range order {
		f := c.Files[from]
		in := path.Dir(f.Path)
		f.Path = path.Join(in, fmt.Sprintf("%s-%d.parquet", c.ID, number[in]))
		number[in]++
		files = append(files, f)
		if err := link(sources[from], filepath.Join(dir, stagedFile(i))); err != nil {
			return err
		}
	}
	c.Files = files
	return nil
}
