//go:build unix

package diagnostics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// fakeSocket returns the socket of a process that plays the shop of the examples, and ends it after use.
func fakeSocket() (socket string, end func()) {
	dir, err := os.MkdirTemp("", "ex")
	if err != nil {
		panic(err)
	}
	var tb exampleTB
	r := fakeruntime.New(&tb)
	socket = r.Listen(&tb, dir, 1)
	return socket, func() {
		r.Kill()
		_ = os.RemoveAll(dir)
	}
}

// An exampleTB is a testing.TB outside of a test.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()        {}
func (exampleTB) Cleanup(func()) {}
func (exampleTB) Fatal(v ...any) { panic(fmt.Sprint(v...)) }

func ExampleFind() {
	processes, err := diagnostics.Find()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range processes {
		if p.State != diagnostics.Listening {
			continue
		}
		c := diagnostics.NewClient(p.Socket)
		c.Timeout = time.Second
		if info, err := c.Info(context.Background()); err == nil {
			fmt.Println(p.PID, info.Assembly, info.Runtime)
		}
	}
}

func ExampleClient_Info() {
	socket, end := fakeSocket() // of diagnostics.Find
	defer end()
	info, err := diagnostics.NewClient(socket).Info(context.Background())
	fmt.Println(info.Assembly, info.Runtime, info.RID, err)
	// Output: shop 10.0.12 linux-x64 <nil>
}

func ExampleClient_Collect() {
	socket, end := fakeSocket() // of diagnostics.Find
	defer end()
	ctx := context.Background()
	session, err := diagnostics.NewClient(socket).Collect(ctx, diagnostics.Config{
		RundownKeywords: diagnostics.DefaultRundown,
		Providers: []diagnostics.Provider{
			{Name: "Microsoft-DotNETCore-SampleProfiler", Level: 4},
			{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x100003801d, Level: 4},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	time.AfterFunc(10*time.Millisecond, func() { _ = session.Stop(ctx) })
	n, err := io.Copy(io.Discard, session) // until the session has ended
	fmt.Println(n, "bytes,", errors.Join(err, session.StopAnswer(ctx), session.Close()))
	// Output: 24 bytes, <nil>
}

// Record a program from its first event: start it with DOTNET_DiagnosticPorts set to the path of a port.
func ExampleListen() {
	dir, err := os.MkdirTemp("", "port") // only this user can read it
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	port, err := diagnostics.Listen(filepath.Join(dir, "port"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = port.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	process, err := port.Accept(ctx)
	if err != nil {
		fmt.Println("no process:", err)
		return
	}
	// Start a session with process.Client.Collect here.
	fmt.Println(process.PID, process.Client.Resume(ctx))
	// Output: no process: context deadline exceeded
}

func ExampleError() {
	var err error = &diagnostics.Error{Command: "CollectTracing5", HResult: 0x80131385}
	fmt.Println(err)
	fmt.Println(errors.Is(err, diagnostics.ErrUnknownCommand))
	// Output:
	// CollectTracing5: the process answers 0x80131385: unknown command; the runtime is older than this command
	// true
}
