package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
)

// A Workspace is a directory in _staging in which the processes of a pipeline leave the tables of traces until one of them
// publishes all of them. Each of its steps may be repeated, also while a repetition runs, and a later run with the same ID continues
// where one was killed. Its methods are safe for concurrent use.
//
//	_staging/pipeline-ID/lease           its time is that of the last step
//	_staging/pipeline-ID/traces/UID      a converted trace: its manifest and its tables
//	_staging/pipeline-ID/tables/...      tables of more than 256 KB of a trace
//	_staging/pipeline-ID/packed/SHA256/  the files of some traces, and a Fragment
type Workspace struct {
	d   *Dataset
	id  string
	dir string
}

// workspacePrefix begins the names of workspaces in _staging.
const workspacePrefix = "pipeline-"

// leaseTime is how long a workspace is kept after its last step. Its steps may run on other machines, so that no lock of the
// operating system shows that they have ended, and the user may want to continue a pipeline that was killed.
const leaseTime = 24 * time.Hour

// Names in a workspace.
const (
	leaseName    = "lease"
	tracesName   = "traces"
	tablesName   = "tables"
	packedName   = "packed"
	fragmentName = "fragment.json"
)

// Workspace opens or creates the workspace with an ID, which has the form of a UID.
func (d *Dataset) Workspace(id string) (*Workspace, error) {
	if !IsUID(id) {
		return nil, fmt.Errorf("%s: not the ID of a workspace", id)
	}
	w := &Workspace{d: d, id: id, dir: filepath.Join(d.staging(), workspacePrefix+id)}
	for _, name := range []string{tracesName, tablesName, packedName} {
		if err := os.MkdirAll(filepath.Join(w.dir, name), 0o777); err != nil {
			return nil, err
		}
	}
	return w, w.Renew()
}

// Dir returns the directory, in which a pipeline may create other files. Their names must not be those of a Workspace.
func (w *Workspace) Dir() string { return w.dir }

// Renew states that the pipeline still runs. Steps call it.
func (w *Workspace) Renew() error {
	name, now := filepath.Join(w.dir, leaseName), time.Now()
	err := os.Chtimes(name, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(name, nil, 0o666)
	}
	return err
}

// Lock takes the lock of the workspace, so that no other run of the same pipeline uses it. The error wraps ErrBusy if one does.
func (w *Workspace) Lock() (release func(), err error) {
	l, err := w.d.lock(w.id)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

// Remove removes the workspace.
func (w *Workspace) Remove() error { return removeBusy(w.dir) }

// A container is the content of a file in tracesName, after a line with its JSON: the tables that are small.
type container struct {
	Manifest Manifest `json:"manifest"`
	Tables   []stored `json:"tables"`
	Sum      string   `json:"sha256"` // of what follows the line
}

// A stored table is a part of a container, or a file.
type stored struct {
	Table string `json:"table"`
	Size  int64  `json:"size"`
	File  string `json:"file,omitempty"` // in the directory tablesName; "" for the next Size bytes of the container
}

// Prepared describes a trace of a workspace.
type Prepared struct {
	UID   string    `json:"uid"`
	Place string    `json:"place"` // directories of its partition
	Start time.Time `json:"start"`
	Bytes int64     `json:"bytes"` // of its tables
}

// Add is Batch.Add for a trace that waits in the workspace. A trace that replaces others is published at once, because that must
// happen in one commit.
func (w *Workspace) Add(a *Addition, m *Manifest, done func(error)) {
	a.describe(m)
	if len(a.replaced) > 0 {
		w.d.commit([]*staged{{a, m, done}})
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		done(fileio.ErrAborted)
		return
	}
	err := w.keep(m, a.tablesLocked())
	done(errors.Join(err, a.end(nil)))
}

// Flush implements the interface of a Batch. Nothing waits.
func (w *Workspace) Flush() {}

// keep writes a container. If another process has written one for the same trace, either of them is complete.
func (w *Workspace) keep(m *Manifest, files []fileio.ScratchFile) error {
	c := container{Manifest: *m}
	h := sha256.New()
	prefix := fmt.Sprintf("%s-%016x-", m.UID, rand.Uint64())
	var small [][]byte
	for _, f := range files {
		s := stored{Table: strings.TrimSuffix(f.Member, ".parquet"), Size: f.Size}
		if f.Name == "" {
			small = append(small, f.Data)
			h.Write(f.Data)
		} else {
			s.File = prefix + f.Member
			if err := os.Rename(f.Name, filepath.Join(w.dir, tablesName, s.File)); err != nil {
				return err
			}
		}
		c.Tables = append(c.Tables, s)
	}
	c.Sum = hex.EncodeToString(h.Sum(nil))
	head, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	name := filepath.Join(w.dir, tracesName, m.UID)
	temp := filepath.Join(w.dir, tracesName, "_"+prefix)
	if err := writeParts(temp, append([][]byte{head, []byte("\n")}, small...)); err != nil {
		return errors.Join(err, remove(temp))
	}
	return os.Rename(temp, name)
}

func writeParts(name string, parts [][]byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, werr := f.Write(part); err == nil {
			err = werr
		}
	}
	return errors.Join(err, f.Close())
}

// errContainer means that a container is not as it was written, after a power failure for example.
var errContainer = errors.New("the file is damaged")

// container reads the trace with a UID. The error wraps fs.ErrNotExist if it was not prepared.
func (w *Workspace) container(uid string) (*container, []byte, error) {
	name := filepath.Join(w.dir, tracesName, uid)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	line := slices.Index(data, '\n')
	c := new(container)
	if line < 0 || json.Unmarshal(data[:line], c) != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, errContainer)
	}
	data = data[line+1:]
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != c.Sum {
		return nil, nil, fmt.Errorf("%s: %w", name, errContainer)
	}
	for _, t := range c.Tables {
		if t.File == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(w.dir, tablesName, t.File)); err != nil || info.Size() != t.Size {
			return nil, nil, fmt.Errorf("%s: table %s: %w", name, t.Table, errContainer)
		}
	}
	return c, data, nil
}

// Find returns a prepared trace, and nil if the workspace does not have it: then it must be converted.
func (w *Workspace) Find(uid string) (*Prepared, *Manifest, error) {
	c, _, err := w.container(uid)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errContainer) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	m := &c.Manifest
	return &Prepared{UID: uid, Place: w.d.place(&m.Properties), Start: m.Start, Bytes: m.Bytes}, m, nil
}

// Buckets divides prepared traces of one partition into those that share files: in the order of their recordings, and with the
// limits of a Batch. The result depends on the traces only, not on the order of list, which it sorts. It may have traces twice.
func Buckets(list []Prepared) (buckets [][]Prepared) {
	slices.SortFunc(list, func(a, b Prepared) int {
		return byStart(&Manifest{UID: a.UID, Properties: Properties{Start: a.Start}}, &Manifest{UID: b.UID, Properties: Properties{Start: b.Start}})
	})
	list = slices.CompactFunc(list, func(a, b Prepared) bool { return a.UID == b.UID })
	var bucket []Prepared
	bytes := int64(0)
	flush := func() {
		if len(bucket) > 0 {
			buckets, bucket, bytes = append(buckets, bucket), nil, 0
		}
	}
	for _, p := range list {
		if p.Bytes >= largeBytes {
			buckets = append(buckets, []Prepared{p}) // its files need no others
			continue
		}
		if bucket, bytes = append(bucket, p), bytes+p.Bytes; len(bucket) >= batchTraces || bytes >= batchBytes {
			flush()
		}
	}
	flush()
	return buckets
}

// describe sets what an addition knows of a trace in its manifest.
func (a *Addition) describe(m *Manifest) {
	m.UID, m.SHA256, m.Bytes = a.uid, a.sum, 0
	for _, f := range a.tables() {
		m.Bytes += f.Size
	}
}

// pieces returns a prepared trace as pieces for a packer.
func (w *Workspace) pieces(uid string) (*Manifest, []piece, error) {
	c, data, err := w.container(uid)
	if err != nil {
		return nil, nil, err
	}
	m := &c.Manifest
	var list []piece
	for _, t := range c.Tables {
		p := piece{table: t.Table, place: w.d.place(&m.Properties), order: m, constants: w.d.constants(m.UID, &m.Properties)}
		if t.File != "" {
			p.name = filepath.Join(w.dir, tablesName, t.File)
		} else {
			if t.Size > int64(len(data)) {
				return nil, nil, fmt.Errorf("%s: %w", uid, io.ErrUnexpectedEOF)
			}
			p.data, data = data[:t.Size], data[t.Size:]
		}
		list = append(list, p)
	}
	return m, list, nil
}

// isWorkspace reports whether a name in _staging is that of a workspace.
func isWorkspace(name string) bool {
	id, ok := strings.CutPrefix(name, workspacePrefix)
	return ok && IsUID(id)
}

// cleanWorkspaces removes workspaces without a step for leaseTime, and returns their number. The caller holds the lock of commits.
func (d *Dataset) cleanWorkspaces() (removed int, err error) {
	stale, _, err := d.workspaces()
	for _, name := range stale {
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.staging(), name)))
		removed++
	}
	return removed, err
}

// workspaces returns the names of workspaces in _staging without a step for leaseTime, and of the others.
func (d *Dataset) workspaces() (stale, live []string, err error) {
	entries, err := os.ReadDir(d.staging())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if !isWorkspace(e.Name()) {
			continue
		}
		if busy, err := d.busy(strings.TrimPrefix(e.Name(), workspacePrefix)); err != nil || busy {
			live = append(live, e.Name())
			continue
		}
		info, serr := os.Stat(filepath.Join(d.staging(), e.Name(), leaseName))
		if errors.Is(serr, fs.ErrNotExist) { // it is being created, or removed
			info, serr = e.Info()
		}
		if serr == nil && time.Since(info.ModTime()) > leaseTime {
			stale = append(stale, e.Name())
		} else {
			live = append(live, e.Name())
		}
	}
	return stale, live, err
}

// verifyWorkspaces counts pipelines as busy, and reports those without a step for leaseTime.
func (d *Dataset) verifyWorkspaces(v *Verified) error {
	stale, live, err := d.workspaces()
	v.Busy += len(live)
	for _, name := range stale {
		v.add(path.Join(stagingName, name), nil, "left by a pipeline that has done nothing for a day; the same ntconv pipeline tables continues it, and the next "+
			"ntconv to parquet --dataset removes it")
	}
	return err
}
