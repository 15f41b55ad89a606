//go:build unix

package diagnostics_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// openPort returns a port and its path.
func openPort(t *testing.T) (*diagnostics.Port, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "port")
	p, err := diagnostics.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, path
}

// accept returns the next runtime of a port.
func accept(t *testing.T, p *diagnostics.Port) *diagnostics.Advertised {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := p.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// acceptsNone reports an error if there is another runtime.
func acceptsNone(t *testing.T, p *diagnostics.Port) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if a, err := p.Accept(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestPort(t *testing.T) {
	p, path := openPort(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	r := fakeruntime.New(t)
	r.Head = 5
	r.Advertise(path)
	a := accept(t, p)
	if a.PID != r.PID || a.Cookie != r.Cookie {
		t.Errorf("%+v", a)
	}
	a.Client.Timeout = time.Minute
	for range 20 { // each on a connection of its own
		if info, err := a.Client.Info(t.Context()); err != nil || info.PID != r.PID {
			t.Errorf("%+v, %v", info, err)
		}
	}
	acceptsNone(t, p)
	s, err := a.Client.Collect(t.Context(), diagnostics.Config{Providers: providers(sampler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Client.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	<-r.Resumed()
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := readAll(t, s); string(got) != string(r.Trace) {
		t.Errorf("%q", got)
	}
	if err := s.StopAnswer(t.Context()); err != nil {
		t.Error(err)
	}
	second := fakeruntime.New(t)
	second.PID, second.Cookie = 1, [16]byte{9}
	second.Advertise(path)
	if b := accept(t, p); b.PID != 1 || b.Cookie != second.Cookie {
		t.Errorf("%+v", b)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the socket remains")
	}
	if _, err := p.Accept(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := a.Client.Info(t.Context()); !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
}

// A request of a runtime that does not connect again ends in time.
func TestPortWithoutConnection(t *testing.T) {
	p, path := openPort(t)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(fakeruntime.Advertisement(7, [16]byte{})); err != nil {
		t.Fatal(err)
	}
	a := accept(t, p)
	if a.PID != 7 || a.Cookie != [16]byte{} {
		t.Errorf("%+v", a)
	}
	_ = c.Close()
	a.Client.Timeout = 20 * time.Millisecond
	if _, err := a.Client.Info(t.Context()); err == nil {
		t.Error("the request succeeds")
	}
	if _, err := a.Client.Info(t.Context()); !errors.Is(err, diagnostics.ErrTimeout) {
		t.Error(err)
	}
}

// A later connection of a runtime replaces the one that waits, which the runtime has given up.
func TestPortReplacesConnections(t *testing.T) {
	p, path := openPort(t)
	var connections []net.Conn
	for range 3 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(fakeruntime.Advertisement(7, [16]byte{1})); err != nil {
			t.Fatal(err)
		}
		connections = append(connections, c)
		if len(connections) == 1 {
			accept(t, p)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, c := range connections[:2] {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Error(err)
		}
	}
	acceptsNone(t, p)
}

// Whoever connects without a valid advertisement is not a runtime, and does not keep runtimes from connecting.
func TestPortGarbage(t *testing.T) {
	p, path := openPort(t)
	valid := fakeruntime.Advertisement(7, [16]byte{2})
	for _, garbage := range [][]byte{nil, []byte("GET / HTTP/1.1\r\n\r\n and more than 34 bytes"), valid[:33], valid[:1], append([]byte("ADVR_V2"), valid[7:]...)} {
		for range 5 {
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := c.Write(garbage); err != nil && len(garbage) < 40 {
				t.Fatal(err)
			}
		}
	}
	r := fakeruntime.New(t)
	r.Advertise(path)
	if a := accept(t, p); a.PID != r.PID {
		t.Errorf("%+v", a)
	}
	acceptsNone(t, p)
}

// Processes that advertise thousands of runtimes are limited in number, and those that have exited make room.
func TestPortFlood(t *testing.T) {
	p, path := openPort(t)
	var open []net.Conn
	for i := range 1100 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		cookie := [16]byte{0xff}
		binary.LittleEndian.PutUint32(cookie[1:], uint32(i))
		if _, err := c.Write(fakeruntime.Advertisement(1<<63, cookie)); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	cookies := map[[16]byte]bool{}
	for range 1024 {
		a := accept(t, p)
		if a.PID != 1<<63 || cookies[a.Cookie] {
			t.Fatalf("%+v", a)
		}
		cookies[a.Cookie] = true
	}
	acceptsNone(t, p)
	if !isLinux {
		return
	}
	for _, c := range open {
		_ = c.Close()
	}
	r := fakeruntime.New(t)
	r.Advertise(path)
	for accept(t, p).PID != r.PID { // one that was too many is accepted if others are closed first
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestListenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none", "port"), filepath.Join(dir, string(slices.Repeat([]byte("x"), 200)))} {
		if p, err := diagnostics.Listen(path); err == nil {
			t.Errorf("%s: %v", path, p)
		}
	}
}
