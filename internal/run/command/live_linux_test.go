package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/vt"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// allEnd checks that no session remains in a process.
func allEnd(t *testing.T, r *fakeruntime.Runtime) {
	t.Helper()
	for i, s := range r.Sessions() {
		select {
		case <-s.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("session %d was not ended", i)
		}
	}
	if len(r.Sessions()) == 0 {
		t.Error("no session")
	}
}

// The rows of a window that has all samples are those of ntconv top.
func TestLiveTopIsTop(t *testing.T) {
	for trace, kind := range map[string]string{"cpu-env": "wall", "alloc-verbose": "alloc", "exceptions": "exceptions", "waits": "contention"} {
		dir, r, _ := recordable(t, trace, 1)
		live := succeed(t, dir, "top", "--live", "-p", fmt.Sprint(os.Getpid()), "--duration", "1s", "--window", "100h", "--kind", kind,
			"--waiting", "--json", "-n", "0").stdout
		recorded := succeed(t, dir, "top", "--json", "-n", "0", "--kind", kind, corpus.Path(trace+".nettrace.zst")).stdout
		var got, want liveTopJSON
		decode(t, []byte(live), &got)
		decode(t, []byte(recorded), &want)
		slack := int64(got.Samples)
		near := func(a, b int64) bool { return a-b <= slack && b-a <= slack }
		byName := func(rows []rowJSON) map[string]rowJSON {
			m := map[string]rowJSON{}
			for _, r := range rows {
				m[r.Function] = r
			}
			return m
		}
		rows := byName(got.Rows)
		for name, w := range byName(want.Rows) {
			if g := rows[name]; !near(g.Flat, w.Flat) || !near(g.Cum, w.Cum) {
				t.Errorf("%s: got %+v, want %+v", trace, g, w)
			}
		}
		if got.Functions != want.Functions || len(got.Rows) != got.Functions || !near(got.Total, want.Total) || got.SampleType != want.SampleType ||
			got.Unit != want.Unit || got.Kind != kind || got.PID != os.Getpid() || got.Process != "unlike-any" || got.Events == 0 {
			t.Errorf("%s: got %d functions, total %d %s, want %d, %d %s", trace, got.Functions, got.Total, got.Unit, want.Functions, want.Total, want.Unit)
		}
		allEnd(t, r)
	}
}

// Without a terminal there are blocks of lines, and one at the end.
func TestLiveTopLines(t *testing.T) {
	dir, r, _ := recordable(t, "cpu-env", 1)
	got := succeed(t, dir, "top", "--live", "--name", "unlike-any", "--duration", "1500ms", "--window", "100h", "--every", "1s", "-n", "3")
	blocks := strings.Split(strings.TrimSpace(got.stdout), "\n\n")
	if len(blocks) != 2 {
		t.Fatalf("%d blocks:\n%s", len(blocks), got.stdout)
	}
	for _, b := range blocks {
		lines := strings.Split(b, "\n")
		if len(lines) != 6 || !strings.Contains(lines[0], "process "+fmt.Sprint(os.Getpid())) || !strings.HasSuffix(lines[3], "Shop.Cpu.Spin(double)") {
			t.Errorf("got\n%s", b)
		}
	}
	allEnd(t, r)
}

// Counters are lines with tabs, or JSON objects, of the same points.
func TestCountersLines(t *testing.T) {
	dir, r, _ := recordable(t, "counters", 1)
	args := []string{"counters", "-p", fmt.Sprint(os.Getpid()), "--duration", "500ms"}
	plain := strings.Split(strings.TrimSuffix(succeed(t, dir, args...).stdout, "\n"), "\n")
	objects := json.NewDecoder(strings.NewReader(succeed(t, dir, append(args, "--json")...).stdout))
	n := 0
	for ; ; n++ {
		var o counterJSON
		if err := objects.Decode(&o); err == io.EOF {
			break
		} else if err != nil || n >= len(plain) {
			t.Fatal(n, err)
		}
		cells := strings.Split(plain[n], "\t")
		if len(cells) != 6 || cells[0] != o.Time || cells[1] != o.Meter+"/"+o.Name || cells[4] != o.Unit {
			t.Errorf("%q, and as JSON %+v", plain[n], o)
			continue
		}
		if x, err := strconv.ParseFloat(cells[3], 64); err != nil || o.Value != nil && o.Value.String() != cells[3] || o.Value == nil && o.Count == nil {
			t.Errorf("%v %v: %q, and as JSON %+v", x, err, plain[n], o)
		}
	}
	if n < 20 || n != len(plain) {
		t.Errorf("%d objects, %d lines", n, len(plain))
	}
	allEnd(t, r)
}

// Flags that do not fit are refused before a session begins, with the next step.
func TestLiveRefusals(t *testing.T) {
	dir, r, _ := recordable(t, "empty", 1)
	pid := fmt.Sprint(os.Getpid())
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"top -p " + pid + " x.nettrace", "add --live", exitUsage},
		{"top --live", "ntconv ps lists them", exitUsage},
		{"top --live x.nettrace", "-p PID", exitUsage},
		{"top --live -p " + pid + " --name x", "want one process", exitUsage},
		{"top --live -p -1", "want the PID", exitUsage},
		{"top --live -p " + pid + " --diff-base x", "ntconv collect", exitUsage},
		{"top --live -p " + pid + " --kind off-cpu", "can be recorded: wall, alloc", exitUsage},
		{"top --live -p 999999999", "ntconv ps lists", exitInput},
		{"top --kind wall,alloc x.nettrace", "want one kind", exitUsage},
		{"counters", "ntconv ps lists them", exitUsage},
		{"counters --name nobody", "ntconv ps lists", exitInput},
		{"counters -p " + pid + " --refresh 500ms", "whole seconds", exitUsage},
		{"counters x", "-p PID", exitUsage},
	} {
		got := invoke(t, dir, nil, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: code %d, want %d and %q: %s", c.args, got.code, c.code, c.want, got.stderr)
		}
	}
	if n := len(r.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
	got := invoke(t, dir, nil, "counters", "-p", pid, "--duration", "100ms")
	if got.code != exitEmpty || !strings.Contains(got.stderr, "--counters names the meters") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
}

// A terminal is a screen of a command in this process.
type screenRun struct {
	t    *testing.T
	term vt.MockTerm
	out  lockedBuffer
	errs lockedBuffer
	done chan int
}

// A lockedBuffer is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// onScreen runs a command on a screen.
func onScreen(t *testing.T, dir string, width, height vt.Col, args ...string) *screenRun {
	t.Helper()
	t.Setenv("TMPDIR", dir)
	s := &screenRun{t: t, done: make(chan int, 1)}
	s.term = vt.NewMockTerm(vt.MockOptSize{X: width, Y: vt.Row(height)})
	a := newApp(&s.out, &s.errs)
	a.openScreen = func() (tcell.Screen, error) {
		return tcell.NewTerminfoScreenFromTty(s.term, tcell.OptNegotiation(false), tcell.OptSanitizeContent(true))
	}
	root := a.command(args)
	root.SetArgs(args)
	go func() {
		cmd, err := root.ExecuteC()
		s.done <- a.finish(cmd, err)
	}()
	return s
}

// text returns what the terminal shows.
func (s *screenRun) text() string {
	size, _ := s.term.WindowSize()
	var b strings.Builder
	for y := range size.Height {
		line := ""
		for x := range size.Width {
			c := s.term.GetCell(vt.Coord{X: vt.Col(x), Y: vt.Row(y)}).C
			if c == "" {
				c = " "
			}
			line += c
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// waitFor waits until the screen has all texts.
func (s *screenRun) waitFor(texts ...string) string {
	s.t.Helper()
	var got string
	for range 200 {
		got = s.text()
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(got, text) }) {
			return got
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("no %q on the screen; %s\n%s", texts, s.errs.String(), got)
	return ""
}

func (s *screenRun) keys(keys ...string) {
	for _, k := range keys {
		s.term.SendRaw([]byte(k))
		time.Sleep(20 * time.Millisecond)
	}
}

// end waits for the end of the command and returns its exit code.
func (s *screenRun) end() int {
	s.t.Helper()
	select {
	case code := <-s.done:
		return code
	case <-time.After(20 * time.Second):
		s.t.Fatalf("the command did not end:\n%s", s.text())
		return 0
	}
}

// The screen of top: keys, a resize, and the table that remains.
func TestTopScreen(t *testing.T) {
	dir, r, _ := recordable(t, "cpu-env", 1)
	s := onScreen(t, dir, 100, 20, "top", "--live", "-p", fmt.Sprint(os.Getpid()), "--window", "100h", "-n", "5", "--kind", "wall,contention")
	s.waitFor("unlike-any  PID "+fmt.Sprint(os.Getpid()), "▼flat", "Shop.Cpu.Spin(double)", "of running threads", "q quit")
	s.keys("s")
	s.waitFor("1.79s wall;", "System.Threading.Thread.Join(int)")
	s.keys("c", "/", "S", "p", "i", "q")
	s.waitFor("▼cum", "no function has this text", "/Spiq_")
	s.keys("\x7f", "n", "\r", "p")
	s.waitFor("PAUSED  filter: Spin")
	s.term.SetSize(vt.Coord{X: 40, Y: 10})
	s.waitFor("flat%   ▼cum%  function", "Shop.Cpu.Spin(double)")
	s.keys("k")
	s.waitFor("no ", "in the last")
	s.keys("k", "q")
	if code := s.end(); code != exitOK {
		t.Errorf("code %d: %s", code, s.errs.String())
	}
	if out := s.out.String(); !strings.Contains(out, "Shop.Cpu.Spin(double)\n") || strings.Contains(out, "\x1b") {
		t.Errorf("%q remains", out)
	}
	allEnd(t, r)
}

// The screen of counters, and the values that remain.
func TestCountersScreen(t *testing.T) {
	dir, r, _ := recordable(t, "counters", 1)
	s := onScreen(t, dir, 120, 50, "counters", "--name", "unlike-any")
	s.waitFor("ntconv counters", "time series; measured", "System.Runtime", "working-set", "per second")
	s.keys("/", "w", "o", "r", "k", "\r")
	s.waitFor("filter: work")
	s.keys("\x03") // Ctrl-C
	if code := s.end(); code != exitOK || !strings.Contains(s.out.String(), "working-set") {
		t.Errorf("code %d: %s%s", code, s.errs.String(), s.out.String())
	}
	allEnd(t, r)
}

// The screen says that a process has ended, and stays until q.
func TestScreenOfEndedProcess(t *testing.T) {
	for name, end := range map[string]func(*fakeruntime.Runtime){"killed": (*fakeruntime.Runtime).Kill, "exited": (*fakeruntime.Runtime).Exit} {
		dir, r, _ := recordable(t, "cpu-env", 0.9)
		s := onScreen(t, dir, 100, 20, "top", "--live", "-p", fmt.Sprint(os.Getpid()), "--window", "100h", "--waiting")
		s.waitFor("Shop.")
		end(r)
		s.waitFor("THE SESSION HAS ENDED", "Shop.")
		s.keys("q")
		if code := s.end(); code != exitOK || !strings.Contains(s.errs.String(), "has ended") || !strings.Contains(s.out.String(), "Shop.") {
			t.Errorf("%s: code %d: %s%s", name, code, s.errs.String(), s.out.String())
		}
	}
}

// startShop starts a scenario of the test program of the reference data on its .NET runtime, and waits until it listens.
func startShop(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := corpus.Shop(t, filepath.Join(dir, "truth.json"), args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 1200 {
		if list, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("dotnet-diagnostic-%d-*-socket", cmd.Process.Pid))); list != nil {
			return cmd
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the program does not listen")
	return nil
}

// A .NET program: its hot method, its instruments, and a screen that outlives it.
func TestLiveProgram(t *testing.T) {
	dir := psDir(t)
	shop := startShop(t, dir, "attach", "120000")
	pid := fmt.Sprint(shop.Process.Pid)
	for range 2 { // the second one finds no remains of the first one
		var got liveTopJSON
		decode(t, []byte(succeed(t, dir, "top", "--live", "-p", pid, "--duration", "4s", "--json", "-n", "0").stdout), &got)
		i := slices.IndexFunc(got.Rows, func(r rowJSON) bool { return strings.HasPrefix(r.Function, "Shop.Cpu.Spin") })
		if i < 0 || got.Rows[i].CumPercent < 20 || got.Threads != "running" || got.Samples < 10 || got.Total > 3*int64(time.Minute) {
			t.Errorf("%.1000s", fmt.Sprintf("%+v", got))
		}
	}
	s := onScreen(t, dir, 100, 24, "top", "--live", "-p", pid)
	s.waitFor("Shop.Cpu.Spin")
	must(t, shop.Process.Kill())
	s.waitFor("THE SESSION HAS ENDED")
	s.keys("q")
	if code := s.end(); code != exitOK || !strings.Contains(s.out.String(), "Shop.Cpu.Spin") {
		t.Errorf("code %d: %s%s", code, s.errs.String(), s.out.String())
	}
}

// The instruments of a .NET program.
func TestCountersOfProgram(t *testing.T) {
	dir := psDir(t)
	shop := startShop(t, dir, "counters", "60", "2")
	s := onScreen(t, dir, 120, 60, "counters", "-p", fmt.Sprint(shop.Process.Pid))
	s.waitFor("Shop.Meter 2.0", "colour=red, n=0", "p50", "dotnet.gc.collections", "dotnet.process.cpu.time", "/s")
	s.keys("q")
	if code := s.end(); code != exitOK || !strings.Contains(s.out.String(), "dotnet.gc.collections") {
		t.Errorf("code %d: %s", code, s.errs.String())
	}
}
