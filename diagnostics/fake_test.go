//go:build unix

package diagnostics_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

var sampler = diagnostics.Provider{Name: "Microsoft-DotNETCore-SampleProfiler", Level: 4}

// listen starts a fake process and returns a client of it with a short time limit.
func listen(t *testing.T, r *fakeruntime.Runtime) *diagnostics.Client {
	t.Helper()
	c := diagnostics.NewClient(r.Listen(t, t.TempDir(), 1))
	c.Timeout = 10 * time.Second
	return c
}

func TestInfo(t *testing.T) {
	for release, want := range map[int]diagnostics.Info{
		10: {Assembly: "shop", Runtime: "10.0.12", RID: "linux-x64"},
		7:  {Assembly: "shop", Runtime: "10.0.12"},
		5:  {},
	} {
		r := fakeruntime.New(t)
		r.Release, r.CommandLine = release, "shop 'ü 😀'\x1b[31m"
		want.PID, want.Cookie, want.CommandLine, want.OS, want.Arch = r.PID, r.Cookie, r.CommandLine, r.OS, r.Arch
		if info, err := listen(t, r).Info(t.Context()); err != nil || info != want {
			t.Errorf(".NET %d: %+v, %v, want %+v", release, info, err, want)
		}
	}
	r := fakeruntime.New(t)
	r.Release = 3
	if _, err := listen(t, r).Info(t.Context()); !errors.Is(err, diagnostics.ErrUnknownCommand) {
		t.Error(err)
	}
	if want := []string{"ProcessInfo3", "ProcessInfo2", "ProcessInfo"}; !slices.Equal(r.Requests(), want) {
		t.Errorf("%q, want %q", r.Requests(), want)
	}
}

func TestEnvironment(t *testing.T) {
	r := fakeruntime.New(t)
	c := listen(t, r)
	for i := range 20_000 { // more than a message
		r.Environ = append(r.Environ, fmt.Sprintf("VARIABLE_%d=value", i))
	}
	want := slices.Clone(r.Environ)
	if env, err := c.Environment(t.Context()); err != nil || !slices.Equal(env, want) {
		t.Errorf("%d variables, %v, want %d", len(env), err, len(want))
	}
	for _, err := range []error{
		c.SetEnvironment(t.Context(), "A", "1"), c.SetEnvironment(t.Context(), "B", ""), c.UnsetEnvironment(t.Context(), "PATH"),
		c.Resume(t.Context()), c.EnablePerfMap(t.Context(), diagnostics.PerfMapAll), c.DisablePerfMap(t.Context()),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	env, err := c.Environment(t.Context())
	if err != nil || !slices.Contains(env, "A=1") || !slices.Contains(env, "B=") || slices.Contains(env, "PATH=/bin") {
		t.Errorf("%d variables, %v", len(env), err)
	}
	if err := c.EnablePerfMap(t.Context(), 9); !errors.Is(err, diagnostics.ErrBadEncoding) {
		t.Error(err)
	}
	for _, err := range []error{c.SetEnvironment(t.Context(), "", "1"), c.SetEnvironment(t.Context(), "A", "1\x002")} {
		if !errors.Is(err, diagnostics.ErrRequest) {
			t.Error(err)
		}
	}
	if err := c.SetEnvironment(t.Context(), "LONG", strings.Repeat("x", 40_000)); !errors.Is(err, diagnostics.ErrTooLarge) ||
		!strings.Contains(err.Error(), "the value of LONG with 80006 bytes") {
		t.Error(err)
	}
}

// operations are the requests of a client.
var operations = map[string]func(context.Context, *diagnostics.Client) error{
	"ProcessInfo3": func(ctx context.Context, c *diagnostics.Client) error {
		_, err := c.Info(ctx)
		return err
	},
	"ProcessEnvironment": func(ctx context.Context, c *diagnostics.Client) error {
		_, err := c.Environment(ctx)
		return err
	},
	"SetEnvironmentVariable": func(ctx context.Context, c *diagnostics.Client) error { return c.SetEnvironment(ctx, "A", "1") },
	"ResumeRuntime":          func(ctx context.Context, c *diagnostics.Client) error { return c.Resume(ctx) },
	"EnablePerfMap":          func(ctx context.Context, c *diagnostics.Client) error { return c.EnablePerfMap(ctx, 1) },
	"DisablePerfMap":         func(ctx context.Context, c *diagnostics.Client) error { return c.DisablePerfMap(ctx) },
	"CollectTracing2": func(ctx context.Context, c *diagnostics.Client) error {
		s, err := c.Collect(ctx, diagnostics.Config{Providers: []diagnostics.Provider{{Name: "P"}}})
		if err == nil {
			err = s.Close()
		}
		return err
	},
}

// An answer that ends at any byte is an error, and so is one that is silent from there on.
func TestCutAnswers(t *testing.T) {
	for name, operation := range operations {
		for n := 0; ; n++ {
			r := fakeruntime.New(t)
			length := 0
			r.Faults = map[string]fakeruntime.Fault{name: {Edit: func(b []byte) []byte {
				length = len(b)
				return b[:min(n, len(b))]
			}}}
			err := operation(t.Context(), listen(t, r))
			whole := n >= length && length > 0
			switch {
			case n == 0 && !errors.Is(err, diagnostics.ErrGone):
				t.Errorf("%s: no byte: %v", name, err)
			case n > 0 && !whole && !errors.Is(err, diagnostics.ErrProtocol):
				t.Errorf("%s: %d of %d bytes: %v", name, n, length, err)
			case whole && err != nil:
				t.Errorf("%s: %d of %d bytes: %v", name, n, length, err)
			}
			if r.Kill(); whole {
				break
			}
		}
	}
}

func TestSilence(t *testing.T) {
	for name, operation := range operations {
		for _, n := range []int{0, 1, 10, 19, 20, 21} {
			r := fakeruntime.New(t)
			r.Faults = map[string]fakeruntime.Fault{name: fakeruntime.Cut(n, fakeruntime.Silence)}
			c := listen(t, r)
			c.Timeout = 30 * time.Millisecond
			if err := operation(t.Context(), c); !errors.Is(err, diagnostics.ErrTimeout) {
				t.Errorf("%s: %d bytes: %v", name, n, err)
			}
			c.Timeout = time.Minute
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			if err := operation(ctx, c); !errors.Is(err, diagnostics.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %d bytes: %v", name, n, err)
			}
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			if err := operation(ctx, c); !errors.Is(err, context.Canceled) || errors.Is(err, diagnostics.ErrTimeout) {
				t.Errorf("%s: %d bytes: %v", name, n, err)
			}
			r.Kill()
		}
	}
}

func TestInvalidAnswers(t *testing.T) {
	many := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	for what, fault := range map[string]fakeruntime.Fault{
		"magic":                fakeruntime.Put(0, "HTTP/1.1 400 B"),
		"version":              fakeruntime.Put(11, "2"),
		"size 0":               fakeruntime.Size(0, fakeruntime.Close),
		"size 19":              fakeruntime.Size(19, fakeruntime.Close),
		"size beyond the end":  fakeruntime.Size(65535, fakeruntime.Close),
		"command set":          fakeruntime.Put(16, "\x04"),
		"command":              fakeruntime.Put(17, "\x07"),
		"error without a code": {Edit: func([]byte) []byte { return []byte("DOTNET_IPC_V1\x00\x14\x00\xff\xff\x00\x00") }},
	} {
		for name, operation := range operations {
			r := fakeruntime.New(t)
			r.Faults = map[string]fakeruntime.Fault{name: fault}
			if err := operation(t.Context(), listen(t, r)); !errors.Is(err, diagnostics.ErrProtocol) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
			r.Kill()
		}
	}
	for what, c := range map[string]struct {
		operation string
		payload   []byte
		then      fakeruntime.End
	}{
		"string":               {"ProcessInfo3", append(make([]byte, 28), many...), fakeruntime.Close},
		"version 0":            {"ProcessInfo3", make([]byte, 100), fakeruntime.Close},
		"session ID 0":         {"CollectTracing2", make([]byte, 8), fakeruntime.Close},
		"environment":          {"ProcessEnvironment", many, fakeruntime.Close},
		"endless environment":  {"ProcessEnvironment", many, fakeruntime.Endless},
		"environment of zeros": {"ProcessEnvironment", []byte{3, 0, 0, 0, 0, 0}, fakeruntime.Endless},
		"no environment":       {"ProcessEnvironment", make([]byte, 4), fakeruntime.Close},
	} {
		r := fakeruntime.New(t)
		r.Faults = map[string]fakeruntime.Fault{c.operation: fakeruntime.Payload(c.payload, c.then)}
		if err := operations[c.operation](t.Context(), listen(t, r)); !errors.Is(err, diagnostics.ErrProtocol) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An answer that never ends uses no more memory than its valid part.
func TestEndlessAnswers(t *testing.T) {
	for name, operation := range operations {
		r := fakeruntime.New(t)
		r.Faults = map[string]fakeruntime.Fault{name: {Then: fakeruntime.Endless}}
		c := listen(t, r)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := operation(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

func TestErrors(t *testing.T) {
	for code, want := range map[uint32]error{
		0x80131384: diagnostics.ErrBadEncoding, 0x80131385: diagnostics.ErrUnknownCommand, 0x80131386: diagnostics.ErrUnknownMagic,
		0x80131515: diagnostics.ErrNotSupported, 0x80004005: diagnostics.ErrFailed, 0x8013135b: diagnostics.ErrNotYetAvailable,
		0x80131371: diagnostics.ErrNotYetAvailable, 0x80070057: diagnostics.ErrInvalidArgument, 0x8007007a: diagnostics.ErrInvalidArgument,
		0x800000cb: diagnostics.ErrVariableNotFound, 0x81234567: nil,
	} {
		for name, operation := range operations {
			r := fakeruntime.New(t)
			r.Faults = map[string]fakeruntime.Fault{"": fakeruntime.Fail(code)}
			err := operation(t.Context(), listen(t, r))
			var answer *diagnostics.Error
			if !errors.As(err, &answer) || answer.HResult != code || want != nil && !errors.Is(err, want) ||
				!strings.Contains(err.Error(), fmt.Sprintf("0x%08x", code)) {
				t.Errorf("%s: 0x%x: %v", name, code, err)
			}
			if errors.Is(err, diagnostics.ErrProtocol) || answer != nil && code != 0x80131385 && answer.Command != name {
				t.Errorf("%s: 0x%x: %v of %s", name, code, err, answer.Command)
			}
			r.Kill()
		}
	}
	// A successful answer has an HRESULT, or nothing.
	r := fakeruntime.New(t)
	r.Faults = map[string]fakeruntime.Fault{"": fakeruntime.Payload([]byte{0x15, 0x15, 0x13, 0x80}, fakeruntime.Close)}
	if err := listen(t, r).Resume(t.Context()); !errors.Is(err, diagnostics.ErrNotSupported) {
		t.Error(err)
	}
	r = fakeruntime.New(t)
	r.Faults = map[string]fakeruntime.Fault{"": fakeruntime.Payload(nil, fakeruntime.Close)}
	if err := listen(t, r).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// Nobody listens at the path.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	_, err := diagnostics.NewClient(filepath.Join(dir, "none")).Info(t.Context())
	if !errors.Is(err, diagnostics.ErrGone) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	r := fakeruntime.New(t)
	c := listen(t, r)
	r.Kill()
	if _, err := c.Info(t.Context()); !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
}

// A client that has sent half a header keeps the process from answering others.
func TestOtherClient(t *testing.T) {
	r := fakeruntime.New(t)
	path := r.Listen(t, t.TempDir(), 1)
	other, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte("DOTNET_IPC")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	c := diagnostics.NewClient(path)
	c.Timeout = 50 * time.Millisecond
	if _, err := c.Info(t.Context()); !errors.Is(err, diagnostics.ErrTimeout) || !strings.Contains(err.Error(), "another client") {
		t.Error(err)
	}
	c.Timeout = time.Minute
	time.AfterFunc(20*time.Millisecond, func() { _ = other.Close() })
	if _, err := c.Info(t.Context()); err != nil {
		t.Error(err)
	}
}

// A path that does not fit into the address of a socket is reached through its directory.
func TestLongPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc/self/fd")
	}
	r := fakeruntime.New(t)
	short := t.TempDir()
	r.Listen(t, short, 1)
	name := fakeruntime.SocketName(int(r.PID), 1)
	path := short + strings.Repeat("/.", 100) + "/" + name
	if _, err := diagnostics.NewClient(path).Info(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := diagnostics.NewClient(path + "none/x").Info(t.Context()); !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
}

const isLinux = runtime.GOOS == "linux"

var _ io.Reader = (*diagnostics.Session)(nil)

func readAll(t *testing.T, s *diagnostics.Session) []byte {
	t.Helper()
	b, err := io.ReadAll(s)
	if err != nil {
		t.Error(err)
	}
	return bytes.Clone(b)
}
