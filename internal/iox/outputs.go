package iox

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// OutputsOptions change how a set of outputs is created. The zero value makes a directory of a name that ends in
// a slash or that an existing directory has, and one file of every other name.
type OutputsOptions struct {
	OutputOptions

	// Dir makes a directory regardless of the name. Standard output is then an error.
	Dir bool
	// File makes one file regardless of the name: an existing directory is an error that wraps EISDIR, as in
	// Create. Dir takes precedence.
	File bool
}

// Outputs is what one conversion writes: named members that are committed as a whole. A set is one file, one
// directory, standard output, or nothing at all (an upload). Commit or Abort must be called.
//
// One file and standard output have exactly one member, "", and behave as the [Output] of that name. A directory
// appears complete by a rename or not at all, even if the process is killed or the disk is full: its members
// are written in a temporary directory next to the destination. If no member was created, Commit makes an empty
// directory; for a file it is an error and no file appears.
//
// Create, Members, Written and Abort may be called from any goroutine. Flush and Commit must not run while another
// goroutine uses a member.
type Outputs struct {
	name  string
	to    target
	check func() error // may be nil
	quota *Quota       // may be nil
	mu    sync.Mutex   // guards names
	names []string
}

// A target is what a set writes to.
type target interface {
	Aborter
	create(member string) (*Member, error)
	written() int64
	flush() error
	commit() error
}

// CreateOutputs prepares the outputs of one conversion. The name "-" and /dev/stdout mean standard output.
// OutputsOptions says which names mean a directory.
//
// An existing file is an error that wraps fs.ErrExist unless Force is set, and so is an existing directory that
// is not empty. The check is made now and again by Commit, as in Create. A file is never replaced by a
// directory nor a directory by a file. With Force, the whole tree of an existing directory is replaced, except that a
// symbolic link, a root, the current directory, the home directory and the parents of both are always refused.
//
// Temporary files and directories that runs killed more than an hour ago left behind for the same destination
// are removed.
func CreateOutputs(name string, opts OutputsOptions) (*Outputs, error) {
	if opts.fs == nil {
		opts.fs = osFS{}
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

// NoOutputs returns a set that holds no file. Create fails, Commit and Abort change nothing. Its Name is "". What is
// sent elsewhere spends the quota, which may be nil.
func NoOutputs(quota *Quota) *Outputs { return &Outputs{to: new(nothing), quota: quota} }

// isDir reports whether a name means a directory.
func (opts *OutputsOptions) isDir(name string) bool {
	if opts.Dir || opts.File || isStdout(name) || name == "" {
		return opts.Dir
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		return true
	}
	info, err := opts.fs.stat(name)
	return err == nil && info.IsDir() // Create reports the error
}

// Create returns a new member. The member "" is the file or standard output itself; a second call is an error that
// wraps fs.ErrExist. In a directory, the name is a relative path with slashes that satisfies fs.ValidPath and the rules
// of the operating system; subdirectories are created. Members may be open at the same time. After Commit or Abort,
// Create fails.
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

// Spend adds n bytes to what the set has written, for bytes that go elsewhere, as those of an upload. The error is an
// *ntconv.LimitError if they exceed the quota.
func (o *Outputs) Spend(n int) error { return o.quota.Spend(n) }

// Name returns the name given to CreateOutputs, StdoutName, or "" if nothing is written.
func (o *Outputs) Name() string { return o.name }

// IsDir reports whether the set is a directory.
func (o *Outputs) IsDir() bool {
	_, dir := o.to.(*tree)
	return dir
}

// Atomic reports whether nothing is visible before Commit. If not, an Abort leaves what was already written, or
// uploaded by others if the set is NoOutputs.
func (o *Outputs) Atomic() bool {
	switch to := o.to.(type) {
	case *single:
		return to.out.Atomic()
	case *tree:
		return true
	}
	return false
}

// Written returns the bytes of all members that have reached their files so far.
func (o *Outputs) Written() int64 { return o.to.written() }

// Members returns the names of the members in the order of their creation. The slice belongs to the caller.
func (o *Outputs) Members() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.names...)
}

// Flush waits until everything written so far to open members has reached their files. It makes nothing durable.
func (o *Outputs) Flush() error { return o.to.flush() }

// Commit closes the members that are still open and makes the set visible, with the guarantees of
// [Output.Commit]: if any of it fails, the error of a member included, the destination is as before. A directory
// has two exceptions: if only the sync of the parent directory or the removal of the replaced directory failed,
// the new directory is in place. Further calls return the same result; after Abort it is ErrAborted.
//
// Linux and macOS exchange the directories atomically where the file system can. Elsewhere an existing directory
// is renamed aside first, so that for a moment nothing has its name; a process killed in that moment leaves the old
// directory next to the destination as .ntconv-NAME.RANDOM.old, which is never removed. An empty directory is
// replaced atomically on every system but Windows, where it is removed first.
func (o *Outputs) Commit() error { return o.to.commit() }

// Abort gives up: all temporary files are removed and the destination is as before. After Commit, or a second
// time, it does nothing.
func (o *Outputs) Abort() error { return o.to.Abort() }

// A single is a set of one file or of standard output.
type single struct {
	out     *Output
	mu      sync.Mutex // guards created
	created bool
}

func (s *single) create(member string) (*Member, error) {
	if member != "" {
		err := fmt.Errorf("%q: the output is one file and not a directory", member)
		return nil, &Error{Name: s.out.name, Op: "create member", Bytes: -1, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created {
		return nil, &Error{Name: s.out.name, Op: "create member", Bytes: -1, Err: errTwice}
	}
	s.created = true
	return &Member{name: s.out.name, to: s.out}, nil
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
	err := &Error{Name: s.out.name, Op: "commit", Bytes: -1, Err: errors.New("nothing was written")}
	return errors.Join(err, s.out.Abort())
}

// nothing is a set without members.
type nothing struct {
	mu    sync.Mutex
	state outputState
}

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

// end moves to a state unless one was reached before, and returns the one that holds.
func (n *nothing) end(s outputState) outputState {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == stateOpen {
		n.state = s
	}
	return n.state
}
