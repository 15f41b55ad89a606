package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/ntconv/ntconv/diagnostics"
)

// portVariable is the environment variable from which a runtime takes the port that it connects to. By default the runtime
// waits there before it runs the program.
const portVariable = "DOTNET_DiagnosticPorts"

// A Program is a program that was started to be recorded from its first instruction. The first .NET process that connects
// to our port is recorded; others, which inherit the variable, go on at once.
//
//	Start   → the program runs; its runtimes wait on the port
//	Target  → the first runtime, which still waits
//	Resume  → it runs
//	Wait    → the program has ended, and with it the port
type Program struct {
	cmd   *exec.Cmd
	port  *diagnostics.Port
	guard *guarding
	dir   string
	first chan *diagnostics.Advertised
	ended chan struct{} // closed when the program has ended
	err   error         // of cmd.Wait; valid after ended
	done  sync.WaitGroup
	stop  context.CancelFunc
}

// Streams are the standard streams of a program.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Start starts a program. The caller calls Wait.
func Start(args []string, s Streams, g Guard) (*Program, error) {
	dir, err := os.MkdirTemp("", "ntconv-port-*") // with permission for its owner only
	if err != nil {
		return nil, err
	}
	p := &Program{dir: dir, first: make(chan *diagnostics.Advertised, 1), ended: make(chan struct{})}
	socket := filepath.Join(dir, "port")
	if p.port, err = diagnostics.Listen(socket); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if p.guard, err = g.start(socket); err != nil {
		p.close()
		return nil, err
	}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.In, s.Out, s.Err
	p.cmd.Env = append(os.Environ(), portVariable+"="+socket+",suspend")
	if err := p.cmd.Start(); err != nil {
		p.close()
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	p.guard.of(p.cmd.Process.Pid)
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	p.done.Go(func() { p.accept(ctx) })
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// accept receives runtimes until the program has ended. All but the first run on at once: nobody else would let them.
func (p *Program) accept(ctx context.Context) {
	recorded := false
	for {
		a, err := p.port.Accept(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, os.ErrClosed):
			return
		case err != nil: // of one connection
			continue
		case !recorded:
			recorded = true
			p.first <- a
		default:
			p.done.Go(func() { _ = release(ctx, a.Client) })
		}
	}
}

// release lets a runtime run, with an environment in which programs that it starts do not wait for a port.
func release(ctx context.Context, c *diagnostics.Client) error {
	_ = c.UnsetEnvironment(ctx, portVariable) // an old runtime cannot; its children then connect, too
	return c.Resume(ctx)
}

// ErrNotDotnet means that a program ended before a .NET runtime connected to the port.
var ErrNotDotnet = errors.New("the program ended and no .NET runtime connected to the diagnostic port")

// Target returns the first runtime that connected. It waits until Resume is called.
func (p *Program) Target(ctx context.Context) (*Target, error) {
	select {
	case a := <-p.first:
		t := &Target{PID: int(a.PID), Client: a.Client}
		var err error
		if t.Info, err = a.Client.Info(ctx); err != nil {
			return nil, fmt.Errorf("process %d: %w", a.PID, err)
		}
		t.Name = nameOf(&t.Info, "")
		return t, nil
	case <-p.ended:
		return nil, ErrNotDotnet
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Resume lets the recorded runtime run.
func (p *Program) Resume(ctx context.Context, t *Target) error { return release(ctx, t.Client) }

// Kill ends the program.
func (p *Program) Kill() { _ = p.cmd.Process.Kill() }

// Wait waits for the end of the program, closes the port, and returns the exit code: 128 and the number of the signal that
// ended it.
func (p *Program) Wait() (code int) {
	<-p.ended
	p.stop()
	p.close()
	p.done.Wait()
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exitCode(exit.ProcessState)
	}
	if p.err != nil {
		return 1
	}
	return 0
}

func (p *Program) close() {
	p.guard.end()
	p.port.Close()
	os.RemoveAll(p.dir)
}
