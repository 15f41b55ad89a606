package fileio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ntconv/ntconv/internal/files/store"
)

// OutputsOptions are options of a set of outputs. With the zero value, a name that ends in a slash or is that of an
// existing directory selects a directory, and every other name one file.
type OutputsOptions struct {
	OutputOptions

	// Dir selects a directory regardless of the name. Standard output is then an error.
	Dir bool
	// File selects one file regardless of the name: an existing directory is an error that wraps EISDIR, as in Create.
	// Dir takes precedence.
	File bool
}

// Outputs is the set of members that one conversion writes and commits as a whole. A set is one file, one directory,
// standard output, or empty (an upload). The caller must call Commit or Abort.
//
// One file and standard output have exactly one member, "", and behave as the [Output] of that name. A directory
// appears complete, by a rename, or not at all, even if the process is killed or the disk is full: its members are
// written to a temporary directory next to the destination. If no member was created, Commit creates an empty
// directory; for a file it returns an error and creates nothing.
//
// Create, Members, Written and Abort are safe for concurrent use, and so is Flush of a single output. Flush of a
// directory and Commit must not run while another goroutine uses a member.
type Outputs struct {
	name  string
	to    target
	check func() error // may be nil
	quota *Quota       // may be nil
	mu    sync.Mutex   // guards names
	names []string
}

// A target is the destination of a set.
type target interface {
	Aborter
	create(member string) (*Member, error)
	written() int64
	flush() error
	commit() error
}

// CreateOutputs prepares the outputs of one conversion. The names "-" and /dev/stdout select standard output.
// OutputsOptions describes which names select a directory.
//
// An existing file is an error that wraps fs.ErrExist unless Force is set, and so is an existing directory that is not
// empty. CreateOutputs and Commit both check it, as in Create. A directory never replaces a file, nor a file a
// directory. With Force, the whole tree of an existing directory is replaced, except that a symbolic link, a root, the
// current directory, the home directory and the parents of both are always rejected.
//
// CreateOutputs removes temporary files and directories for the same destination that runs killed more than an hour ago
// have left behind.
func CreateOutputs(name string, opts OutputsOptions) (*Outputs, error) {
	if opts.fs == nil {
		opts.fs = osFS{}
	}
	if store.Is(name) {
		return objectOutputs(name, opts)
	}
	if !opts.isDir(name) {
		out, err := Create(name, opts.OutputOptions)
		if err != nil {
			return nil, err
		}
		return &Outputs{name: out.Name(), to: &single{out: out}, check: opts.Check, quota: opts.Quota}, nil
	}
	t, err := createTree(name, opts.OutputOptions)
	if err != nil {
		return nil, &Error{Name: name, Op: "create", Bytes: -1, Err: err}
	}
	return &Outputs{name: name, to: t, check: opts.Check, quota: opts.Quota}, nil
}

// objectOutputs is CreateOutputs for names of objects. A set of several is not visible as a whole at one moment: its objects appear
// one after the other when it is committed.
func objectOutputs(name string, opts OutputsOptions) (*Outputs, error) {
	var to target
	var err error
	if opts.isDir(name) {
		to, err = createObjects(name, opts.OutputOptions)
	} else {
		var out *objectOutput
		out, err = createObject(name, opts.OutputOptions)
		to = &single{out: out}
	}
	if err != nil {
		return nil, &Error{Name: name, Op: "create", Bytes: -1, Err: err}
	}
	return &Outputs{name: name, to: to, check: opts.Check, quota: opts.Quota}, nil
}

// NoOutputs returns a set without files, for an upload. Create fails; Commit and Abort only change the state. Its Name
// is "". Spend counts in quota, which may be nil.
func NoOutputs(quota *Quota) *Outputs { return &Outputs{to: new(nothing), quota: quota} }

// isDir reports whether the name selects a directory.
func (opts *OutputsOptions) isDir(name string) bool {
	if opts.Dir || opts.File || isStdout(name) || name == "" {
		return opts.Dir
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		return true
	}
	stat := opts.fs.stat
	if store.Is(name) {
		stat = store.Stat
	}
	info, err := stat(name)
	return err == nil && info.IsDir() // Create reports the error
}

// Create returns a new member. The member "" is the file or standard output itself; a second call is an error that
// wraps fs.ErrExist. In a directory, the name is a relative path with slashes that satisfies fs.ValidPath and the rules
// of the operating system; subdirectories are created. Several members may be open at the same time. After Commit or
// Abort, Create fails.
func (o *Outputs) Create(member string) (*Member, error) {
	m, err := o.to.create(member)
	if err != nil {
		return nil, err
	}
	m.check, m.quota = o.check, o.quota
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names = append(o.names, member)
	return m, nil
}

// Spend adds n bytes to the bytes that the quota counts, for bytes that are sent rather than written. If they exceed
// the quota, the error is an *ntconv.LimitError.
func (o *Outputs) Spend(n int) error { return o.quota.Spend(n) }

// Name returns the name given to CreateOutputs, StdoutName, or "" if nothing is written.
func (o *Outputs) Name() string { return o.name }

// IsDir reports whether the set is a directory.
func (o *Outputs) IsDir() bool {
	switch o.to.(type) {
	case *tree, *Scratch, *objectTree:
		return true
	}
	return false
}

// Atomic reports whether nothing is visible before Commit. If false, Abort leaves the bytes that were already written
// or sent.
func (o *Outputs) Atomic() bool {
	switch to := o.to.(type) {
	case *single:
		return to.out.Atomic()
	case *tree, *Scratch, *objectTree:
		return true
	}
	return false
}

// Written returns the number of bytes of all members that have reached their files.
func (o *Outputs) Written() int64 { return o.to.written() }

// Members returns the names of the members in the order of their creation. The caller owns the slice.
func (o *Outputs) Members() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.names...)
}

// Flush waits until all bytes written so far to open members have reached their files. It does not sync.
func (o *Outputs) Flush() error { return o.to.flush() }

// Commit closes the members that are still open and makes the set visible, with the guarantees of [Output.Commit]: if a
// step fails, including the write of a member, the destination is unchanged. A directory has two exceptions: if only
// the sync of the parent directory or the removal of the replaced directory failed, the new directory is in place.
// Later calls return the same error; after Abort it wraps ErrAborted.
//
// Linux and macOS exchange the directories atomically if the file system supports it. Otherwise an existing directory
// is first renamed aside, so that the name is missing for a moment; if the process is killed in that moment, the old
// directory remains next to the destination as .ntconv-NAME.RANDOM.old, which ntconv never removes. An empty directory
// is replaced atomically on every system except Windows, where it is removed first.
func (o *Outputs) Commit() error { return o.to.commit() }

// Abort removes all temporary files and leaves the destination unchanged. After Commit, or a second time, it does
// nothing.
func (o *Outputs) Abort() error { return o.to.Abort() }

// A single is a set of one file, object, or of standard output.
type single struct {
	out     oneOutput
	mu      sync.Mutex // guards created
	created bool
}

// A oneOutput is an Output, or an object of a store.
type oneOutput interface {
	Aborter
	io.Writer
	Name() string
	Atomic() bool
	Flush() error
	Written() int64
	Commit() error
	close() error
	located(op string, err error) error
}

func (s *single) create(member string) (*Member, error) {
	if member != "" {
		err := fmt.Errorf("%q: the output is one file and not a directory", member)
		return nil, &Error{Name: s.out.Name(), Op: "create member", Bytes: -1, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created {
		return nil, &Error{Name: s.out.Name(), Op: "create member", Bytes: -1, Err: errTwice}
	}
	s.created = true
	return &Member{name: s.out.Name(), to: s.out}, nil
}

func (s *single) written() int64 { return s.out.Written() }
func (s *single) flush() error   { return s.out.Flush() }
func (s *single) Abort() error   { return s.out.Abort() }

func (s *single) commit() error {
	s.mu.Lock()
	created := s.created
	s.mu.Unlock()
	if created {
		return s.out.Commit()
	}
	err := &Error{Name: s.out.Name(), Op: "commit", Bytes: -1, Err: errors.New("nothing was written")}
	return errors.Join(err, s.out.Abort())
}

// nothing is a set without members.
type nothing struct{ ending }

func (*nothing) create(member string) (*Member, error) {
	return nil, fmt.Errorf("create member %q: this output writes no files", member)
}

func (*nothing) written() int64 { return 0 }
func (*nothing) flush() error   { return nil }
func (n *nothing) commit() error {
	if n.end(stateCommitted) == stateAborted {
		return ErrAborted
	}
	return nil
}

func (n *nothing) Abort() error {
	n.end(stateAborted)
	return nil
}

// An ending is the state of an output that is committed or aborted, whichever comes first.
type ending struct {
	mu    sync.Mutex
	state outputState
}

// end changes the state from open to s. It returns the state that holds then.
func (n *ending) end(s outputState) outputState {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == stateOpen {
		n.state = s
	}
	return n.state
}
