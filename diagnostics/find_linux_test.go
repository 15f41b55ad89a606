package diagnostics

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	idA = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	idB = "fedcba9876543210"
)

// A tree is a proc file system for tests, with the directories that its processes see.
type tree struct {
	t    *testing.T
	proc string
	unix []string // lines of net/unix
}

func newTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{t: t, proc: t.TempDir()}
	tr.write("stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 1\n")
	return tr
}

func (tr *tree) write(name, text string) {
	tr.t.Helper()
	path := filepath.Join(tr.proc, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tr.t.Fatal(err)
	}
}

// A fakeProc is a process of a tree.
type fakeProc struct {
	pid, inner int
	comm       string
	state      string
	start      int
	tmpdir     string // "-" makes environ unreadable
	root       string
	cgroup     string
	cmdline    string
	uid        int
}

func (tr *tree) add(p fakeProc) {
	tr.t.Helper()
	dir := strconv.Itoa(p.pid)
	state := p.state
	if state == "" {
		state = "S"
	}
	tr.write(dir+"/stat", fmt.Sprintf("%d (%s) %s 1 2 3 4 5 4194560 7 8 9 10 11 12 13 14 15 16 17 18 %d 20 21\n", p.pid, p.comm, state, p.start))
	ids := strconv.Itoa(p.pid)
	if p.inner > 0 {
		ids += "\t" + strconv.Itoa(p.inner)
	}
	tr.write(dir+"/status", fmt.Sprintf("Name:\tx\nUid:\t%d\t%d\t%d\t%d\nNSpid:\t%s\n", p.uid, p.uid, p.uid, p.uid, ids))
	if p.tmpdir != "-" {
		env := "PATH=/bin\x00"
		if p.tmpdir != "" {
			env += "TMPDIR=" + p.tmpdir + "\x00"
		}
		tr.write(dir+"/environ", env)
	}
	tr.write(dir+"/cgroup", p.cgroup)
	tr.write(dir+"/cmdline", p.cmdline)
	tr.write(dir+"/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"+strings.Join(tr.unix, "\n")+"\n")
	tr.link("net:[1]", dir+"/ns/net")
	if p.root == "" {
		tr.link("mnt:[1]", dir+"/ns/mnt")
	} else {
		tr.link("mnt:[2]", dir+"/ns/mnt")
		tr.link(p.root, dir+"/root")
	}
}

func (tr *tree) link(target, name string) {
	tr.t.Helper()
	path := filepath.Join(tr.proc, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		tr.t.Fatal(err)
	}
}

// listen creates a socket in a directory, and adds it to net/unix. A stale one is closed at once.
func (tr *tree) listen(dir string, pid, key int, stale bool) string {
	tr.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tr.t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("dotnet-diagnostic-%d-%d-socket", pid, key))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		tr.t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if stale {
		_ = l.Close()
		return path
	}
	tr.t.Cleanup(func() { _ = l.Close() })
	tr.kernel(path)
	return path
}

// kernel adds a listening socket to net/unix.
func (tr *tree) kernel(path string) {
	tr.unix = append(tr.unix, "00000000415c6b98: 00000002 00000000 00010000 0001 01 124780 "+path)
}

// shortDir returns a directory whose sockets fit into an address even below /proc/PID/root.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "find")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestFindTree(t *testing.T) {
	tr, own := newTree(t), shortDir(t)
	theirs := shortDir(t)
	box := shortDir(t) // root of a container
	uid := os.Getuid()
	paths := []string{
		tr.listen(own, 100, 5000, false),
		tr.listen(theirs, 101, 5100, false),
		tr.listen(filepath.Join(box, "tmp", "none"), 1, 5200, false),
		tr.listen(filepath.Join(box, "var", "t"), 7, 5300, false),
		tr.listen(own, 104, 1, true), // PID reused
		tr.listen(own, 999, 1, true), // no such process
		tr.listen(own, 106, 5600, true),
		tr.listen(own, 107, 5700, true), // became another program
		tr.listen(own, 55, 55, false),   // in a container that is not visible
		tr.listen(own, 109, 5900, false),
	}
	if err := os.WriteFile(filepath.Join(own, "dotnet-diagnostic-110-6000-socket"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tr.listen(own, 111, 6100, true)
	tr.kernel("/home/other/tmp/dotnet-diagnostic-112-6200-socket")
	tr.kernel("/somewhere/else")
	tr.add(fakeProc{pid: 3, comm: "ntconv", start: 1, tmpdir: own, uid: uid, cgroup: "0::/docker/" + idB + "\n"})
	tr.add(fakeProc{pid: 100, comm: "a) S 1 (b", start: 5000, tmpdir: own, uid: uid, cgroup: "0::/docker/" + idB + "\n", cmdline: "/usr/bin/my app\x00run\x00\x1b[2J\x00"})
	tr.add(fakeProc{pid: 101, comm: ".NET (x) y", start: 5100, tmpdir: theirs, uid: uid})
	tr.add(fakeProc{pid: 90, comm: "sh", start: 5190, root: box, uid: uid}) // started the program, and may exit before it
	tr.add(fakeProc{pid: 102, inner: 1, comm: "shop", start: 5200, root: box, uid: uid, cgroup: "12:cpu:/\n0::/system.slice/docker-" + idA + ".scope\n"})
	tr.add(fakeProc{pid: 103, inner: 7, comm: "shop", start: 5300, root: box, tmpdir: "/var/t", uid: uid, cgroup: "0::/kubepods/pod12345678-1234-1234-1234-123456789012/" + idA + "\n"})
	tr.add(fakeProc{pid: 104, comm: "bash", start: 5400, tmpdir: own, uid: uid})
	tr.add(fakeProc{pid: 106, comm: "zombie", start: 5600, state: "Z", tmpdir: own, uid: uid})
	tr.add(fakeProc{pid: 107, comm: "bash", start: 5700, tmpdir: own, uid: uid})
	tr.add(fakeProc{pid: 109, comm: "denied", start: 5900, tmpdir: "-", uid: uid})
	tr.add(fakeProc{pid: 110, comm: "file", start: 6000, tmpdir: own, uid: uid})
	tr.add(fakeProc{pid: 111, comm: "other", start: 6100, tmpdir: own, uid: uid + 1}) // and the socket is not that user's
	tr.add(fakeProc{pid: 112, comm: "hidden", start: 6200, tmpdir: "-", uid: uid + 1})
	tr.write("self/x", "")
	tr.write("200/stat", "garbage")
	tr.write("201/x", "exited")

	f := finder{proc: procFS(tr.proc), self: 3, temp: []string{own, "/tmp/none/"}, permits: func(path string) bool {
		return !strings.Contains(path, "-109-")
	}}
	list, err := f.find()
	if err != nil {
		t.Fatal(err)
	}
	inBox := func(pid int, path string) string {
		return filepath.Join(tr.proc, strconv.Itoa(pid), "root") + strings.TrimPrefix(path, box)
	}
	boot := time.Unix(1700000000, 0)
	name := userName(uid)
	want := []Process{
		{PID: 0, InnerPID: 55, Socket: paths[8], UID: uid, User: name},
		{PID: 100, InnerPID: 100, Name: "my app", CommandLine: "/usr/bin/my app run \x1b[2J", Socket: paths[0], UID: uid, User: name, Started: boot.Add(50 * time.Second)},
		{PID: 101, InnerPID: 101, Name: ".NET (x) y", Socket: paths[1], UID: uid, User: name, Started: boot.Add(51 * time.Second)},
		{PID: 102, InnerPID: 1, Name: "shop", Socket: inBox(102, paths[2]), UID: uid, User: name, Container: idA, Started: boot.Add(52 * time.Second)},
		{PID: 103, InnerPID: 7, Name: "shop", Socket: inBox(103, paths[3]), UID: uid, User: name, Container: idA, Started: boot.Add(53 * time.Second)},
		{PID: 104, InnerPID: 104, Socket: paths[4], UID: uid, User: name, State: Stale},
		{PID: 106, InnerPID: 106, Socket: paths[6], UID: uid, User: name, State: Stale},
		{PID: 107, InnerPID: 107, Name: "bash", Socket: paths[7], UID: uid, User: name, Started: boot.Add(57 * time.Second), State: Stale},
		{PID: 109, InnerPID: 109, Name: "denied", Socket: paths[9], UID: uid, User: name, Started: boot.Add(59 * time.Second), State: Denied},
		{PID: 111, InnerPID: 111, Socket: filepath.Join(own, "dotnet-diagnostic-111-6100-socket"), UID: uid, User: name, State: Stale},
		{PID: 112, InnerPID: 112, Name: "hidden", UID: uid + 1, User: userName(uid + 1), Started: boot.Add(62 * time.Second), State: Denied},
		{PID: 999, InnerPID: 999, Socket: paths[5], UID: uid, User: name, State: Stale},
	}
	if len(list) != len(want) {
		t.Errorf("%d processes, want %d", len(list), len(want))
	}
	for i := range min(len(list), len(want)) {
		if list[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", list[i], want[i])
		}
	}
}

// Without a list of sockets of the kernel, and with a start time that is counted from another moment.
func TestFindNamespaces(t *testing.T) {
	tr, own, box := newTree(t), shortDir(t), shortDir(t)
	path := tr.listen(filepath.Join(box, "tmp", "none"), 1, 77, false)
	tr.add(fakeProc{pid: 300, inner: 1, comm: "shop", start: 9900, root: box, uid: os.Getuid()})
	if err := os.RemoveAll(filepath.Join(tr.proc, "300", "net")); err != nil {
		t.Fatal(err)
	}
	f := finder{proc: procFS(tr.proc), self: 300, temp: []string{own, "/tmp/none"}, permits: func(string) bool { return true }}
	list, err := f.find()
	if err != nil || len(list) != 1 || list[0].PID != 300 || list[0].InnerPID != 1 || list[0].State != Listening || filepath.Base(list[0].Socket) != filepath.Base(path) {
		t.Errorf("%+v, %v", list, err)
	}
	f = finder{proc: procFS(filepath.Join(own, "none"))}
	if list, err := f.find(); !os.IsNotExist(err) {
		t.Errorf("%+v, %v", list, err)
	}
}

// Find sees a socket of this very process.
func TestFindSelf(t *testing.T) {
	dir := shortDir(t)
	t.Setenv("TMPDIR", dir) // this changes os.TempDir, and not /proc/self/environ
	b, err := procFS("/proc").read(os.Getpid(), "stat")
	if err != nil {
		t.Skip(err)
	}
	s, err := parseStat(b)
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{t: t}
	path := tr.listen(dir, os.Getpid(), int(s.start), false)
	stale := tr.listen(dir, os.Getpid(), int(s.start)+1, true)
	list, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range list {
		switch p.Socket {
		case path:
			if p.State != Listening || p.PID != os.Getpid() || time.Since(p.Started) > time.Hour {
				t.Errorf("%+v", p)
			}
			found++
		case stale:
			if p.State != Stale {
				t.Errorf("%+v", p)
			}
			found++
		}
	}
	if found != 2 {
		t.Errorf("%+v", list)
	}
}

func TestParseProc(t *testing.T) {
	for text, want := range map[string]string{
		"0::/":                                   "",
		"0::/user.slice/user-1000.slice/x.scope": "",
		"0::/docker/" + idA:                      idA,
		"0::/system.slice/docker-" + idA + ".scope": idA,
		"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod12345678_1234_1234_1234_123456789012.slice/cri-containerd-" + idA + ".scope": idA,
		"1:name=systemd:/\n5:memory:/ecs/task/" + idB + "-1234567\n0::/":                                                                                  idB,
		"0::/kubepods/besteffort/pod12345678-1234-1234-1234-123456789012":                                                                                 "",
		"0::/system.slice/docker-" + idB + ".scope/init.scope":                                                                                            idB,
		"0::/machine.slice/libpod-" + idA + ".scope/container":                                                                                            idA,
		"":  "",
		"x": "",
	} {
		if got := parseContainer([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"TMPDIR=/a/../b\x00": "/b", "A=1\x00TMPDIR=rel\x00": "", "XTMPDIR=/a\x00": "", "TMPDIR=/../../x": "/x", "": "",
	} {
		if got := parseTMPDIR([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "1 (a", "1 )a(", "1 (a) S", "1 (a) S 1 2 3 4 5 x 7 8 9 10 11 12 13 14 15 16 17 18 19 20", "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -1 20"} {
		if s, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if s, err := parseStat([]byte("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 26 0 0")); err != nil || !s.kernel || s.start != 26 {
		t.Errorf("%+v, %v", s, err)
	}
	for name, ok := range map[string]bool{
		"dotnet-diagnostic-1-2-socket": true, "dotnet-diagnostic-0-2-socket": false, "dotnet-diagnostic-9999999999-2-socket": false,
		"dotnet-diagnostic-1-99999999999999999999-socket": false, "dotnet-diagnostic-dsrouter-1-2-socket": false, "dotnet-diagnostic-1-2-socket2": false,
		"dotnet-diagnostic--1-2-socket": false, "dotnet-diagnostic-1-2-socket\n": false,
	} {
		if _, _, got := parseSocketName(name); got != ok {
			t.Errorf("%q: %v", name, got)
		}
	}
}
