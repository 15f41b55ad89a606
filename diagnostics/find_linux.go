package diagnostics

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// find implements Find.
func find() ([]Process, error) {
	f := finder{
		proc: "/proc", self: os.Getpid(), temp: []string{os.TempDir(), "/tmp"},
		permits: func(path string) bool {
			const write = 2 // W_OK
			return syscall.Access(path, write) == nil
		},
	}
	return f.find()
}

// A finder looks for sockets. The fields that are set by the caller are those that tests replace.
type finder struct {
	proc    procFS
	self    int                    // ID of this process
	temp    []string               // temporary directories of this process; the last one is that of processes without TMPDIR
	permits func(path string) bool // whether this user may connect to a socket

	mounts    string // mount namespace of this process
	processes []*candidate
	dirs      map[fileID]*directory
	order     []*directory               // dirs as they were found, so that results do not vary
	listeners map[string]map[string]bool // names of listening sockets by network namespace, nil if they are not readable
}

// A candidate is a process that may be a .NET process.
type candidate struct {
	pid int
	procStat
	procStatus
	temp  string // TMPDIR, "" if it is not set or not readable
	found bool   // a socket of the process has been found
}

// A fileID identifies a directory, which may have several paths.
type fileID struct{ device, inode uint64 }

// A directory has the sockets of one temporary directory.
type directory struct {
	path    string
	foreign bool // path is that of a process with another file system, and is valid as long as this process exists
	sockets []*socket
	users   []*candidate // processes with this temporary directory
}

// A socket is a file with the name of a diagnostic socket.
type socket struct {
	path, name string
	pid        int // in the name
	key        uint64
	uid        int
	owner      *candidate
}

// find returns the processes: first those whose socket is in their own temporary directory, then those whose socket is
// elsewhere, then sockets without a process, and processes that listen in a directory that is not readable.
func (f *finder) find() ([]Process, error) {
	if err := f.readProcesses(); err != nil {
		return nil, err
	}
	f.mounts, _ = os.Readlink(f.proc.path(f.self, "ns/mnt"))
	f.dirs, f.listeners = map[fileID]*directory{}, map[string]map[string]bool{}
	for _, path := range f.temp {
		f.directory(path)
	}
	for _, c := range f.processes {
		if d := f.tempOf(c); d != nil {
			d.users = append(d.users, c)
		}
	}
	for _, d := range f.order {
		for _, s := range d.sockets {
			if s.claim(d.users); s.owner != nil && d.foreign {
				s.path = filepath.Join(f.proc.path(s.owner.pid, "root")+f.tempPath(s.owner), s.name)
			}
		}
	}
	var list []Process
	booted := f.proc.booted()
	for _, d := range f.order {
		for _, s := range d.sockets {
			if s.owner == nil {
				s.claim(f.processes)
			}
			list = append(list, f.process(s, d, booted))
		}
	}
	list = append(list, f.unreadable(booted)...)
	sortProcesses(list)
	return list, nil
}

// readProcesses reads what is needed to recognize the sockets of processes. Processes that exit meanwhile are omitted.
func (f *finder) readProcesses() error {
	pids, err := f.proc.pids()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		b, err := f.proc.read(pid, "stat")
		if err != nil {
			continue
		}
		c := &candidate{pid: pid}
		if c.procStat, err = parseStat(b); err != nil || c.exited || c.kernel {
			continue
		}
		if b, err = f.proc.read(pid, "status"); err == nil {
			c.procStatus = parseStatus(b)
		}
		c.inner = cmp.Or(c.inner, pid)
		if b, err = f.proc.read(pid, "environ"); err == nil {
			c.temp = parseTMPDIR(b)
		}
		f.processes = append(f.processes, c)
	}
	return nil
}

// tempOf returns the temporary directory of a process, as it sees it: services of systemd have a /tmp of their own, too.
// If the file system of the process is not readable, it is that with the same path here.
func (f *finder) tempOf(c *candidate) *directory {
	path := f.tempPath(c)
	plain := f.directory(path)
	known := len(f.order)
	own := f.directory(f.proc.path(c.pid, "root") + path)
	if own == nil {
		return plain
	}
	own.foreign = own.foreign || len(f.order) > known
	return own
}

// tempPath returns the path of the temporary directory of a process in its file system.
func (f *finder) tempPath(c *candidate) string { return cmp.Or(c.temp, f.temp[len(f.temp)-1]) }

// directory returns a directory with its sockets, nil if it is not readable. A directory that was read by another path
// keeps that path.
func (f *finder) directory(path string) *directory {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	id := identify(info)
	if d := f.dirs[id]; d != nil {
		return d
	}
	d := &directory{path: path}
	f.dirs[id], f.order = d, append(f.order, d)
	file, err := os.Open(path)
	if err != nil {
		return d
	}
	defer func() { _ = file.Close() }()
	names, _ := file.Readdirnames(-1) // those before an error
	slices.Sort(names)
	for _, name := range names {
		if s := newSocket(path, name); s != nil {
			d.sockets = append(d.sockets, s)
		}
	}
	return d
}

// identify returns the ID of a file.
func identify(info os.FileInfo) fileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(s.Dev), s.Ino} //nolint:unconvert // Dev has another type on other architectures
}

// newSocket returns the socket with a name, nil if it is not one.
func newSocket(dir, name string) *socket {
	pid, key, ok := parseSocketName(name)
	if !ok {
		return nil
	}
	s := &socket{path: filepath.Join(dir, name), name: name, pid: pid, key: key, uid: -1}
	info, err := os.Lstat(s.path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return nil
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.uid = int(stat.Uid)
	}
	return s
}

// claim assigns the socket to the process that created it: with its process ID, start time and user. The user matters
// because all users may create a file with any name in /tmp.
func (s *socket) claim(processes []*candidate) {
	for _, c := range processes {
		if !c.found && c.inner == s.pid && c.start == s.key && (c.uids == nil || slices.Contains(c.uids, s.uid)) {
			s.owner, c.found = c, true
			return
		}
	}
}

// process returns the description of a socket.
func (f *finder) process(s *socket, d *directory, booted time.Time) Process {
	if s.owner == nil {
		return f.ownerless(s, d, booted)
	}
	p := f.describe(s.owner, booted)
	p.Socket, p.UID, p.User = s.path, s.uid, userName(s.uid)
	switch names := f.listening(s.owner.pid); {
	case !f.permits(s.path):
		p.State = Denied
	case names != nil && !names[s.name]: // the process has become another program, which did not remove the socket
		p.State = probe(s.path)
	}
	return p
}

// ownerless returns the description of a socket whose process is not known: the process was killed, or it is in a
// container that shares the directory and whose processes are not visible here. If one process of the directory has the
// process ID, it may count the start time from another moment, which time namespaces permit.
func (f *finder) ownerless(s *socket, d *directory, booted time.Time) Process {
	p := Process{PID: s.pid, InnerPID: s.pid, Socket: s.path, UID: s.uid, User: userName(s.uid), State: Stale}
	if !f.permits(s.path) || probe(s.path) != Listening {
		return p
	}
	var same []*candidate
	for _, c := range d.users {
		if c.inner == s.pid && !c.found && c.inner != c.pid {
			same = append(same, c)
		}
	}
	if len(same) == 1 {
		p = f.describe(same[0], booted)
		p.Socket, p.UID, p.User = s.path, s.uid, userName(s.uid)
		return p
	}
	p.PID, p.State = 0, Listening
	return p
}

// describe returns what /proc states about a process.
func (f *finder) describe(c *candidate, booted time.Time) Process {
	p := Process{PID: c.pid, InnerPID: c.inner, Name: c.comm, UID: -1}
	if len(c.uids) > 1 {
		p.UID = c.uids[1]
		p.User = userName(p.UID)
	}
	if b, err := f.proc.read(c.pid, "cmdline"); err == nil {
		if name := programName(b); name != "" {
			p.Name = name
		}
		p.CommandLine = strings.TrimRight(strings.ReplaceAll(string(b), "\x00", " "), " ")
	}
	p.Container = f.containerOf(c)
	if seconds := c.start / ticksPerSecond; !booted.IsZero() && seconds < 1<<33 {
		p.Started = booted.Add(time.Duration(seconds) * time.Second)
	}
	return p
}

// containerOf returns the ID of the container of a process, "" for the one of this process. Other programs, too, give
// control groups names that look like IDs, but a container has a PID namespace or a mount namespace of its own.
func (f *finder) containerOf(c *candidate) string {
	if mounts, err := os.Readlink(f.proc.path(c.pid, "ns/mnt")); !c.nested && (err != nil || mounts == f.mounts) {
		return ""
	}
	b, err := f.proc.read(c.pid, "cgroup")
	if err != nil {
		return ""
	}
	return parseContainer(b)
}

// listening returns the names of the .NET sockets that listen in the network namespace of a process, nil if they are not
// known.
func (f *finder) listening(pid int) map[string]bool {
	namespace, err := os.Readlink(f.proc.path(pid, "ns/net"))
	if err != nil {
		return nil
	}
	names, ok := f.listeners[namespace]
	if !ok {
		if file, err := os.Open(f.proc.path(pid, "net/unix")); err == nil {
			names = parseNetUnix(file)
			_ = file.Close()
		}
		f.listeners[namespace] = names
	}
	return names
}

// unreadable returns the processes that listen in a directory that is not readable: the kernel lists their sockets.
func (f *finder) unreadable(booted time.Time) (list []Process) {
	f.listening(f.self)
	for _, names := range f.listeners {
		for name := range names {
			pid, key, ok := parseSocketName(name)
			if !ok {
				continue
			}
			for _, c := range f.processes {
				if !c.found && c.inner == pid && c.start == key {
					c.found = true
					p := f.describe(c, booted)
					p.State = Denied
					list = append(list, p)
				}
			}
		}
	}
	return list
}
