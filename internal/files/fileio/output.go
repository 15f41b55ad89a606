package fileio

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

// OutputOptions are options of an output. The zero value does not replace an existing file.
type OutputOptions struct {
	// Force permits replacing an existing regular file and writing to a block device.
	Force bool
	// Cleaner, if not nil, registers the output until it is committed or aborted.
	Cleaner *Cleaner
	// Quota, if not nil, bounds the bytes written to all members of a set. Create ignores it.
	Quota *Quota

	// InPlace writes a regular file directly, so that what was written remains if the process is killed, for recordings that cannot
	// be repeated. With Force, an existing file is truncated. Abort keeps the file, and Atomic returns false.
	InPlace bool

	// Check, if not nil, is called before the first byte of a member is written and about every 256 KiB. Its error ends
	// the writing: that write and all later ones return it unchanged.
	Check func() error

	fs fileSystem // nil: the operating system
}

// An Output is a file that appears complete or not at all. Bytes pass through a write-behind goroutine to a temporary
// file in the directory of the destination. Commit renames the temporary file to the destination; Abort removes it. The
// caller must call one of the two.
//
// Standard output, pipes and devices cannot be replaced and are written directly: bytes that were written cannot be
// taken back. Atomic distinguishes the two cases.
//
// Commit must not run while another goroutine writes; Write, Flush, Abort and Written may be called at any time from
// any goroutine. The states change as follows, under mu:
//
//	open      → committed  Commit succeeded
//	open      → failed     a step of Commit failed; err is its result, and the temporary file is removed
//	open      → aborted    Abort, also while Commit syncs without mu; Commit then returns ErrAborted
//
// No state leads back to open, and later calls change nothing.
type Output struct {
	name   string // as the user wrote it
	path   string // the file to replace: name with symbolic links resolved
	temp   string // "" if written directly
	lease  *lease // lease of temp; nil if written directly
	force  bool
	place  bool // OutputOptions.InPlace
	keep   bool // standard output, which is not closed
	fs     fileSystem
	f      file
	writer *WriteBehind

	finished bool  // close was called
	finish   error // result of close

	cleaner *Cleaner
	mu      sync.Mutex // guards the following fields and the existence of temp
	state   outputState
	renamed bool  // temp has been renamed, so there is nothing to remove
	err     error // result of the commit that ended in state failed
}

type outputState uint8

const (
	stateOpen outputState = iota
	stateCommitted
	stateFailed
	stateAborted
)

// Create opens an output. The names "-" and /dev/stdout select standard output; a pipe or device is opened directly,
// and opening a FIFO waits for its reader. Otherwise Commit creates a file with the permissions of os.Create, or with
// those of the file that it replaces (but not its owner, and not its other hard links).
//
// An existing file is an error that wraps fs.ErrExist unless Force is set. Create checks it before any work is done,
// and Commit again in a way that cannot overwrite a file that has appeared meanwhile.
//
// A symbolic link is kept, and the file that it points to is replaced in its own directory; Path returns its name. A
// dangling link is an error even with Force, because the file would appear in a place that the user has not named.
//
// Create removes temporary files for the same destination that runs killed more than an hour ago have left behind.
func Create(name string, opts OutputOptions) (*Output, error) {
	o := &Output{name: name, path: name, force: opts.Force, place: opts.InPlace, fs: opts.fs, cleaner: opts.Cleaner}
	if o.fs == nil {
		o.fs = osFS{}
	}
	err := CheckAddress(name)
	if err == nil {
		err = o.open()
	}
	if err != nil {
		return nil, &Error{Name: o.name, Op: "create", Bytes: -1, Err: err}
	}
	return o, nil
}

// open determines the kind of the output and opens the file for writing.
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
		// Open outside of Cleaner.Add, which blocks AbortAll: a FIFO may wait for its reader forever.
		if o.f, err = o.fs.open(o.name, os.O_WRONLY, 0); err != nil {
			return err
		}
		if err = o.cleaner.Add(o, o.begin); err != nil {
			o.f.Close() // nothing was written
		}
		return err
	}
	if o.place {
		return o.openInPlace(info)
	}
	removeStale(o.fs, o.path, nil)
	return o.cleaner.Add(o, func() error {
		if err := o.openTemp(info); err != nil {
			return err
		}
		return o.begin()
	})
}

// openInPlace opens the file itself. info is that of the existing file, or nil.
func (o *Output) openInPlace(info fs.FileInfo) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if info != nil {
		flags = os.O_WRONLY | os.O_TRUNC
	}
	return o.cleaner.Add(o, func() (err error) {
		if o.f, err = o.fs.open(o.path, flags, 0o666); err != nil {
			return err
		}
		return o.begin()
	})
}

// begin starts the write-behind goroutine for the open file.
func (o *Output) begin() error {
	o.writer = NewWriteBehind(o.f)
	return nil
}

// existing returns the file at the destination, nil if there is none, and resolves a symbolic link. It calls stat
// first, because only the kernel can follow names like /dev/fd/63.
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

// absent separates a destination that does not exist from a dangling link. err is the error of stat.
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

// Path returns the file that Commit replaces or creates. It differs from Name if that is a symbolic link, and is "" for
// standard output.
func (o *Output) Path() string { return o.path }

// Atomic reports whether nothing is visible before Commit. If false, Abort leaves the bytes that were already written.
func (o *Output) Atomic() bool { return o.temp != "" }

// Written returns the number of bytes that have reached the file, without those in buffers. It is safe for concurrent
// use.
func (o *Output) Written() int64 { return o.writer.written.Load() }

// Write copies p into a buffer. Write, Flush or Commit returns the error of an earlier write; it is an [*Error] with
// the number of bytes that were written.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.writer.Write(p)
	return n, o.located("write", err)
}

// Flush waits until all bytes written so far have reached the file, pipe or device, for live streams. It does not sync.
func (o *Output) Flush() error { return o.located("write", o.writer.Flush()) }

func (o *Output) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: o.name, Op: op, Bytes: o.Written(), Err: err}
}

// Commit flushes the buffers, syncs the file to disk, renames it to the destination and syncs the directory. If a step
// fails, the temporary file is removed and the destination is unchanged, with one exception: if only the sync of the
// directory failed, the new file is in place but may not survive a power failure. A direct output is flushed and
// closed. Later calls return the same error; after Abort it wraps ErrAborted.
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
	// Not under mu, because Abort must not wait for the disk.
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

// close flushes, syncs and closes the file on the first call; later calls return the same error. After it, Commit only
// renames.
func (o *Output) close() error {
	if !o.finished {
		o.finished = true
		o.finish = o.complete()
	}
	return o.finish
}

// complete flushes, syncs and closes the file. It closes the file even after an error.
func (o *Output) complete() error {
	op, err := "write", o.writer.Close()
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

// publish renames the file to the destination.
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

// Abort removes the temporary file and leaves the destination unchanged. It does not wait for a write to a pipe. After
// Commit, or a second time, it does nothing. It is safe for concurrent use.
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

// discard ends the goroutine, closes the file and removes it, in this order, because Windows cannot remove an open
// file. It ignores the error of Close: the file may be closed already, and its content is discarded. The caller holds
// mu.
func (o *Output) discard() error {
	o.writer.Stop()
	if !o.keep {
		o.f.Close()
	}
	if !o.Atomic() {
		return nil // a write to a pipe may block until its reader or the process ends
	}
	<-o.writer.done
	if o.renamed {
		return nil
	}
	if err := o.fs.remove(o.temp); err != nil {
		return &Error{Name: o.name, Op: "remove temporary file " + o.temp, Bytes: -1, Err: err}
	}
	return nil
}
