//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/profile/meters"
	ask "github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A live is a process of the test program of the reference data on its .NET runtime. Its socket is in a directory of its
// own, which is the temporary directory of the programs that record it.
type live struct {
	*started
	dir   string
	truth string // what the program states about itself, written at its end
}

// A started is a program that runs.
type started struct {
	cmd      *exec.Cmd
	out, msg locked
	ended    chan struct{}
}

// A locked is a buffer that can be read while a program writes to it.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// launch starts a program with additional variables of the environment. It is killed when the test ends.
func launch(t *testing.T, env []string, name string, args ...string) *started {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	return start(t, cmd)
}

// start starts a command. It is killed when the test ends.
func start(t *testing.T, cmd *exec.Cmd) *started {
	t.Helper()
	s := &started{cmd: cmd, ended: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.msg
	s.cmd.WaitDelay = 5 * time.Second // children may have its streams
	must(t, s.cmd.Start())
	go func() {
		_ = s.cmd.Wait() // wait states the exit code
		close(s.ended)
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	return s
}

// wait waits for the end of a program and returns its exit code, -1 if a signal ended it.
func (s *started) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatalf("%q does not end: %s", s.cmd.Args, s.msg.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *started) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

func (s *started) pid() int { return s.cmd.Process.Pid }

// liveEnv returns the variables for programs that run .NET or record it, with a temporary directory.
func liveEnv(t *testing.T, dir string) []string {
	t.Helper()
	return []string{"TMPDIR=" + dir, corpus.Dotnet(t)}
}

// startLive starts a scenario of the test program and waits until its diagnostic port answers.
func startLive(t *testing.T, args ...string) *live {
	t.Helper()
	dir := shortDir(t)
	l := launchLive(t, dir, args...)
	l.await(t)
	return l
}

// shortDir returns a temporary directory whose path leaves room for the names of sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "live")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func launchLive(t *testing.T, dir string, args ...string) *live {
	t.Helper()
	truth := filepath.Join(t.TempDir(), "truth.json")
	cmd := corpus.Shop(t, truth, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	return &live{start(t, cmd), dir, truth}
}

// await waits until the diagnostic port of a process answers.
func (l *live) await(t *testing.T) {
	t.Helper()
	for range 300 {
		var list []struct{ PID int }
		if r := runIn(t, l.dir, "ps", "--json"); r.code == complete {
			decode(t, r.stdout, &list)
		}
		if slices.ContainsFunc(list, func(p struct{ PID int }) bool { return p.PID == l.pid() }) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("process %d does not listen: %s", l.pid(), l.msg.String())
}

// runIn runs ntconv with a temporary directory.
func runIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	s := launch(t, liveEnv(t, dir), command, args...)
	code := s.wait(t)
	return result{code, []byte(s.out.String()), []byte(s.msg.String())}
}

// collect starts ntconv collect for the process, into a file.
func (l *live) collect(t *testing.T, out string, args ...string) *started {
	t.Helper()
	args = slices.Concat([]string{"collect", "-p", strconv.Itoa(l.pid()), "-f", "-o", out}, args)
	return launch(t, liveEnv(t, l.dir), command, args...)
}

// dotnetTrace starts dotnet-trace collect for the process, into a file, and waits until it records.
func (l *live) dotnetTrace(t *testing.T, out string, args ...string) *started {
	t.Helper()
	s := l.dotnetTraceFor(t, out, args...)
	s.grows(t, out, 1)
	return s
}

// dotnetTraceFor is dotnetTrace without waiting.
func (l *live) dotnetTraceFor(t *testing.T, out string, args ...string) *started {
	t.Helper()
	args = slices.Concat([]string{"collect", "-p", strconv.Itoa(l.pid()), "-o", out}, args)
	return launch(t, liveEnv(t, l.dir), traceevent(t), args...)
}

// grows waits until a file that a program writes has a size.
func (s *started) grows(t *testing.T, path string, size int64) {
	t.Helper()
	for range 1200 {
		if info, err := os.Stat(path); err == nil && info.Size() >= size {
			return
		}
		select {
		case <-s.ended:
			t.Fatalf("%q ended: %s%s", s.cmd.Args, s.out.String(), s.msg.String())
		case <-time.After(25 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not grow to %d bytes: %s%s", path, size, s.out.String(), s.msg.String())
}

// recordedLines returns the events of a file, which has the exit code.
func recordedLines(t *testing.T, path string, code int) []*line {
	t.Helper()
	r := run(t, command, "print", "--json", "-q", "--crc", path)
	if r.code != code {
		t.Fatalf("print %s: exit code %d, want %d: %s", path, r.code, code, r.stderr)
	}
	return readLines(t, r.stdout)
}

// isNames reports whether an event is of the rundown, or describes the recording.
func isNames(l *line) bool {
	return l.Provider == "Microsoft-Windows-DotNETRuntimeRundown" || l.Provider == "Microsoft-DotNETCore-EventPipe"
}

// A happening identifies an event in recordings of two sessions: each has its own time, a little earlier or later.
type happening struct {
	tid      uint64
	provider string
	id       uint64
	crc      string
}

// blur is how much later one session may write an event than another: the thread can be preempted between the two.
const blur = int64(250e6)

// times returns the times of events without those of the rundown and those whose values belong to the session.
func times(list []*line) map[happening][]int64 {
	m := map[happening][]int64{}
	for _, l := range list {
		if isNames(l) || l.Name == "EventCounters" || l.Provider == "System.Diagnostics.Metrics" {
			continue
		}
		h := happening{l.TID, l.Provider, l.ID, l.CRC}
		m[h] = append(m[h], l.Ticks)
	}
	for _, list := range m {
		slices.Sort(list)
	}
	return m
}

// span returns the range of time in which a session was certainly active: from its first event to the last before the rundown.
func span(list []*line) (from, to int64) {
	from = int64(1) << 62
	for _, l := range list {
		if !isNames(l) {
			from, to = min(from, l.Ticks), max(to, l.Ticks)
		}
	}
	return from, to
}

// within counts the times in a range.
func within(list []int64, from, to int64) int {
	i, _ := slices.BinarySearch(list, from)
	j, _ := slices.BinarySearch(list, to)
	return max(0, j-i)
}

// missing returns how many events of a in the range are not in b, with a description of some.
func missing(a, b map[happening][]int64, from, to int64) (n, all int, text string) {
	for h, list := range a {
		want := within(list, from, to)
		all += want
		if lack := want - within(b[h], from-blur, to+blur); lack > 0 {
			n += lack
			if len(text) < 500 {
				text += fmt.Sprintf("\n%d of %d: %+v", lack, want, h)
			}
		}
	}
	return n, all, text
}

// recordedAlike checks that two sessions of a process have the same events in the time in which both were active.
func recordedAlike(t *testing.T, ours, theirs []*line, atLeast int) {
	t.Helper()
	from, to := span(ours)
	from2, to2 := span(theirs)
	from, to = max(from, from2)+blur, min(to, to2)-blur
	a, b := times(ours), times(theirs)
	n, all, text := missing(a, b, from, to)
	if n > 0 {
		t.Errorf("dotnet-trace lacks %d of %d events of ntconv: %s", n, all, text)
	}
	if n, all, text := missing(b, a, from, to); n > 0 {
		t.Errorf("ntconv lacks %d of %d events of dotnet-trace: %s", n, all, text)
	}
	if all < atLeast {
		t.Errorf("only %d events in the %.1f s that both recorded", all, float64(to-from)/1e9)
	}
	t.Logf("%d events in the %.1f s that both recorded", all, float64(to-from)/1e9)
}

// sameNumber checks that TraceEvent reads as many events of a file as ntconv, without losses.
func sameNumber(t *testing.T, path string, ours []*line) {
	t.Helper()
	r := run(t, traceevent(t), "summary", path)
	var got struct {
		Events int `json:"events"`
		Lost   int `json:"eventsLost"`
	}
	if err := json.Unmarshal(r.stdout, &got); r.code != 0 || err != nil {
		t.Fatalf("TraceEvent: code %d, %v: %s", r.code, err, r.stderr)
	}
	if got.Events != len(ours) || got.Lost != 0 {
		t.Errorf("TraceEvent reads %d events and %d lost ones, ntconv %d: %.600s", got.Events, got.Lost, len(ours), r.stdout)
	}
}

// What ntconv records is what dotnet-trace records at the same time, for each profile.
func TestLiveProfiles(t *testing.T) {
	for _, c := range []struct {
		profile, scenario string
		atLeast           int
	}{
		{"dotnet-common,dotnet-sampled-thread-time", "cpu 30000", 200},
		{"dotnet-common", "exceptions 200000", 500},
		{"gc-verbose", "alloc 20000", 500},
		{"gc-collect", "alloc 20000", 10},
		{"database", "attach 60000", 50}, // the test program has no database
	} {
		t.Run(strings.ReplaceAll(c.profile, ",", "+"), func(t *testing.T) {
			if c.profile != "dotnet-common,dotnet-sampled-thread-time" && c.profile != "gc-verbose" {
				atNight(t)
			}
			l := startLive(t, strings.Fields(c.scenario)...)
			ours, theirs := filepath.Join(l.dir, "ours.nettrace"), filepath.Join(l.dir, "theirs.nettrace")
			asked := []string{"--profile", c.profile}
			if c.profile == "database" { // dotnet-trace writes nothing into its file before there are events
				asked = append(asked, "--providers", "Shop-Beat:0xffffffffffffffff:4")
			}
			ref := l.dotnetTrace(t, theirs, asked...)
			own := l.collect(t, ours, append(asked, "--duration", "1500ms")...)
			if code := own.wait(t); code != complete {
				t.Fatalf("exit code %d: %s", code, own.msg.String())
			}
			ref.signal(t, syscall.SIGINT)
			if code := ref.wait(t); code != 0 {
				t.Fatalf("dotnet-trace: exit code %d: %s%s", code, ref.out.String(), ref.msg.String())
			}
			list := recordedLines(t, ours, complete)
			recordedAlike(t, list, recordedLines(t, theirs, complete), c.atLeast)
			sameNumber(t, ours, list)
		})
	}
}

// A recording of a kind has the events from which profiles of this kind are computed, and those that name methods, and no others.
func TestLiveKinds(t *testing.T) {
	atNight(t)
	scenario := map[string]string{
		"wall": "cpu 30000", "alloc": "alloc 20000", "gc": "alloc 20000", "exceptions": "exceptions 200000", "contention": "waits 1000",
		"wait": "waits 1000", "jit": "jit 2000", "typeload": "jit 2000", "threadpool": "-- async 60", "tasks": "-- async 60",
	}
	for _, kind := range ask.RecordableKinds() {
		name := kind.String()
		if scenario[name] == "" { // the test program has no server
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != "wall" && name != "alloc" && name != "contention" {
				atNight(t)
			}
			dir := shortDir(t)
			out := filepath.Join(dir, "kind.nettrace")
			var own *started
			if program, found := strings.CutPrefix(scenario[name], "-- "); found { // too short to be recorded by its PID
				args := []string{"collect", "--kind", name, "-o", out, "--", shared(t, "oracle", "shop")}
				own = launch(t, liveEnv(t, dir), command, append(args, strings.Fields(program)...)...)
			} else {
				own = startLive(t, strings.Fields(scenario[name])...).collect(t, out, "--kind", name, "--duration", "1500ms")
			}
			if code := own.wait(t); code != complete {
				t.Fatalf("exit code %d: %s", code, own.msg.String())
			}
			wanted, managed := map[string]bool{}, map[string]bool{}
			for _, in := range meters.Inputs(kind) {
				wanted[fmt.Sprint(in.Provider, " ", in.ID)] = true
				managed[in.Provider] = in.Provider != runtimeProvider
			}
			list := recordedLines(t, out, complete)
			of := 0
			for _, e := range list {
				switch {
				case wanted[fmt.Sprint(e.Provider, " ", e.ID)]:
					of++
				case isNames(e) || namesMethod[e.ID] && e.Provider == runtimeProvider:
				case managed[e.Provider]: // its events are asked for by keyword
				default:
					t.Fatalf("event %s %d %s", e.Provider, e.ID, e.Name)
				}
			}
			if of == 0 {
				t.Errorf("no event of the kind among %d", len(list))
			}
			t.Logf("%d of %d events are of the kind", of, len(list))
			sameNumber(t, out, list)
			if r := run(t, command, "top", "--kind", name, out); r.code != complete {
				t.Errorf("top: code %d: %s", r.code, r.stderr)
			}
		})
	}
}

// namesMethod are the events of the runtime that describe methods and modules.
var namesMethod = map[uint64]bool{141: true, 142: true, 143: true, 144: true, 151: true, 152: true, 153: true}
