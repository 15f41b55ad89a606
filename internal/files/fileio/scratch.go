package fileio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/files/store"
)

// A Scratch is a set of outputs that its caller reads again and then discards: small members stay in memory, so that thousands of
// small tables cost no files, and larger ones are files of a directory, which are not synced. Commit and Abort of its Outputs end
// writing; Abort discards the members. Outputs.Create is safe for concurrent use.
type Scratch struct {
	dir   string
	shown string // name of the set of objects that the members become, or ""
	keep  int    // bytes of a member that stay in memory
	bytes atomic.Int64

	mu      sync.Mutex // guards the following fields
	aborted bool
	members map[string]*scratchMember
	order   []string
}

// NewScratch returns a set whose members of more than keep bytes are files in dir, which must exist. The caller removes them.
func NewScratch(dir string, keep int, o OutputOptions) (*Outputs, *Scratch) {
	s := &Scratch{dir: dir, keep: keep, members: make(map[string]*scratchMember)}
	return &Outputs{name: dir, to: s, check: o.Check, quota: o.Quota}, s
}

// A ScratchFile is a member of a Scratch: the file with that name, or the bytes if they are in memory.
type ScratchFile struct {
	Member string
	Name   string // "" if Data has the content
	Data   []byte
	Size   int64
}

// Files returns the members in the order of their creation. It is valid after the Commit of the Outputs; after Abort there are none.
func (s *Scratch) Files() (list []ScratchFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, member := range s.order {
		m := s.members[member]
		f := ScratchFile{Member: member, Size: m.count.Load()}
		if m.f != nil {
			f.Name = m.path
		} else {
			f.Data = m.buf.Bytes()
		}
		list = append(list, f)
	}
	return list
}

func (s *Scratch) create(member string) (*Member, error) {
	fail := func(err error) (*Member, error) {
		return nil, &Error{Name: s.dir, Op: "create member " + member, Bytes: -1, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, name, err := s.names(member)
	if err != nil {
		return fail(err)
	}
	if s.aborted {
		return fail(ErrAborted)
	}
	if s.members[member] != nil {
		return fail(errTwice)
	}
	m := &scratchMember{set: s, path: at, name: name}
	s.members[member] = m
	s.order = append(s.order, member)
	return &Member{name: name, to: m}, nil
}

// names returns the name of the file of a member, and that for errors. The caller holds mu.
func (s *Scratch) names(member string) (at, shown string, err error) {
	if s.shown != "" {
		at, err = s.objectMember(member)
		return at, store.Join(s.shown, member), err
	}
	local, err := filepath.Localize(member)
	if err != nil || filepath.Base(local) != local {
		return "", "", fmt.Errorf("not the name of a file: %w", fs.ErrInvalid)
	}
	at = filepath.Join(s.dir, local)
	return at, at, nil
}

// open returns a reader of a member. The caller calls done at the end.
func (f *ScratchFile) open() (r io.ReadSeeker, done func(), err error) {
	if f.Name == "" {
		return bytes.NewReader(f.Data), func() {}, nil
	}
	file, err := os.Open(f.Name)
	return file, func() { file.Close() }, err
}

func (s *Scratch) written() int64 { return s.bytes.Load() }
func (s *Scratch) flush() error   { return nil }

func (s *Scratch) commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted {
		return &Error{Name: s.dir, Op: "commit", Bytes: s.bytes.Load(), Err: ErrAborted}
	}
	var errs []error
	for _, member := range s.order {
		errs = append(errs, s.members[member].close())
	}
	return errors.Join(errs...)
}

// Abort implements Aborter.
func (s *Scratch) Abort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = true
	for _, m := range s.members {
		m.discard()
	}
	clear(s.members)
	s.order = nil
	return nil
}

// A scratchMember is a member of a Scratch. mu guards all but count, because Abort may come while the member is written.
type scratchMember struct {
	set   *Scratch
	path  string // of the file
	name  string // for errors
	count atomic.Int64

	mu     sync.Mutex
	buf    bytes.Buffer
	f      *os.File // nil while buf has everything
	closed bool
	err    error // sticky
}

// Write implements io.Writer.
func (m *scratchMember) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil || m.closed {
		return 0, m.located("write", errors.Join(m.err, closedError(m.closed)))
	}
	if m.f == nil && m.buf.Len()+len(p) > m.set.keep {
		m.spill()
	}
	n := len(p)
	switch {
	case m.err != nil:
		n = 0
	case m.f != nil:
		n, m.err = m.f.Write(p)
	default:
		m.buf.Write(p)
	}
	m.count.Add(int64(n))
	m.set.bytes.Add(int64(n))
	return n, m.located("write", m.err)
}

func closedError(closed bool) error {
	if closed {
		return fs.ErrClosed
	}
	return nil
}

// spill moves the member to a file.
func (m *scratchMember) spill() {
	if m.f, m.err = os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); m.err == nil {
		_, m.err = m.f.Write(m.buf.Bytes())
	}
	m.buf = bytes.Buffer{}
}

func (m *scratchMember) Flush() error   { return nil }
func (m *scratchMember) Written() int64 { return m.count.Load() }

func (m *scratchMember) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && m.f != nil {
		if err := m.f.Close(); m.err == nil {
			m.err = err
		}
	}
	if !m.closed && m.f == nil { // the buffer has up to twice the size
		m.buf = *bytes.NewBuffer(bytes.Clone(m.buf.Bytes()))
	}
	m.closed = true
	return m.located("close", m.err)
}

// discard ends the member.
func (m *scratchMember) discard() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && m.f != nil {
		m.f.Close() // the content is discarded
	}
	m.closed, m.err, m.buf = true, ErrAborted, bytes.Buffer{}
}

func (m *scratchMember) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: m.name, Op: op, Bytes: m.count.Load(), Err: err}
}
