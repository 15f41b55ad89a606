//go:build linux

package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// repeat returns how often a test does what depends on chance.
func repeat(night, otherwise int) int {
	if corpus.Nightly() {
		return night
	}
	return otherwise
}

// atNight skips what takes long if tests do not run in full.
func atNight(t *testing.T) {
	t.Helper()
	if !corpus.Nightly() {
		t.Skip("make nightly runs it: it takes long")
	}
}

// sessions returns the number of connections of a process besides the socket on which it listens: one per session.
func (l *live) sessions(t *testing.T) int {
	t.Helper()
	n := -1
	dir := fmt.Sprintf("/proc/%d/fd", l.pid())
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// unharmed checks that a process works: another recording of it has events and names. After it, no session is left.
func (l *live) unharmed(t *testing.T) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "after.nettrace")
	own := l.collect(t, out, "--duration", "700ms", "--providers", "Shop-Beat")
	if code := own.wait(t); code != complete {
		t.Fatalf("the next recording: exit code %d: %s", code, own.msg.String())
	}
	beats, names := 0, 0
	for _, e := range recordedLines(t, out, complete) {
		switch {
		case e.Provider == "Shop-Beat" && e.Name == "Beat":
			beats++
		case isNames(e):
			names++
		}
	}
	if beats < 10 || names < 100 {
		t.Errorf("the next recording has %d beats and %d names", beats, names)
	}
	for range 50 {
		if l.sessions(t) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%d sessions are left", l.sessions(t))
}

// A recorder that is killed at any time leaves a readable beginning of a file, and a process that works as before, without
// a session: the runtime ends a session when it cannot write its events.
func TestLiveRecorderKilled(t *testing.T) {
	atNight(t)
	l := startLive(t, "attach", "300000")
	for i := range repeat(20, 4) {
		out := filepath.Join(l.dir, fmt.Sprintf("killed%d.nettrace", i))
		own := l.collect(t, out)
		inRundown := i%4 == 1
		if inRundown {
			own.grows(t, out, 2000)
			own.signal(t, syscall.SIGINT)
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		} else {
			time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
		}
		own.signal(t, syscall.SIGKILL)
		own.wait(t)
		data, err := os.ReadFile(out)
		if err != nil || len(data) < 102 { // the description of the trace is not there yet
			continue
		}
		if r := run(t, command, "info", "-q", out); r.code != complete && r.code != incomplete {
			t.Errorf("in the rundown: %v: %d bytes: exit code %d: %s", inRundown, len(data), r.code, r.stderr)
		}
	}
	l.unharmed(t)
}

// The runtime does not notice that an idle session has lost its recorder. The session ends with its next event.
func TestLiveIdleSession(t *testing.T) {
	atNight(t)
	l := startLive(t, "attach", "300000")
	args := []string{"--rundown", "false", "--providers", "Microsoft-Windows-DotNETRuntime:0x8000:4"} // no exceptions
	own := l.collect(t, filepath.Join(l.dir, "idle.nettrace"), args...)
	own.grows(t, filepath.Join(l.dir, "idle.nettrace"), 1)
	own.signal(t, syscall.SIGKILL)
	own.wait(t)
	time.Sleep(500 * time.Millisecond)
	t.Logf("%d sessions remain while there is no event", l.sessions(t))
	busy := l.collect(t, filepath.Join(l.dir, "busy.nettrace"), "--rundown", "false", "--providers", "Shop-Beat")
	busy.grows(t, filepath.Join(l.dir, "busy.nettrace"), 2000)
	busy.signal(t, syscall.SIGKILL)
	busy.wait(t)
	l.unharmed(t)
}

// A process that is killed leaves a readable file: what it had written until at most some 100 ms before.
func TestLiveProcessKilled(t *testing.T) {
	atNight(t)
	for i := range repeat(20, 3) {
		l := startLive(t, "cpu", "60000")
		out := filepath.Join(l.dir, "killed.nettrace")
		own := l.collect(t, out)
		own.grows(t, out, 1)
		time.Sleep(time.Duration(300+rand.IntN(1200)) * time.Millisecond)
		l.signal(t, syscall.SIGKILL)
		if code := own.wait(t); code != incomplete {
			t.Errorf("%d: exit code %d: %s", i, code, own.msg.String())
		}
		if list := recordedLines(t, out, incomplete); len(list) == 0 {
			t.Error("no events")
		}
	}
}

// The first Ctrl-C ends a recording with the names of methods, the second one at once.
func TestLiveInterrupted(t *testing.T) {
	l := startLive(t, "attach", "300000")
	for _, c := range []struct{ signals, code int }{{1, complete}, {2, incomplete}} {
		for _, ext := range []string{"nettrace", "pb.gz"} {
			out := filepath.Join(l.dir, fmt.Sprint("ctrl", c.signals, ".", ext))
			own := l.collect(t, out)
			time.Sleep(1500 * time.Millisecond)
			for range c.signals {
				own.signal(t, syscall.SIGINT)
				time.Sleep(3 * time.Millisecond)
			}
			begin := time.Now()
			code := own.wait(t)
			if code != c.code && (c.signals == 1 || code != complete) { // the rundown may be that fast
				t.Errorf("%d signals, %s: exit code %d: %s", c.signals, ext, code, own.msg.String())
			}
			t.Logf("%d signals, %s: ended after %v", c.signals, ext, time.Since(begin).Round(time.Millisecond))
			r := run(t, command, "top", "-q", out)
			if r.code != code && r.code != complete {
				t.Errorf("top: exit code %d: %s", r.code, r.stderr)
			}
			if named := strings.Contains(string(r.stdout), "Shop.Cpu.Spin"); c.signals == 1 && !named {
				t.Errorf("%s: the method is not named: %s", ext, r.stdout)
			}
		}
	}
	l.unharmed(t)
}

// A full disk ends the recording with the message of the system. The file is readable, and the process is not recorded any more.
func TestLiveFullDisk(t *testing.T) {
	atNight(t)
	l := startLive(t, "attach", "300000")
	disk := filepath.Join(l.dir, "disk")
	must(t, os.Mkdir(disk, 0o777))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=48k"); err != nil {
		t.Skipf("mounting needs permission: %v", err)
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
	out := filepath.Join(disk, "full.nettrace")
	own := l.collect(t, out, "--duration", "20s")
	if code := own.wait(t); code != unwritten || !strings.Contains(own.msg.String(), "no space left on device") {
		t.Errorf("exit code %d: %s", code, own.msg.String())
	}
	if list := recordedLines(t, out, incomplete); len(list) == 0 {
		t.Error("no events")
	}
	l.unharmed(t)
}

// With --, the recording has the first event of a program, and ntconv has its exit code.
func TestLiveProgram(t *testing.T) {
	shop := shared(t, "oracle", "shop")
	dir := shortDir(t)
	env := append(liveEnv(t, dir), "SHOP_TRUTH="+filepath.Join(dir, "truth.json"))
	dotnet := strings.TrimPrefix(env[1], "TRACEEVENT_CACHE=") + "/bundle/dotnet"
	two := filepath.Join(dir, "two.sh")
	must(t, os.WriteFile(two, fmt.Appendf(nil, `#!/bin/sh
SHOP_TRUTH=%[1]s/one.json %[2]s hello
SHOP_TRUTH=%[1]s/two.json %[2]s cpu 100 &
SHOP_TRUTH=%[1]s/three.json %[2]s hello
wait
exit 5
`, dir, shop), 0o777))
	for _, c := range []struct {
		args     string
		code     int
		readable int // exit code of reading the file, -1 for no file
		out, msg string
	}{
		{shop + " hello", 0, complete, "hello from the shop", ""},
		{shop + " unknown", 2, complete, "", "unknown scenario"},
		{shop + " crash", 128 + int(syscall.SIGABRT), incomplete, "", "the till is on fire"},
		{shop + " stress 2 2000 100 kill", 128 + int(syscall.SIGKILL), incomplete, "", ""},
		{two, 5, complete, "hello from the shop\nhello from the shop", ""},
		{dotnet + " testdata/spawn/spawn.dll " + shop + " hello", 0, complete, "port none\nhello from the shop", ""}, // children do not wait
		{"/nonexistent/program", unreadable, -1, "", "no such file"},
		{"/bin/true", unreadable, -1, "", "no .NET runtime connected"},
	} {
		out := filepath.Join(dir, "program.nettrace")
		os.Remove(out)
		args := append([]string{"collect", "-o", out, "--"}, strings.Fields(c.args)...)
		own := launch(t, env, command, args...)
		if code := own.wait(t); code != c.code || !strings.Contains(own.out.String(), c.out) || !strings.Contains(own.msg.String(), c.msg) {
			t.Errorf("%s: exit code %d, want %d: %s%s", c.args, code, c.code, own.out.String(), own.msg.String())
		}
		if c.readable < 0 {
			if ifExists(out) != "" {
				t.Errorf("%s: there is a file", c.args)
			}
			continue
		}
		list := recordedLines(t, out, c.readable)
		has := map[string]int{}
		for _, e := range list {
			has[e.Name]++
		}
		if has["RuntimeInformationStart"] != 1 {
			t.Errorf("%s: no event of the start among %d: %v", c.args, len(list), has)
		}
		if c.readable == complete {
			sameNumber(t, out, list)
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		if ifExists(filepath.Join(dir, name+".json")) == "" {
			t.Errorf("program %s of the script did not run to its end", name)
		}
	}
	// Standard output is either of the program or of the recording.
	own := launch(t, env, command, "collect", "-o", "-", "--", shop, "hello")
	if code := own.wait(t); code != complete || !strings.HasPrefix(own.out.String(), "Nettrace") || strings.Contains(own.out.String(), "hello from the shop\n") ||
		!strings.Contains(own.msg.String(), "hello from the shop\n") {
		t.Errorf("exit code %d: %.100q: %s", code, own.out.String(), own.msg.String())
	}
}

// A program runs on, with all .NET programs that it starts, if ntconv is killed at any time.
func TestLiveProgramGoesOn(t *testing.T) {
	atNight(t)
	goneOn := 0
	for i := range 12 {
		dir := shortDir(t)
		script := filepath.Join(dir, "program.sh")
		must(t, os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
SHOP_TRUTH=%[1]s/one.json %[2]s hello
SHOP_TRUTH=%[1]s/two.json %[2]s hello
`, dir, shared(t, "oracle", "shop")), 0o777))
		own := launch(t, liveEnv(t, dir), command, "collect", "-o", filepath.Join(dir, "killed.nettrace"), "--", script)
		time.Sleep(time.Duration(i) * 150 * time.Millisecond)
		own.signal(t, syscall.SIGKILL)
		begun := len(own.out.String()) > 0
		for range 600 { // a killed recorder leaves the port to its guard, and that to nobody
			if len(glob(t, filepath.Join(dir, "ntconv-port-*"))) == 0 && !isRunning(t, script) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		ran := ifExists(filepath.Join(dir, "two.json")) != ""
		if isRunning(t, script) || !ran && begun {
			t.Errorf("killed after %d ms: the program has begun: %v, ended: %v", i*150, begun, ran)
		}
		if ran {
			goneOn++
		}
		if left := glob(t, filepath.Join(dir, "ntconv-port-*")); ran && len(left) > 0 {
			t.Errorf("%q is left", left)
		}
	}
	if goneOn == 0 {
		t.Error("no program had begun")
	}
	t.Logf("%d of 12 programs had begun, and ended", goneOn)
}

// isRunning reports whether a process has a word in its command line.
func isRunning(t *testing.T, word string) bool {
	t.Helper()
	for _, path := range glob(t, "/proc/[0-9]*/cmdline") {
		if data, err := os.ReadFile(path); err == nil && slices.Contains(strings.Split(string(data), "\x00"), word) {
			return true
		}
	}
	return false
}

// What a program states about itself holds in a recording from its start.
func TestLiveTruth(t *testing.T) {
	dir := shortDir(t)
	truth := filepath.Join(dir, "truth.json")
	env := append(liveEnv(t, dir), "SHOP_TRUTH="+truth)
	record := func(t *testing.T, flags, scenario string) (string, []*line) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "program.nettrace")
		args := append([]string{"collect", "-o", out}, strings.Fields(flags)...)
		args = append(append(args, "--", shared(t, "oracle", "shop")), strings.Fields(scenario)...)
		own := launch(t, env, command, args...)
		if code := own.wait(t); code != complete {
			t.Fatalf("exit code %d: %s", code, own.msg.String())
		}
		list := recordedLines(t, out, complete)
		sameNumber(t, out, list)
		return out, list
	}
	count := func(list []*line, provider, name string) (n int) {
		for _, e := range list {
			if e.Provider == provider && e.Name == name {
				n++
			}
		}
		return n
	}
	t.Run("exceptions", func(t *testing.T) {
		_, list := record(t, "--kind exceptions", "exceptions 20")
		var want struct{ Cases []struct{ Events int } }
		readTruth(t, truth, &want)
		n := 0
		for _, c := range want.Cases {
			n += c.Events
		}
		if got := count(list, runtimeProvider, "ExceptionThrown"); got != n || n < 40 {
			t.Errorf("%d exceptions, want %d", got, n)
		}
	})
	t.Run("collections", func(t *testing.T) {
		_, list := record(t, "--kind gc", "alloc 2")
		var want struct{ Collections map[string]int }
		readTruth(t, truth, &want)
		if got := count(list, runtimeProvider, "GCStart"); got != want.Collections["gen0+"] || got < 6 {
			t.Errorf("%d collections, want %v", got, want.Collections)
		}
	})
	t.Run("stress", func(t *testing.T) {
		_, list := record(t, "--providers Shop-Stress --rundown false", "stress 3 20000 500")
		if got := count(list, "Shop-Stress", "Tick"); got != 60000 {
			t.Errorf("%d events, want 60000", got)
		}
	})
	t.Run("spans", func(t *testing.T) {
		_, list := record(t, "--profile spans", "spans 8 4")
		var want struct {
			Spans []struct {
				Source   string
				Stopped  bool
				ParentID string
			}
		}
		readTruth(t, truth, &want)
		n := 0
		for _, s := range want.Spans {
			if s.Stopped {
				n++
			}
		}
		if got := count(list, "Microsoft-Diagnostics-DiagnosticSource", "ActivityStop"); got != n || n < 40 {
			t.Errorf("%d spans, want %d", got, n)
		}
	})
	t.Run("allocations", func(t *testing.T) {
		atNight(t)
		for range 3 { // one of five types exceeds three standard errors in 1% of the recordings
			out, _ := record(t, "--kind alloc", "alloc 8")
			var want struct {
				Objects []struct {
					Type          string
					BytesMeasured float64
				}
			}
			readTruth(t, truth, &want)
			bytes := map[string]float64{}
			for _, o := range want.Objects {
				bytes[spelled[o.Type]] += o.BytesMeasured
			}
			var got struct {
				Rows []struct {
					Function string
					Flat     float64
				}
			}
			decode(t, run(t, command, "top", "-q", "--kind", "alloc", "--json", "-n", "0", out).stdout, &got)
			within := 0
			for _, row := range got.Rows {
				if b, known := bytes[row.Function]; known {
					distance := (row.Flat - b) / (b / math.Sqrt(b/allocationInterval))
					t.Logf("%s: %.0f bytes, allocated %.0f, %.1f standard errors", row.Function, row.Flat, b, distance)
					if math.Abs(distance) <= 3 && row.Function != "" {
						within++
					}
				}
			}
			if within == 5 {
				return
			}
		}
		t.Error("the bytes of types are not those that the program allocated")
	})
	t.Run("shares", func(t *testing.T) {
		for range 3 { // one of three shares exceeds three standard errors in 1% of the recordings
			out, _ := record(t, "", "cpu 3000")
			var want cpuTruth
			readTruth(t, truth, &want)
			stacks := parseStacks(t, run(t, traceevent(t), "stacks", out).stdout)
			p, _ := convert(t, trace{name: "program", path: out}, 1)
			at := 0
			for i, th := range want.Threads {
				if th.Name == "till-1" {
					at = i
				}
			}
			id := thread{want.PID, want.Threads[at].TID}
			rule, twice := wallShare(timedSamples(stacks, id), profileTime(p, id))
			got := profileShare(p, id).percent()
			if d := got.distance(rule.percent()); d > 0.1 {
				t.Errorf("shares %.2f, TraceEvent's samples give %.2f", got, rule.percent())
			}
			var measured share
			for i, method := range timed {
				measured[i] = float64(number(want.Threads[at].Detail[method]))
			}
			t.Logf("shares %.1f, measured %.1f, three standard errors are %.1f", got, measured.percent(), 1.5*twice)
			if got.distance(measured.percent()) <= 1.5*twice {
				return
			}
		}
		t.Error("the shares of methods are not those that the program measured")
	})
}

// spelled are the types of objects of the test program of which enough are sampled, as ntconv spells them.
var spelled = map[string]string{
	"Shop.Order": "Shop.Order", "Shop.Node`1[System.ValueTuple`2[System.Int32,System.String]]": "Shop.Node<(int, string)>",
	"System.Int32[]": "int[]", "Shop.Line[]": "Shop.Line[]", "System.Byte[] (LOH)": "byte[]", "System.Byte[] (POH)": "byte[]",
}

// allocationInterval is the mean number of bytes between two sampled allocations.
const allocationInterval = 102_400
