package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// StdoutName is the Name of the output that is created as "-".
const StdoutName = "standard output"

// OutputOptions change how an output is created. The zero value refuses to replace an existing file.
type OutputOptions struct {
	// Force replaces an existing regular file, and permits writing to a block device.
	Force bool
	// Cleaner, if not nil, can abort this output until it is committed.
	Cleaner *Cleaner
	// Quota, if not nil, bounds what is written to the members of a set. Create ignores it.
	Quota *Quota

	// Check, if not nil, is called before the first byte of a member is written and about every 256 KiB. Its error ends
	// the writing: it is the error of that write and of all later ones, as it is.
	Check func() error

	fs fileSystem // nil: the operating system
}

// An Output is a file that appears whole or not at all. Bytes go to a temporary file in the directory of the
// destination, through a write-behind goroutine; Commit makes them the destination, Abort removes them. One of
// the two must be called.
//
// Standard output, pipes and devices cannot be replaced and are written directly: what was written cannot be
// taken back. Atomic tells the difference.
//
// Write, Flush and Commit are for one goroutine at a time; Abort and Written may be called from any.
type Output struct {
	name   string // as the user said it
	path   string // what is replaced; name with symbolic links followed
	temp   string // "" when written directly
	lease  *lease // of temp, nil when written directly
	force  bool
	keep   bool // do not close: standard output
	fs     fileSystem
	f      file
	behind *WriteBehind

	finished bool  // the file is written and closed
	finish   error // how that went

	cleaner *Cleaner
	mu      sync.Mutex // guards what follows and the existence of temp
	state   outputState
	renamed bool  // temp is no more
	err     error // result of the commit that ended in state failed
}

type outputState uint8

const (
	stateOpen outputState = iota
	stateCommitted
	stateFailed
	stateAborted
)

// Create opens an output. The name "-" and /dev/stdout mean standard output; a pipe or device is opened as it is,
// and a FIFO waits for its reader. Anything else is a file that is created by Commit with the permissions of
// os.Create, or those of the file it replaces (not its owner, and not its other hard links).
//
// An existing file is an error that wraps fs.ErrExist unless Force is set. The check is made now, before work is
// done for nothing, and again by Commit in a way that cannot overwrite a file that has appeared meanwhile.
//
// A symbolic link is kept and the file it points to is replaced, in that file's directory; Path says where that
// is, and since the file exists, Force was needed. A link to nothing is an error even with Force: the file would
// appear in a place that nobody named.
//
// Temporary files that runs killed more than an hour ago left behind for the same destination are removed.
func Create(name string, opts OutputOptions) (*Output, error) {
	o := &Output{name: name, path: name, force: opts.Force, fs: opts.fs, cleaner: opts.Cleaner}
	if o.fs == nil {
		o.fs = osFS{}
	}
	if err := o.open(); err != nil {
		return nil, &Error{Name: o.name, Op: "create", Bytes: -1, Err: err}
	}
	return o, nil
}

// open decides what kind of output the name is and opens the file that takes the bytes.
func (o *Output) open() error {
	if o.name == "-" || o.name == "/dev/stdout" {
		o.name, o.path, o.keep, o.f = StdoutName, "", true, o.fs.stdout()
		return o.cleaner.Add(o, o.begin)
	}
	info, err := o.existing()
	if err != nil {
		return err
	}
	if info != nil && !info.Mode().IsRegular() {
		// Not while the Cleaner waits: a FIFO may wait for its reader for ever.
		if o.f, err = o.fs.open(o.name, os.O_WRONLY, 0); err != nil {
			return err
		}
		if err = o.cleaner.Add(o, o.begin); err != nil {
			o.f.Close() // nothing was written
		}
		return err
	}
	removeStale(o.fs, o.path, nil)
	return o.cleaner.Add(o, func() error {
		if err := o.openTemp(info); err != nil {
			return err
		}
		return o.begin()
	})
}

// begin starts to take bytes for the file that is open.
func (o *Output) begin() error {
	o.behind = NewWriteBehind(o.f)
	return nil
}

// existing returns the file at the destination, nil if there is none, and follows a symbolic link to it. Names
// like /dev/fd/63 are links that only the kernel can follow, so what they are is asked by stat first.
func (o *Output) existing() (fs.FileInfo, error) {
	info, err := o.fs.stat(o.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, o.absent(err)
	}
	if err != nil {
		return nil, err
	}
	m := info.Mode()
	blockDevice := m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
	switch {
	case m.IsDir():
		return nil, syscall.EISDIR
	case (m.IsRegular() || blockDevice) && !o.force:
		return nil, fs.ErrExist
	case !m.IsRegular():
		return info, nil
	}
	link, err := o.fs.lstat(o.name)
	if err == nil && link.Mode()&fs.ModeSymlink != 0 {
		o.path, err = o.fs.evalSymlinks(o.name)
	}
	return info, err
}

// absent tells a destination that does not exist from a link to one. The error is that of stat.
func (o *Output) absent(err error) error {
	_, lerr := o.fs.lstat(o.name)
	switch {
	case lerr == nil:
		return fmt.Errorf("symbolic link to nothing: %w", err)
	case errors.Is(lerr, fs.ErrNotExist):
		return nil
	}
	return lerr
}

// Name returns the name given to Create, or StdoutName.
func (o *Output) Name() string { return o.name }

// Path returns the file that Commit replaces or creates, which differs from Name where that is a symbolic link;
// "" for standard output.
func (o *Output) Path() string { return o.path }

// Atomic reports whether nothing is visible before Commit. If not, an Abort leaves what was already written.
func (o *Output) Atomic() bool { return o.temp != "" }

// Written returns the bytes that have reached the file so far, those still in buffers not counted.
func (o *Output) Written() int64 { return o.behind.written.Load() }

// Write copies p into a buffer. The error of an earlier write may be returned here, by Flush or by Commit; it is
// an [*Error] that says how many bytes were written before.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.behind.Write(p)
	return n, o.located("write", err)
}

// Flush waits until everything written so far has reached the file, pipe or device: for live streams. It makes
// nothing durable.
func (o *Output) Flush() error { return o.located("write", o.behind.Flush()) }

func (o *Output) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: o.name, Op: op, Bytes: o.Written(), Err: err}
}

// Commit writes what is buffered, syncs the file to disk, renames it to the destination and syncs the directory.
// If any of it fails the temporary file is removed and the destination is as before, with one exception: when
// only the sync of the directory failed, the new file is in place but might not survive a power failure. A
// direct output is flushed and closed. Further calls return the same result; after Abort it is ErrAborted.
func (o *Output) Commit() error {
	o.mu.Lock()
	state, err := o.state, o.err
	o.mu.Unlock()
	if state == stateAborted {
		return o.located("commit", ErrAborted)
	}
	if state != stateOpen {
		return err
	}
	// Without the lock: an Abort must not wait for the disk.
	err = o.close()

	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == stateAborted {
		return o.located("commit", ErrAborted)
	}
	if err == nil {
		err = o.publish()
	}
	o.state = stateCommitted
	if err != nil {
		o.state, o.err = stateFailed, errors.Join(err, o.discard())
		err = o.err
	}
	o.lease.end()
	o.cleaner.Remove(o)
	return err
}

// close writes what is buffered, syncs and closes the file, once; later calls return the same result. Commit is
// then left with the rename.
func (o *Output) close() error {
	if !o.finished {
		o.finished = true
		o.finish = o.complete()
	}
	return o.finish
}

// complete goes on to close the file after an error.
func (o *Output) complete() error {
	op, err := "write", o.behind.Close()
	if err == nil && o.Atomic() {
		op, err = "sync", o.f.Sync()
	}
	if o.keep {
		return o.located(op, err)
	}
	if cerr := o.f.Close(); err == nil {
		op, err = "close", cerr
	}
	return o.located(op, err)
}

// publish gives the file its name.
func (o *Output) publish() error {
	if !o.Atomic() {
		return nil
	}
	rename := o.fs.renameNew
	if o.force {
		rename = o.fs.rename
	}
	if err := rename(o.temp, o.path); err != nil {
		return o.located("rename", err)
	}
	if err := o.fs.syncDir(filepath.Dir(o.path)); err != nil {
		o.renamed = true
		return o.located("sync directory", err)
	}
	return nil
}

// Abort gives up: the temporary file is removed and the destination is as before. It does not wait for a pipe
// that is stuck. After Commit, or a second time, it does nothing.
func (o *Output) Abort() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != stateOpen {
		return nil
	}
	o.state = stateAborted
	err := o.discard()
	o.lease.end()
	o.cleaner.Remove(o)
	return err
}

// discard ends the goroutine, closes the file and removes it. The order is for Windows, which removes no open
// file. A close error is no news here: the file may be closed already, and its content is not wanted.
func (o *Output) discard() error {
	o.behind.Stop()
	if !o.keep {
		o.f.Close()
	}
	if !o.Atomic() {
		return nil // a write to a pipe may be stuck; it ends with its reader or with the process
	}
	<-o.behind.done
	if o.renamed {
		return nil
	}
	if err := o.fs.remove(o.temp); err != nil {
		return &Error{Name: o.name, Op: "remove temporary file " + o.temp, Bytes: -1, Err: err}
	}
	return nil
}
