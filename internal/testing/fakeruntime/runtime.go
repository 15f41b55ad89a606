// Package fakeruntime behaves as the diagnostic server of a .NET process, for tests of clients: it answers the commands of
// the diagnostic IPC protocol, streams the bytes of a trace, and plays the faults of a process that is not a runtime.
//
// As in a runtime, one goroutine serves all requests in turn: a request that is not complete, and a session that is being
// stopped while nobody reads its stream, delay all others. The package has its own code for messages, so that a mistake of
// the client is not in both.
package fakeruntime

import (
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// A Runtime is a fake .NET process. Set its fields before Listen or Advertise.
type Runtime struct {
	PID                                           uint64
	Cookie                                        [16]byte
	CommandLine, OS, Arch, Assembly, Version, RID string
	Environ                                       []string
	Release                                       int              // of .NET, such as 8: later commands are unknown. 0 means 10
	Trace                                         []byte           // stream of sessions
	Head                                          int              // bytes of Trace that are sent before the session is stopped
	Piece                                         int              // bytes of each write of the stream, 0 for 512
	Faults                                        map[string]Fault // by the name of a command, or "" for all others

	mu         sync.Mutex
	sessions   []*Session
	stops      []uint64
	requests   []string
	connection []net.Conn // open ones, which Kill closes
	listeners  []net.Listener
	killed     bool
	exiting    chan struct{}
	resumed    chan struct{}
	serving    sync.Mutex // the one thread of the server
}

// New returns a Runtime that describes itself as a program on .NET 10. Its connections are closed when the test ends.
func New(tb testing.TB) *Runtime {
	r := &Runtime{
		PID: 4711, Cookie: [16]byte{1, 2, 3}, CommandLine: "/usr/bin/dotnet shop.dll run", OS: "Linux", Arch: "x64", Assembly: "shop",
		Version: "10.0.12", RID: "linux-x64", Environ: []string{"PATH=/bin", "EMPTY="}, Trace: []byte("Nettrace trace of a fake"),
		exiting: make(chan struct{}), resumed: make(chan struct{}),
	}
	tb.Cleanup(r.Kill)
	return r
}

// SocketName returns the name of the socket of a process with a start time.
func SocketName(pid int, key uint64) string {
	return fmt.Sprintf("dotnet-diagnostic-%d-%d-socket", pid, key)
}

// Listen makes the process listen at a socket with the name of its PID and a start time in a directory. It returns the
// path.
func (r *Runtime) Listen(tb testing.TB, dir string, key uint64) string {
	tb.Helper()
	path := filepath.Join(dir, SocketName(int(r.PID), key))
	r.ListenAt(tb, path)
	return path
}

// ListenAt makes the process listen at a path.
func (r *Runtime) ListenAt(tb testing.TB, path string) {
	tb.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that is killed
	r.mu.Lock()
	r.listeners = append(r.listeners, l)
	r.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r.keep(c) {
				go r.serve(c, nil)
			}
		}
	}()
}

// keep notes an open connection. It closes it and returns false if the process has been killed.
func (r *Runtime) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		_ = c.Close()
		return false
	}
	r.connection = append(r.connection, c)
	return true
}

// Kill ends the process as SIGKILL does: the socket remains, and streams end where they are.
func (r *Runtime) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	for _, l := range r.listeners {
		_ = l.Close()
	}
	for _, c := range r.connection {
		_ = c.Close()
	}
}

// Exit ends the process as the end of its program does: sessions write the rest of their streams.
func (r *Runtime) Exit() {
	r.mu.Lock()
	for _, l := range r.listeners {
		_ = l.Close()
	}
	sessions := r.sessions
	r.mu.Unlock()
	close(r.exiting)
	for _, s := range sessions {
		<-s.done
	}
	r.Kill()
}

// Requests returns the names of the requests that were received, in order.
func (r *Runtime) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

// Sessions returns the sessions that were started, in order.
func (r *Runtime) Sessions() []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Session(nil), r.sessions...)
}

// Stops returns the session IDs of the StopTracing requests, in order.
func (r *Runtime) Stops() []uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]uint64(nil), r.stops...)
}

// SetFault sets the fault of a command of a process that is running.
func (r *Runtime) SetFault(name string, f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Faults == nil {
		r.Faults = make(map[string]Fault)
	}
	r.Faults[name] = f
}

// Resumed is closed by the first ResumeRuntime.
func (r *Runtime) Resumed() <-chan struct{} { return r.resumed }
