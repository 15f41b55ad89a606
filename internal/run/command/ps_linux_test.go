package command

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// startTime returns the start time of this process, which is a part of the name of its socket.
func startTime(t *testing.T) uint64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/stat")
	must(t, err)
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	start, err := strconv.ParseUint(fields[22-3], 10, 64)
	must(t, err)
	return start
}

// psDir returns a directory for TMPDIR whose sockets have a short name.
func psDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ps")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

// staleSocket creates the socket of a process that has been killed.
func staleSocket(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, fakeruntime.SocketName(1<<30, 77))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
	return path
}

// listed returns the processes that ntconv ps --json lists with a socket in a directory: others may run, too.
func listed(t *testing.T, dir string, args ...string) (list []listedProcess, stderr string) {
	t.Helper()
	r := succeed(t, dir, append([]string{"ps", "--json"}, args...)...)
	decode(t, []byte(r.stdout), &list)
	return slices.DeleteFunc(list, func(p listedProcess) bool { return filepath.Dir(p.Socket) != dir }), r.stderr
}

func TestPS(t *testing.T) {
	dir := psDir(t)
	r := fakeruntime.New(t)
	r.PID, r.Assembly, r.CommandLine = uint64(os.Getpid()), "shop\x1b[31m\u202e", "ignored"
	socket := r.Listen(t, dir, startTime(t))
	stale := staleSocket(t, dir)

	list, stderr := listed(t, dir)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	started, err := time.Parse(time.RFC3339, list[0].Started)
	if err != nil || time.Since(started) > time.Hour {
		t.Errorf("%s, %v", list[0].Started, err)
	}
	got := list[0]
	got.Started, got.User, got.CommandLine = "", "", ""
	want := listedProcess{PID: os.Getpid(), Name: r.Assembly, Runtime: "10.0.12", RID: "linux-x64", UID: os.Getuid(), Socket: socket, State: stateListening}
	if got != want || !strings.Contains(list[0].CommandLine, "command.test") {
		t.Errorf("%+v, want %+v", list[0], want)
	}
	if !strings.Contains(stderr, "--all lists them") {
		t.Error(stderr)
	}
	if list, _ = listed(t, dir, "--all"); len(list) != 2 || list[1].State != stateStale || list[1].Problem != "no process; remove with: rm "+stale {
		t.Errorf("%+v", list)
	}
	text := succeed(t, dir, "ps", "--all").stdout
	line := fmt.Sprintf(`%d `, os.Getpid())
	if !strings.HasPrefix(text, "PID ") || !strings.Contains(text, "\n"+line) || !strings.Contains(text, `shop\x1b[31m\u202e  10.0.12  `) ||
		!strings.Contains(text, "no process; remove with: rm "+stale) || strings.ContainsAny(text, "\x1b\u202e") {
		t.Error(text)
	}
	if r := invoke(t, dir, nil, "ps", "extra"); r.code != exitUsage {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// Processes that do not answer are listed, and the command waits for all of them at the same time.
func TestPSWithoutAnswer(t *testing.T) {
	dir := psDir(t)
	for i, fault := range []fakeruntime.Fault{
		fakeruntime.Cut(0, fakeruntime.Silence), fakeruntime.Cut(30, fakeruntime.Silence), fakeruntime.Cut(30, fakeruntime.Silence),
		fakeruntime.Put(0, "HTTP\x1b["), fakeruntime.Fail(fakeruntime.UnknownCommand), fakeruntime.Fail(0x80131515), {Then: fakeruntime.Endless},
	} {
		r := fakeruntime.New(t)
		r.PID = 1<<29 + uint64(i) // of an invisible container, because no process has it
		r.Faults = map[string]fakeruntime.Fault{"": fault}
		r.Listen(t, dir, uint64(i))
	}
	begin := time.Now()
	list, _ := listed(t, dir)
	if took := time.Since(begin); took > 2*askTime+10*time.Second {
		t.Errorf("took %v", took)
	}
	var states []string
	for _, p := range list {
		if p.PID != 0 || p.InnerPID < 1<<29 || (p.State == stateListening) != (p.Problem == "") {
			t.Errorf("%+v", p)
		}
		states = append(states, p.State)
	}
	want := []string{stateSilent, stateSilent, stateSilent, stateInvalid, stateListening, stateInvalid, stateListening}
	if !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
	text := succeed(t, dir, "ps").stdout
	if !strings.Contains(text, "no answer in 2s: stopped, suspended, or busy with another client") || strings.Contains(text, "\x1b") {
		t.Error(text)
	}
}

// Without processes, the table is empty, and the message has the reasons.
func TestPSNothing(t *testing.T) {
	dir := psDir(t)
	r := succeed(t, dir, "ps")
	if strings.Count(r.stdout, "\n") > 1 {
		t.Skip("other .NET processes run")
	}
	for _, want := range []string{"no .NET process found", "DOTNET_EnableDiagnostics=0", "TMPDIR", "root", "container"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q lacks %q", r.stderr, want)
		}
	}
	if r := succeed(t, dir, "ps", "--json"); r.stdout != "[]\n" {
		t.Errorf("%q", r.stdout)
	}
}
