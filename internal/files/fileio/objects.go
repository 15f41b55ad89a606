package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/ntconv/ntconv/internal/files/store"
)

// An objectOutput is one object of a store. Bytes are sent while they are written; the object appears when it is committed.
type objectOutput struct {
	ending
	name    string
	w       store.Writer
	behind  *WriteBehind
	cleaner *Cleaner

	once   sync.Once
	result error // of the end of writing
}

// createObject begins an object.
func createObject(name string, opts OutputOptions) (*objectOutput, error) {
	switch info, err := store.Stat(name); {
	case err == nil && info.IsDir():
		return nil, syscall.EISDIR
	case err == nil && !opts.Force:
		return nil, fs.ErrExist
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	o := &objectOutput{name: name, cleaner: opts.Cleaner}
	return o, o.cleaner.Add(o, func() (err error) {
		if o.w, err = store.Create(name, store.CreateOptions{Absent: !opts.Force}); err == nil {
			o.behind = NewWriteBehind(o.w)
		}
		return err
	})
}

// Write implements io.Writer.
func (o *objectOutput) Write(p []byte) (int, error) {
	n, err := o.behind.Write(p)
	return n, o.located("write", err)
}

func (o *objectOutput) Name() string   { return o.name }
func (o *objectOutput) Atomic() bool   { return true }
func (o *objectOutput) Flush() error   { return o.located("write", o.behind.Flush()) }
func (o *objectOutput) Written() int64 { return o.behind.written.Load() }

func (o *objectOutput) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: o.name, Op: op, Bytes: o.Written(), Err: err}
}

func (o *objectOutput) close() error {
	o.once.Do(func() { o.result = o.located("write", o.behind.Close()) })
	return o.result
}

// Commit makes the object appear.
func (o *objectOutput) Commit() error {
	if err := o.close(); err != nil {
		return errors.Join(err, o.Abort())
	}
	if o.end(stateCommitted) == stateAborted {
		return o.located("commit", ErrAborted)
	}
	defer o.cleaner.Remove(o)
	return o.located("write", o.w.Commit())
}

// Abort implements Aborter.
func (o *objectOutput) Abort() error {
	if o.end(stateAborted) != stateAborted {
		return nil
	}
	o.behind.Stop()
	o.cleaner.Remove(o)
	return o.w.Abort()
}

// An objectTree is a set of objects below a name. They are written to a temporary directory, and sent when the set is committed, in
// the order of their creation: each appears whole, and if one cannot be sent, those before it are removed.
type objectTree struct {
	*Scratch
	ending
	name    string
	temp    string
	force   bool
	cleaner *Cleaner
}

// keepObjects is the size of a member that stays in memory until it is sent.
const keepObjects = 256 << 10

func createObjects(name string, opts OutputOptions) (*objectTree, error) {
	entries, err := store.ReadDir(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(entries) > 0 && !opts.Force {
		return nil, errNotEmpty
	}
	t := &objectTree{name: name, force: opts.Force, cleaner: opts.Cleaner}
	return t, t.cleaner.Add(t, func() error {
		if t.temp, err = os.MkdirTemp("", "ntconv-"); err != nil {
			return err
		}
		t.Scratch = &Scratch{dir: t.temp, keep: keepObjects, members: make(map[string]*scratchMember), shown: name}
		return nil
	})
}

func (t *objectTree) commit() error {
	if err := t.Scratch.commit(); err != nil {
		return errors.Join(err, t.Abort())
	}
	if t.end(stateCommitted) == stateAborted {
		return &Error{Name: t.name, Op: "commit", Bytes: -1, Err: ErrAborted}
	}
	defer t.cleaner.Remove(t)
	files := t.Files()
	sent := make(map[string]bool)
	err := t.send(files, sent)
	if err != nil {
		err = &Error{Name: t.name, Op: "write", Bytes: -1, Err: err}
		for member := range sent {
			err = errors.Join(err, store.Remove(store.Join(t.name, member)))
		}
	} else if t.force {
		err = t.removeOthers(sent)
	}
	return errors.Join(err, t.discardAll())
}

// send writes the objects, and records them.
func (t *objectTree) send(files []ScratchFile, sent map[string]bool) error {
	for _, f := range files {
		r, done, err := f.open()
		if err != nil {
			return err
		}
		err = store.Write(store.Join(t.name, f.Member), r, store.CreateOptions{Absent: !t.force})
		done()
		if err != nil {
			return err
		}
		sent[f.Member] = true
	}
	return nil
}

// removeOthers removes what the set replaces.
func (t *objectTree) removeOthers(sent map[string]bool) error {
	var old []string
	err := store.Walk(t.name, func(rel string, _ *store.Object) error {
		if !sent[rel] {
			old = append(old, rel)
		}
		return nil
	})
	for _, rel := range old {
		err = errors.Join(err, store.Remove(store.Join(t.name, rel)))
	}
	return err
}

// Abort implements Aborter.
func (t *objectTree) Abort() error {
	if t.end(stateAborted) != stateAborted {
		return nil
	}
	t.cleaner.Remove(t)
	return t.discardAll()
}

func (t *objectTree) discardAll() error {
	return errors.Join(t.Scratch.Abort(), os.RemoveAll(t.temp))
}

// objectMember checks the name of a member of a set of objects, and returns that of its file.
func (s *Scratch) objectMember(member string) (string, error) {
	if !fs.ValidPath(member) || member == "." || strings.ContainsRune(member, '\\') {
		return "", fmt.Errorf("not a relative path with slashes inside the directory: %w", fs.ErrInvalid)
	}
	return filepath.Join(s.dir, fmt.Sprint(len(s.order), "-", path.Base(member))), nil
}
