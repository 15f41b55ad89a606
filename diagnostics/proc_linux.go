package diagnostics

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of start times in /proc/PID/stat: USER_HZ, which is 100 on all architectures of .NET.
const ticksPerSecond = 100

// Limits of files in /proc.
const (
	maxProcFile    = 4 << 20  // bytes
	maxNetUnix     = 64 << 20 // bytes of the list of sockets
	maxNetUnixLine = 4 << 10
)

// A procFS is a mounted proc file system.
type procFS string

// A procStat is what /proc/PID/stat states.
type procStat struct {
	comm   string
	start  uint64 // ticks after the start of the system
	exited bool   // a zombie: its socket is closed
	kernel bool   // a thread of the kernel
}

// errProc means that a file of /proc has another format.
var errProc = errors.New("not a file of /proc")

// parseStat parses /proc/PID/stat: "PID (comm) state ppid ...". The name of the program may contain spaces and
// parentheses, so the fields begin after the last one.
func parseStat(b []byte) (s procStat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, errProc
	}
	const state, flags, start, kernelThread = 0, 6, 19, 0x200000 // fields 3, 9 and 22 in proc(5), and PF_KTHREAD of flags
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) <= start {
		return s, errProc
	}
	s.comm = string(b[open+1 : end])
	s.exited = fields[state] == "Z" || fields[state] == "X"
	bits, err := strconv.ParseUint(fields[flags], 10, 64)
	if err != nil {
		return s, errProc
	}
	s.kernel = bits&kernelThread != 0
	if s.start, err = strconv.ParseUint(fields[start], 10, 64); err != nil {
		return s, errProc
	}
	return s, nil
}

// A procStatus is what /proc/PID/status states.
type procStatus struct {
	inner  int   // process ID in the innermost PID namespace, 0 if it is not stated
	nested bool  // the process is in a PID namespace below the one of /proc
	uids   []int // real, effective, saved and of the file system
}

// parseStatus parses /proc/PID/status.
func parseStatus(b []byte) (s procStatus) {
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "NSpid":
			s.inner, s.nested = 0, false
			if ids := parseIDs(value); len(ids) > 0 {
				s.inner, s.nested = ids[len(ids)-1], len(ids) > 1
			}
		case "Uid":
			s.uids = parseIDs(value)
		}
	}
	return s
}

// parseIDs parses numbers between spaces, nil if one is invalid.
func parseIDs(text string) (ids []int) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || n > math.MaxInt32 && strconv.IntSize == 32 {
			return nil
		}
		ids = append(ids, int(n))
	}
	return ids
}

// parseTMPDIR returns the value of TMPDIR in an environment whose variables end with a NUL, "" if it is not an absolute
// path.
func parseTMPDIR(environ []byte) string {
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if dir, ok := bytes.CutPrefix(variable, []byte("TMPDIR=")); ok {
			if filepath.IsAbs(string(dir)) {
				return filepath.Clean(string(dir))
			}
			return ""
		}
	}
	return ""
}

// containerID matches a component of a cgroup that is a container: docker-ID.scope, cri-containerd-ID.scope, ID, and
// ID-NUMBER of ECS. The IDs of pods and of sessions have other forms.
var containerID = regexp.MustCompile(`^(?:[a-z]+-)*([0-9a-f]{12,64})(?:-[0-9]+)?(?:\.scope)?$`)

// parseContainer returns the ID of the innermost container in /proc/PID/cgroup, "" if there is none.
func parseContainer(b []byte) string {
	for line := range strings.Lines(string(b)) {
		components := strings.Split(strings.TrimSpace(line), "/")
		for _, c := range slices.Backward(components[min(1, len(components)):]) {
			if m := containerID.FindStringSubmatch(c); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// parseNetUnix returns the names of the .NET sockets in /proc/PID/net/unix that listen: lines of "address: count protocol
// flags type state inode path" with the flag of listening sockets.
func parseNetUnix(r io.Reader) map[string]bool {
	const listens = 0x10000 // __SO_ACCEPTCON
	found := map[string]bool{}
	lines := bufio.NewReaderSize(io.LimitReader(r, maxNetUnix), maxNetUnixLine)
	for {
		line, err := lines.ReadSlice('\n')
		if fields := strings.Fields(string(line)); len(fields) >= 8 && bytes.Contains(line, []byte("/dotnet-diagnostic-")) {
			flags, ferr := strconv.ParseUint(fields[3], 16, 64)
			if ferr == nil && flags&listens != 0 {
				found[filepath.Base(fields[len(fields)-1])] = true
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return found
		}
	}
}

// read reads a file of a process.
func (f procFS) read(pid int, name string) ([]byte, error) {
	file, err := os.Open(f.path(pid, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxProcFile))
}

// path returns the path of a file of a process.
func (f procFS) path(pid int, name string) string {
	return filepath.Join(string(f), strconv.Itoa(pid), name)
}

// pids returns the IDs of all processes in ascending order.
func (f procFS) pids() ([]int, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if pid, err := strconv.ParseInt(e.Name(), 10, 32); err == nil && pid > 0 {
			list = append(list, int(pid))
		}
	}
	slices.Sort(list)
	return list, nil
}

// booted returns the start of the system, zero if it is unknown.
func (f procFS) booted() time.Time {
	b, err := os.ReadFile(filepath.Join(string(f), "stat"))
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			if s, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return time.Unix(s, 0)
			}
		}
	}
	return time.Time{}
}

// programName returns the base name of the program of a command line whose arguments end with a NUL, "" if there is none.
func programName(cmdline []byte) string {
	program, _, _ := bytes.Cut(cmdline, []byte{0})
	if len(program) == 0 {
		return ""
	}
	return filepath.Base(string(program))
}
