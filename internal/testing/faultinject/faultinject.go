//go:build linux && amd64

// Package faultinject runs a program and makes one of its system calls fail, so that tests can check the behavior of
// the whole program. It traces the program with ptrace(2) and counts the calls that concern files of the test.
package faultinject

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// A Call is a system call that concerns a file of the test.
type Call struct {
	Name string // name, such as "write"
	Path string // path as the program or the kernel names the file; "stdin" and "stdout" for these
	// Write means that the call has an effect: it writes, or creates or removes a name.
	Write bool
}

func (c Call) String() string { return c.Name + " " + c.Path }

// A Fault describes how a call fails. The zero value lets all calls succeed.
type Fault struct {
	At      int           // number of the call, counting from 1
	Err     syscall.Errno // the call returns Err instead of being executed; close is executed, too
	Persist bool          // all later calls with the same name fail as well
	Short   bool          // instead, the call reads or writes only half of its bytes
	Kill    bool          // instead, the process is killed before the call
}

// A Command describes a program run.
type Command struct {
	Path                  string
	Args                  []string // arguments without the name of the program
	Dir                   string
	Env                   []string
	Stdin, Stdout, Stderr *os.File // must not be nil
	// Files are the files and directories whose calls are counted. Calls on standard input and output are always
	// counted.
	Files []string
}

// A Result describes a finished run.
type Result struct {
	Calls  []Call // all counted calls
	Hit    *Call  // the call that failed, nil if the program made fewer calls
	Status syscall.WaitStatus
}

const (
	traceOptions = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK |
		syscall.PTRACE_O_TRACEEXEC | exitKill
	exitKill       = 0x100000   // PTRACE_O_EXITKILL
	getSyscallInfo = 0x420e     // PTRACE_GET_SYSCALL_INFO
	waitOwn        = 0x20000000 // __WNOTHREAD: only children of this thread
	stopSyscall    = syscall.SIGTRAP | 0x80
)

// A tracer traces one run.
type tracer struct {
	pid     int
	fault   Fault
	files   []string
	result  Result
	pending map[int]syscall.Errno // by thread: the result of the current call
	seen    map[int]bool          // known threads
}

// Run runs a command. It returns an error if tracing fails. It does not use errors.ErrUnsupported, so a test that may
// run where tracing is forbidden first tries a run without a fault.
func Run(c *Command, f Fault) (*Result, error) {
	runtime.LockOSThread() // ptrace works per thread
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(c.Path, append([]string{c.Path}, c.Args...), &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: []uintptr{c.Stdin.Fd(), c.Stdout.Fd(), c.Stderr.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s under ptrace: %w", c.Path, err)
	}
	t := &tracer{pid: pid, fault: f, files: c.Files, pending: map[int]syscall.Errno{}, seen: map[int]bool{pid: true}}
	if err := t.run(); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
		return nil, err
	}
	return &t.result, nil
}

func (t *tracer) run() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, 0, nil); err != nil {
		return fmt.Errorf("wait for the program to start: %w", err)
	}
	if err := syscall.PtraceSetOptions(t.pid, traceOptions); err != nil {
		return fmt.Errorf("ptrace options: %w", err)
	}
	tid, signal := t.pid, 0
	for {
		// The thread may have been killed meanwhile; Wait4 reports it.
		_ = syscall.PtraceSyscall(tid, signal)
		var err error
		for {
			tid, err = syscall.Wait4(-1, &status, syscall.WALL|waitOwn, nil)
			if err != syscall.EINTR {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("wait for the program: %w", err)
		}
		signal = 0
		switch {
		case status.Exited() || status.Signaled():
			if tid == t.pid {
				t.result.Status = status
				return nil
			}
		case status.StopSignal() == stopSyscall:
			if err := t.stopped(tid); err != nil && err != syscall.ESRCH {
				return err
			}
		case status.StopSignal() == syscall.SIGTRAP && status.TrapCause() > 0: // a thread was created
		case status.StopSignal() == syscall.SIGSTOP && !t.seen[tid]: // a new thread starts
			t.seen[tid] = true
		default:
			signal = int(status.StopSignal())
		}
	}
}

// syscallInfo is the required part of struct ptrace_syscall_info in linux/ptrace.h.
type syscallInfo struct {
	op   uint8 // 1 before a call, 2 after it
	_    [3]uint8
	arch uint32
	_    [2]uint64
	nr   uint64
	args [6]uint64
	_    [8]byte
}

// stopped is called before and after each call of a thread.
func (t *tracer) stopped(tid int) error {
	var info syscallInfo
	_, _, errno := syscall.Syscall6(
		syscall.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0,
	)
	if errno != 0 {
		return errno
	}
	if info.op == 2 {
		return t.after(tid)
	}
	call, ok := t.describe(tid, &info)
	if !ok {
		return nil
	}
	t.result.Calls = append(t.result.Calls, call)
	switch n := len(t.result.Calls); {
	case n == t.fault.At:
		t.result.Hit = &call
	case t.fault.Persist && t.result.Hit != nil && t.result.Hit.Name == call.Name:
	default:
		return nil
	}
	return t.inject(tid, call.Name)
}

// inject makes the next call of a thread fail.
func (t *tracer) inject(tid int, name string) error {
	if t.fault.Kill {
		return syscall.Kill(t.pid, syscall.SIGKILL)
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	switch {
	case t.fault.Short:
		regs.Rdx /= 2 // the size argument of read, write, pread64 and pwrite64
	case name == "close":
		t.pending[tid] = t.fault.Err
		return nil
	default:
		t.pending[tid] = t.fault.Err
		regs.Orig_rax = ^uint64(0) // no call
	}
	return syscall.PtraceSetRegs(tid, &regs)
}

// after sets the result of a call that inject has changed.
func (t *tracer) after(tid int) error {
	errno, ok := t.pending[tid]
	if !ok {
		return nil
	}
	delete(t.pending, tid)
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Rax = uint64(-int64(errno))
	return syscall.PtraceSetRegs(tid, &regs)
}

// A spec states which arguments of a call identify a file.
type spec struct {
	name  string
	fd    int // index of a descriptor, -1 if there is none
	path  int // index of a path relative to fd or to the current directory, -1 if there is none
	write bool
}

var specs = map[uint64]spec{
	syscall.SYS_READ:       {"read", 0, -1, false},
	syscall.SYS_PREAD64:    {"pread64", 0, -1, false},
	syscall.SYS_WRITE:      {"write", 0, -1, true},
	syscall.SYS_PWRITE64:   {"pwrite64", 0, -1, true},
	syscall.SYS_CLOSE:      {"close", 0, -1, false},
	syscall.SYS_FSTAT:      {"fstat", 0, -1, false},
	syscall.SYS_LSEEK:      {"lseek", 0, -1, false},
	syscall.SYS_FSYNC:      {"fsync", 0, -1, true},
	syscall.SYS_FDATASYNC:  {"fdatasync", 0, -1, true},
	syscall.SYS_FTRUNCATE:  {"ftruncate", 0, -1, true},
	syscall.SYS_FLOCK:      {"flock", 0, -1, false},
	syscall.SYS_FCHMOD:     {"fchmod", 0, -1, true},
	syscall.SYS_GETDENTS64: {"getdents64", 0, -1, false},
	syscall.SYS_OPENAT:     {"openat", -1, 1, false},
	syscall.SYS_NEWFSTATAT: {"newfstatat", -1, 1, false},
	syscall.SYS_READLINKAT: {"readlinkat", -1, 1, false},
	syscall.SYS_MKDIRAT:    {"mkdirat", -1, 1, true},
	syscall.SYS_FCHMODAT:   {"fchmodat", -1, 1, true},
	syscall.SYS_UNLINKAT:   {"unlinkat", -1, 1, true},
	syscall.SYS_LINKAT:     {"linkat", -1, 3, true},
	syscall.SYS_RENAME:     {"rename", -1, 1, true},
	syscall.SYS_RENAMEAT:   {"renameat", -1, 3, true},
	sysRenameat2:           {"renameat2", -1, 3, true},
	sysStatx:               {"statx", -1, 1, false},
	sysCopyFileRange:       {"copy_file_range", 2, -1, true},
}

const (
	sysRenameat2     = 316
	sysStatx         = 332
	sysCopyFileRange = 326
)

// describe returns the next call of a thread and whether it concerns a file of the test.
func (t *tracer) describe(tid int, info *syscallInfo) (Call, bool) {
	s, ok := specs[info.nr]
	if !ok {
		return Call{}, false
	}
	c := Call{Name: s.name, Write: s.write}
	if s.fd >= 0 {
		switch fd := int32(info.args[s.fd]); fd {
		case 0:
			c.Path = "stdin"
			return c, s.name == "read"
		case 1:
			c.Path = "stdout"
			return c, s.name == "write"
		case 2:
			return c, false
		default:
			c.Path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd))
		}
		return c, t.concerns(c.Path)
	}
	if c.Path = peekString(tid, info.args[s.path]); !filepath.IsAbs(c.Path) {
		dir := fmt.Sprintf("/proc/%d/cwd", t.pid)
		if fd := int32(info.args[s.path-1]); s.path > 0 && s.name != "rename" && fd >= 0 {
			dir = fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd)
		}
		dir, _ = os.Readlink(dir)
		c.Path = filepath.Join(dir, c.Path)
	}
	if s.name == "openat" && info.args[2]&(syscall.O_CREAT|syscall.O_WRONLY|syscall.O_RDWR) != 0 {
		c.Write = true
	}
	return c, t.concerns(c.Path)
}

func (t *tracer) concerns(path string) bool {
	for _, f := range t.files {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}

// peekString reads a string that ends with a zero byte from the memory of a thread.
func peekString(tid int, at uint64) string {
	var b []byte
	for len(b) < 4096 {
		var word [8]byte
		n, err := syscall.PtracePeekData(tid, uintptr(at)+uintptr(len(b)), word[:])
		if err != nil {
			return string(b)
		}
		for _, c := range word[:n] {
			if c == 0 {
				return string(b)
			}
			b = append(b, c)
		}
	}
	return string(b)
}
