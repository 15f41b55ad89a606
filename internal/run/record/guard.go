package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
)

// A Guard is the command line of a process that calls KeepRunning with its standard input and the last argument, which is added.
// It takes over when this process is killed: without it, runtimes that wait at the port, and those that the program starts
// later, would wait forever. A nil Guard is none.
type Guard []string

// A guarding is a guard that runs. Methods of a nil guarding do nothing.
type guarding struct {
	cmd *exec.Cmd
	to  io.WriteCloser
}

// start starts the guard of a port.
func (g Guard) start(socket string) (*guarding, error) {
	if len(g) == 0 {
		return nil, nil
	}
	cmd := exec.Command(g[0], append(slices.Clone(g[1:]), socket)...)
	cmd.SysProcAttr = ownGroup()
	to, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the guard of the diagnostic port: %w", err)
	}
	return &guarding{cmd, to}, nil
}

// of states which program the guard is for.
func (g *guarding) of(pid int) {
	if g != nil {
		fmt.Fprintln(g.to, pid) // a guard that has ended is of no use
	}
}

// end ends the guard: nothing waits at the port any more.
func (g *guarding) end() {
	if g == nil {
		return
	}
	fmt.Fprintln(g.to, 0)
	g.to.Close()
	_ = g.cmd.Wait() // it leaves nothing
}

// programEvery is the interval at which a guard looks whether the program still runs.
const programEvery = time.Second

// startWithin is the time in which the runtime of a program connects.
const startWithin = 10 * time.Second

// KeepRunning waits for the end of the process that owns a port, which writes the PID of its program to in, and 0 at its proper
// end. If there is no such end, KeepRunning lets all runtimes run that wait at the port, until the program has ended. If the owner
// was killed as it started the program, the PID is unknown, and KeepRunning does so for startWithin.
func KeepRunning(in io.Reader, socket string) error {
	pid, owned := 0, true
	for lines := bufio.NewScanner(in); owned && lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		if owned = n != 0; owned {
			pid = n
		}
	}
	if !owned {
		return nil
	}
	begin := time.Now()
	defer os.RemoveAll(filepath.Dir(socket)) // the owner could not
	os.Remove(socket)
	port, err := diagnostics.Listen(socket)
	if err != nil {
		return err
	}
	defer port.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		for pid > 0 && runs(pid) || pid == 0 && time.Since(begin) < startWithin {
			time.Sleep(programEvery)
		}
	}()
	for {
		a, err := port.Accept(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case err == nil:
			go func() { _ = release(ctx, a.Client) }()
		}
	}
}
