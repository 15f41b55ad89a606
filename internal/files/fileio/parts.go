package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxMembers is the maximum number of entries of an archive, or of a directory with its subdirectories.
const maxMembers = 1 << 16

// errTooMany is the cause if maxMembers is exceeded.
var errTooMany = fmt.Errorf("more than %d members; copy the wanted ones to a directory of their own", maxMembers)

// openDir opens a directory.
func openDir(name string, opts InputOptions) (*Input, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
	}
	return newDir(name, root, opts, new(budget)), nil
}

func newDir(name string, root *os.Root, opts InputOptions, b *budget) *Input {
	in := &Input{name: name, size: -1, dir: root, closer: root, limits: *DefaultLimits(), budget: b}
	if opts.Limits != nil {
		in.limits = *opts.Limits
	}
	return in
}

// IsDir reports whether the input is a directory. A directory has members but no content: Stream fails with EISDIR.
func (in *Input) IsDir() bool { return in.dir != nil }

// Members returns the names of all regular files of a directory or of a zip archive, sorted: slash-separated paths that
// satisfy fs.ValidPath, relative to the input. In a directory they include the files of subdirectories and symbolic
// links to files within the directory; other links, pipes and devices are omitted. If a subdirectory cannot be read,
// Members returns the names of the others and the error.
//
// For other inputs, and for an archive without random access, the error wraps errors.ErrUnsupported. More than 65,536
// entries are an error.
func (in *Input) Members() ([]string, error) {
	var names []string
	var err error
	if in.dir != nil {
		names, err = listDir(in.dir)
	} else {
		var a *archive
		if a, err = in.archive(); err == nil {
			names = a.names()
		}
	}
	if err != nil {
		err = in.memberError("list members", err)
	}
	return names, err
}

// Member opens a member by a name that satisfies fs.ValidPath. In a directory the member may also be a subdirectory,
// and symbolic links within the directory are followed. The member has the limits of this input, except that
// Limits.Output bounds the decompressed bytes of all members together; a second reading of a member does not count.
// Close the member before this input. Errors wrap fs.ErrNotExist; fs.ErrInvalid for an invalid name and for a member
// that is not a file; and errors.ErrUnsupported if the input has no members.
//
// A member that its archive stores uncompressed has random access; its checksum is not verified.
func (in *Input) Member(name string) (*Input, error) {
	m, err := in.member(name)
	if err != nil {
		return nil, in.memberError("open member "+name, err)
	}
	return m, nil
}

func (in *Input) member(name string) (*Input, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("not a relative path with slashes inside the input: %w", fs.ErrInvalid)
	}
	if in.dir != nil {
		return in.dirMember(name)
	}
	a, err := in.archive()
	if err != nil {
		return nil, err
	}
	return a.open(in, name)
}

// memberError adds the name of the input and the operation to an error that has no location yet.
func (in *Input) memberError(op string, err error) error {
	var located *Error
	if errors.As(err, &located) {
		return err
	}
	return &Error{Name: in.name, Op: op, Bytes: -1, Err: err}
}

// dirMember opens a file or subdirectory. os.Root prevents access outside of the directory.
func (in *Input) dirMember(name string) (*Input, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, fmt.Errorf("not a file name of this system: %w", fs.ErrInvalid)
	}
	info, err := in.dir.Stat(local)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(in.name, local)
	opts := InputOptions{Limits: &in.limits}
	if info.IsDir() {
		root, err := in.dir.OpenRoot(local)
		if err != nil {
			return nil, err
		}
		return newDir(path, root, opts, in.budget), nil
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for its writer
		return nil, fmt.Errorf("not a regular file: %w", fs.ErrInvalid)
	}
	f, err := in.dir.Open(local)
	if err != nil {
		return nil, err
	}
	m, err := FromReader(path, f, opts)
	if err != nil {
		f.Close() // read only
		return nil, err
	}
	m.closer, m.budget = f, in.budget
	return m, nil
}

// listDir returns the files below root. It continues after an error and returns the first error.
func listDir(root *os.Root) ([]string, error) {
	var names []string
	var first error
	seen := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if first == nil {
				first = err
			}
			return nil // WalkDir reports an unreadable directory by a second call
		}
		if seen++; seen > maxMembers {
			return errTooMany
		}
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := root.Stat(filepath.FromSlash(name))
			if err != nil {
				return nil // dangling, or outside of the directory
			}
			mode = info.Mode()
		}
		if mode.IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // WalkDir visits a/b before a.b
	return names, first
}
