package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/iox"
)

// stagingUID returns the UID that a name in _staging belongs to, "" if it is not one of ours. dir means that it is a
// directory of a trace.
func stagingUID(name string) (uid string, dir bool) {
	if len(name) < uidDigits || !IsUID(name[:uidDigits]) {
		return "", false
	}
	switch rest := name[uidDigits:]; {
	case rest == lockSuffix:
		return name[:uidDigits], false
	case strings.HasPrefix(rest, "-") && IsUID(rest[1:]):
		return name[:uidDigits], true
	}
	return "", false
}

// leftovers returns the names in _staging by UID, and those that are not ours.
func (d *Dataset) leftovers() (dirs map[string][]string, foreign []string, err error) {
	entries, err := os.ReadDir(d.staging())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	dirs = make(map[string][]string)
	for _, e := range entries {
		switch uid, dir := stagingUID(e.Name()); {
		case uid == "":
			foreign = append(foreign, e.Name())
		case dir:
			dirs[uid] = append(dirs[uid], e.Name())
		default:
			dirs[uid] = append(dirs[uid], nil...)
		}
	}
	return dirs, foreign, err
}

// Clean removes what killed runs have left in _staging, and returns how many unfinished traces that were. What other
// runs are working on stays: they hold its lock.
func (d *Dataset) Clean() (removed int, err error) {
	dirs, _, err := d.leftovers()
	if err != nil {
		return 0, err
	}
	for uid, names := range dirs {
		l, lerr := d.lock(uid)
		if errors.Is(lerr, ErrBusy) {
			continue
		}
		if lerr != nil {
			return removed, lerr
		}
		for _, name := range names {
			err = errors.Join(err, os.RemoveAll(filepath.Join(d.staging(), name)))
			removed++
		}
		l.release()
	}
	return removed, err
}

// Remove removes the trace of a UID from the dataset. It disappears by one rename before its files are deleted. The
// error is ErrBusy if another run is adding or removing it, and wraps fs.ErrNotExist if it is not in the dataset.
func (d *Dataset) Remove(uid string) error {
	l, err := d.lock(uid)
	if err != nil {
		return err
	}
	defer l.release()
	path, err := d.index.find(uid)
	if err != nil {
		return err
	}
	if path == "" {
		return &iox.Error{Name: d.dir, Op: "remove trace " + uid, Bytes: -1, Err: fs.ErrNotExist}
	}
	gone := d.stagingDir(uid)
	if err := iox.RenameDir(path, gone); err != nil {
		return err
	}
	parent := filepath.Dir(path)
	err = iox.SyncDir(parent)
	err = errors.Join(err, os.RemoveAll(gone))
	for range d.config.Partition {
		d.synced.Delete(parent)
		if os.Remove(parent) != nil { // it has other traces
			break
		}
		parent = filepath.Dir(parent)
	}
	return err
}

// A Filter selects traces.
type Filter struct {
	UIDs   []string
	Before time.Time         // recorded before this time, or added before it if the start of the recording is unknown; zero for any time
	Values map[string]string // of keys in the path, decoded
}

// Match reports whether a filter selects a trace.
func (f *Filter) Match(d *Dataset, t *Trace) bool {
	if len(f.UIDs) > 0 && !hasUID(f.UIDs, t.UID) {
		return false
	}
	if !f.Before.IsZero() {
		if t.Manifest == nil {
			return false
		}
		at := t.Manifest.Start
		if at.IsZero() {
			at = t.Manifest.Added
		}
		if !at.Before(f.Before) {
			return false
		}
	}
	values := d.Values(t.Path)
	for key, want := range f.Values {
		if got, ok := values[key]; !ok || got != want {
			return false
		}
	}
	return true
}

// hasUID reports whether one of a list is a UID or its beginning.
func hasUID(list []string, uid string) bool {
	for _, u := range list {
		if u != "" && strings.HasPrefix(uid, u) {
			return true
		}
	}
	return false
}

// Values returns the values of the keys that the path of a trace states. That of an unknown value is "".
func (d *Dataset) Values(path string) map[string]string {
	values := make(map[string]string)
	for part := range strings.SplitSeq(filepath.ToSlash(d.relative(path)), "/") {
		if key, text, ok := strings.Cut(part, "="); ok && key != traceKey {
			if value, ok := unescape(text); ok {
				values[key] = value
			}
		}
	}
	return values
}
