package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// An Info is what a process answers about itself. The strings are those of the process: they may have any length up to
// 32,000 characters and may contain control characters.
type Info struct {
	PID         uint64   // in the PID namespace of the process, so 1 in most containers
	Cookie      [16]byte // random number of the runtime instance
	CommandLine string   // arguments separated by spaces; only the program while the runtime is starting
	OS          string   // "Linux", "macOS", "Windows"
	Arch        string   // "x64", "arm64"
	Assembly    string   // name of the entry assembly; "" before .NET 7
	Runtime     string   // version, such as "10.0.12"; "" before .NET 7
	RID         string   // runtime identifier, such as "linux-x64"; "" before .NET 8
}

// Info asks a process about itself with ProcessInfo3. It falls back to ProcessInfo2 and ProcessInfo for older runtimes;
// .NET Core 3 knows none of them, and the error is ErrUnknownCommand.
func (c *Client) Info(ctx context.Context) (info Info, err error) {
	for _, version := range []command{processInfo3, processInfo2, processInfo} {
		err = c.ask(ctx, newRequest(version), func(payload []byte, _ io.Reader) (err error) {
			info, err = parseInfo(payload, version)
			return err
		})
		if !errors.Is(err, ErrUnknownCommand) {
			break
		}
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// Environment returns the environment variables of a process as NAME=VALUE, in its order. They may contain secrets. An
// environment of more than 16 MiB is ErrProtocol.
func (c *Client) Environment(ctx context.Context) (list []string, err error) {
	err = c.ask(ctx, newRequest(processEnvironment), func(payload []byte, more io.Reader) (err error) {
		list, err = readEnvironment(more, payload)
		return err
	})
	return list, err
}

// SetEnvironment sets an environment variable of a process. The program sees it if it reads its environment later; call
// it before Resume to be sure.
func (c *Client) SetEnvironment(ctx context.Context, name, value string) error {
	r, err := variable(name)
	if err != nil {
		return err
	}
	r.text("the value of "+name, value)
	return c.do(ctx, r)
}

// UnsetEnvironment removes an environment variable of a process.
func (c *Client) UnsetEnvironment(ctx context.Context, name string) error {
	r, err := variable(name)
	if err != nil {
		return err
	}
	r.noText()
	return c.do(ctx, r)
}

// variable begins the request that sets a variable.
func variable(name string) (*request, error) {
	r := newRequest(setEnvironment)
	if name == "" {
		return nil, fmt.Errorf("%s: %w: the variable has no name", r.name, ErrRequest)
	}
	r.text("the name of a variable", name)
	return r, nil
}

// Resume starts the program of a process that waits for it. A process waits if it was started with a diagnostic port that
// suspends, which is the default of DOTNET_DiagnosticPorts; it needs one Resume from each of these ports. Resume does
// nothing if the process does not wait.
func (c *Client) Resume(ctx context.Context) error { return c.do(ctx, newRequest(resumeRuntime)) }

// A PerfMapType selects the files that EnablePerfMap makes a process write.
type PerfMapType uint32

// Types of perf maps. The files are in /tmp, even if the process has another TMPDIR, and remain when the process has
// exited.
const (
	PerfMapAll     PerfMapType = 1 // both
	PerfMapJITDump PerfMapType = 2 // jit-PID.dump, for perf inject
	PerfMapFile    PerfMapType = 3 // perf-PID.map
)

// EnablePerfMap makes a process write symbols of its compiled methods for Linux perf, from .NET 8. PID in the names of the
// files is Process.InnerPID.
func (c *Client) EnablePerfMap(ctx context.Context, kind PerfMapType) error {
	r := newRequest(enablePerfMap)
	r.uint32(uint32(kind))
	return c.do(ctx, r)
}

// DisablePerfMap ends the effect of EnablePerfMap. The files remain.
func (c *Client) DisablePerfMap(ctx context.Context) error {
	return c.do(ctx, newRequest(disablePerfMap))
}

// do makes a request that is answered by an HRESULT.
func (c *Client) do(ctx context.Context, r *request) error {
	return c.ask(ctx, r, func(payload []byte, _ io.Reader) error { return parseResult(payload, r.command) })
}
