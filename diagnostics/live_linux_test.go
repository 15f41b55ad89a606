package diagnostics_test

import (
	"bytes"
	"context"
	"errors"
	"io"
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

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A shop is the test program of the reference data on its .NET runtime.
type shop struct {
	cmd    *exec.Cmd
	output output
	exited chan error
}

// An output is what a program prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns what has been printed.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// startShop starts a scenario of the test program with additional variables of the environment.
func startShop(t *testing.T, env []string, args ...string) *shop {
	t.Helper()
	s := &shop{cmd: corpus.Shop(t, filepath.Join(t.TempDir(), "truth.json"), args...), exited: make(chan error, 1)}
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.exited <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// find waits until a program listens.
func (s *shop) find(t *testing.T) diagnostics.Process {
	t.Helper()
	for range 600 {
		list, err := diagnostics.Find()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.PID == s.cmd.Process.Pid && p.State == diagnostics.Listening {
				return p
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("process %d does not listen; it printed %q", s.cmd.Process.Pid, s.output.String())
	return diagnostics.Process{}
}

// client returns a client with a time limit for busy machines.
func client(socket string) *diagnostics.Client {
	c := diagnostics.NewClient(socket)
	c.Timeout = time.Minute
	return c
}

// runtimeProvider has the keywords JIT and Loader: a program that does nothing has few such events.
var runtimeProvider = diagnostics.Provider{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x18, Level: 4}

func TestLive(t *testing.T) {
	dir := t.TempDir()
	s := startShop(t, []string{"TMPDIR=" + dir, "NTCONV_TEST=a=b ü"}, "attach", "120000")
	p := s.find(t)
	if p.InnerPID != p.PID || p.Name != "dotnet" || p.UID != os.Getuid() || filepath.Dir(p.Socket) != dir || p.Container != "" ||
		!strings.HasSuffix(p.CommandLine, "attach 120000") {
		t.Errorf("%+v", p)
	}
	if age := time.Since(p.Started); age < -2*time.Second || age > 10*time.Minute {
		t.Errorf("started %v ago", age)
	}
	c := client(p.Socket)
	ctx := t.Context()

	info, err := c.Info(ctx)
	for deadline := time.Now().Add(time.Minute); err == nil && !strings.Contains(info.CommandLine, "attach") && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // until the program is loaded, the command line has the name of the host only
		info, err = c.Info(ctx)
	}
	if err != nil || info.PID != uint64(p.PID) || info.Assembly != "shop" || info.OS != "Linux" || !strings.HasPrefix(info.Runtime, "10.") ||
		!strings.HasPrefix(info.RID, "linux-") || !strings.HasSuffix(info.CommandLine, "attach 120000") || info.Cookie == [16]byte{} {
		t.Errorf("%+v, %v", info, err)
	}
	env, err := c.Environment(ctx)
	if err != nil || !slices.Contains(env, "NTCONV_TEST=a=b ü") {
		t.Errorf("%q, %v", env, err)
	}
	if err := c.SetEnvironment(ctx, "NTCONV_SET", "ä"); err != nil {
		t.Error(err)
	}
	if err := c.UnsetEnvironment(ctx, "NTCONV_TEST"); err != nil {
		t.Error(err)
	}
	env, err = c.Environment(ctx)
	if err != nil || slices.Contains(env, "NTCONV_TEST=a=b ü") || !slices.Contains(env, "NTCONV_SET=ä") {
		t.Errorf("%q, %v", env, err)
	}
	if err := c.Resume(ctx); err != nil {
		t.Error(err)
	}
	t.Run("commands", func(t *testing.T) { testLiveCommands(t, c) })
	t.Run("perf map", func(t *testing.T) { testLivePerfMap(t, c, p.PID) })
	t.Run("kill", func(t *testing.T) { testLiveKill(t, c, s) })
}

// record starts a session, stops it after a while, and returns the trace.
func record(t *testing.T, c *diagnostics.Client, config diagnostics.Config) (*diagnostics.Session, []byte) {
	t.Helper()
	s, err := c.Collect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, func() {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	trace, err := io.ReadAll(s)
	if err != nil {
		t.Error(err)
	}
	if err := s.StopAnswer(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return s, trace
}

func testLiveCommands(t *testing.T, c *diagnostics.Client) {
	filtered := runtimeProvider
	filtered.Events = []uint32{143}
	excluded := filtered
	excluded.ExcludeEvents = true
	for _, test := range []struct {
		name    string
		config  diagnostics.Config
		command int
	}{
		{"default", diagnostics.Config{RundownKeywords: diagnostics.DefaultRundown, Providers: []diagnostics.Provider{sampler}}, 2},
		{"no rundown", diagnostics.Config{Providers: []diagnostics.Provider{sampler}}, 2},
		{"netperf", diagnostics.Config{Format: diagnostics.NetPerf, Providers: []diagnostics.Provider{sampler}}, 2},
		{"no stacks", diagnostics.Config{NoStacks: true, Providers: []diagnostics.Provider{sampler}}, 3},
		{"names", diagnostics.Config{RundownKeywords: diagnostics.NamesRundown, Providers: []diagnostics.Provider{sampler}}, 4},
		{"filter", diagnostics.Config{BufferMB: 16, Providers: []diagnostics.Provider{sampler, filtered}}, 5},
		{"exclude", diagnostics.Config{NoStacks: true, Providers: []diagnostics.Provider{sampler, excluded}}, 5},
		{"merged", diagnostics.Config{Providers: []diagnostics.Provider{sampler, runtimeProvider, sampler}}, 2},
	} {
		s, trace := record(t, c, test.config)
		t.Logf("%s: CollectTracing%d, %d bytes", test.name, s.Command(), len(trace))
		magic := "Nettrace"
		if test.config.Format == diagnostics.NetPerf {
			magic = "\x14\x00\x00\x00!FastSerialization.1"
		}
		if s.Command() != test.command || !bytes.HasPrefix(trace, []byte(magic)) || len(trace) < 1000 {
			t.Errorf("%s: CollectTracing%d, want %d; %d bytes: %.40q", test.name, s.Command(), test.command, len(trace), trace)
		}
	}
	_, err := c.Collect(t.Context(), diagnostics.Config{Block: true, Providers: []diagnostics.Provider{sampler}})
	if !errors.Is(err, diagnostics.ErrUnknownCommand) {
		t.Error(err)
	}
}

func testLivePerfMap(t *testing.T, c *diagnostics.Client, pid int) {
	path := filepath.Join("/tmp", "perf-"+strconv.Itoa(pid)+".map")
	t.Cleanup(func() { _ = os.Remove(path) })
	if err := c.EnablePerfMap(t.Context(), diagnostics.PerfMapFile); err != nil {
		t.Fatal(err)
	}
	if err := c.DisablePerfMap(t.Context()); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("Main")) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if err := c.EnablePerfMap(t.Context(), 77); !errors.As(err, new(*diagnostics.Error)) {
		t.Error(err)
	}
}

// A process that is killed ends the stream without an error, and the request to stop it fails.
func testLiveKill(t *testing.T, c *diagnostics.Client, s *shop) {
	session, err := c.Collect(t.Context(), diagnostics.Config{Providers: []diagnostics.Provider{sampler}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(session, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.exited
	if err := session.Stop(t.Context()); err != nil && !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
	if n, err := io.Copy(io.Discard, session); err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := session.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Info(t.Context()); !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
}

// A process that starts suspended is recorded from its first event.
func TestLivePort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "port")
	port, err := diagnostics.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s := startShop(t, []string{"DOTNET_DiagnosticPorts=" + path}, "hello")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	a, err := port.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.Client.Timeout = time.Minute
	info, err := a.Client.Info(ctx)
	if err != nil || a.PID != uint64(s.cmd.Process.Pid) || info.PID != a.PID || info.Cookie != a.Cookie {
		t.Errorf("%+v, %+v, %v", a, info, err)
	}
	t.Logf("before the start: %+v", info)
	if err := a.Client.SetEnvironment(ctx, "NTCONV_SET", "1"); err != nil {
		t.Error(err)
	}
	session, err := a.Client.Collect(ctx, diagnostics.Config{RundownKeywords: diagnostics.NamesRundown, Providers: []diagnostics.Provider{runtimeProvider}})
	if err != nil {
		t.Fatal(err)
	}
	if text := s.output.String(); strings.Contains(text, "hello") {
		t.Errorf("the program runs before Resume: %q", text)
	}
	if err := a.Client.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	trace, err := io.ReadAll(session)
	if err != nil || !bytes.HasPrefix(trace, []byte("Nettrace")) || len(trace) < 100_000 {
		t.Errorf("%d bytes, %v", len(trace), err)
	}
	if err := <-s.exited; err != nil || !strings.Contains(s.output.String(), "hello from the shop") {
		t.Errorf("%v: %q", err, s.output.String())
	}
	if err := port.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the socket remains")
	}
	if _, err := port.Accept(ctx); err == nil {
		t.Error("a closed port accepts")
	}
}
