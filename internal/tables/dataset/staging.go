package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stagingUID returns the UID for a name in _staging, and "" if ntconv did not create the name. dir distinguishes a
// staging directory from a lock file.
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

// leftovers returns the directory names in _staging by UID, and the names that ntconv did not create.
func (d *Dataset) leftovers() (dirs map[string][]string, foreign []string, err error) {
	entries, err := os.ReadDir(d.staging())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	dirs = make(map[string][]string)
	for _, e := range entries {
		switch uid, dir := stagingUID(e.Name()); {
		case uid == "" && isWorkspace(e.Name()): // see workspaces
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

// Clean publishes the rest of a commit whose run was killed, removes leftovers of killed runs from _staging, and returns the number
// of unfinished traces among them. It keeps traces that other runs are working on, because those runs hold their locks.
func (d *Dataset) Clean() (removed int, err error) {
	if d.remote() {
		return d.cleanRemote()
	}
	release, err := d.lockCommits() // so that no other run decides a commit whose staging directory would be removed
	if err != nil {
		return 0, err
	}
	defer release()
	if err := d.recoverLocked(); err != nil {
		return 0, err
	}
	if err := d.sweep(); err != nil {
		return 0, err
	}
	return d.removeLeftovers()
}

// removeLeftovers removes the leftovers of killed runs from _staging.
func (d *Dataset) removeLeftovers() (removed int, err error) {
	if removed, err = d.cleanWorkspaces(); err != nil {
		return removed, err
	}
	dirs, _, err := d.leftovers()
	if err != nil {
		return removed, err
	}
	for uid, names := range dirs {
		if uid == commitLock {
			continue
		}
		// The lock shows that the run that created the directories has ended. Between listing and locking, a new run
		// may have started and finished; then the directories no longer exist.
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

// A Filter selects traces. All of its conditions must hold; the zero value selects every trace.
type Filter struct {
	UIDs []string
	// Recorded before this time; if the start of the recording is unknown, added before it; zero matches any time.
	Before time.Time
	Values map[string]string // of partition keys, as Key.Canonical returns them
}

// All reports whether the filter selects every trace.
func (f *Filter) All() bool { return len(f.UIDs)+len(f.Values) == 0 && f.Before.IsZero() }

// Match reports whether the filter selects a trace of d.
func (f *Filter) Match(d *Dataset, t *Trace) bool {
	if len(f.UIDs) > 0 && !hasUID(f.UIDs, t.UID) {
		return false
	}
	if !f.Before.IsZero() {
		at := t.Manifest.Start
		if at.IsZero() {
			at = t.Manifest.Added
		}
		if !at.Before(f.Before) {
			return false
		}
	}
	values := d.Values(&t.Manifest.Properties)
	for key, want := range f.Values {
		if got, ok := values[key]; !ok || got != want {
			return false
		}
	}
	return true
}

// Select returns the traces that a filter selects, as Traces does.
func (d *Dataset) Select(f *Filter) ([]Trace, error) {
	traces, err := d.Traces()
	return slices.DeleteFunc(traces, func(t Trace) bool { return !f.Match(d, &t) }), err
}

// hasUID reports whether a UID begins with an element of the list.
func hasUID(list []string, uid string) bool {
	for _, u := range list {
		if u != "" && strings.HasPrefix(uid, u) {
			return true
		}
	}
	return false
}
