package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// catchSignals removes unfinished outputs when the user interrupts, and ends the process. A second signal ends it at
// once. Writing to a closed pipe becomes an error of the write, so that temporary files are removed in this case, too.
// stop ends the handling of signals.
func (a *app) catchSignals() (stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	ch := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(ch, s)
		}
	}
	go func() {
		s, ok := <-ch
		for stop := a.stopFollowing.Swap(nil); ok && stop != nil; stop = a.stopFollowing.Swap(nil) {
			(*stop)()
			s, ok = <-ch
		}
		if !ok {
			return
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		code := exitSignal + int(syscall.SIGINT)
		if n, ok := s.(syscall.Signal); ok {
			code = exitSignal + int(n)
		}
		a.end(code, func() {
			if message := a.interruptMessage.Load(); message != nil &&
				s != syscall.SIGHUP { // a closed terminal shows nothing
				a.lastWords((*message)())
			}
		})
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}

// following returns the context for files that are read while they grow. The first signal ends it, so that the output
// is completed with what was read; the second one ends the process.
func (a *app) following() context.Context {
	if a.followed == nil {
		ctx, stop := context.WithCancel(context.Background())
		a.followed = ctx
		a.stopFollowing.Store(&stop)
	}
	return a.followed
}

// end completes outputs that only wait for others, removes unfinished ones, prints a message and exits. It runs on another goroutine than the command, which
// continues meanwhile. Only the first call ends the process; other calls block.
func (a *app) end(code int, say func()) {
	if !a.ended.CompareAndSwap(false, true) {
		select {}
	}
	if restore := a.restore.Load(); restore != nil {
		(*restore)()
	}
	if publish := a.publish.Load(); publish != nil && code != exitLimit {
		(*publish)()
	}
	_ = a.cleaner.AbortAll() // errors of the removal cannot be handled any more
	a.temps.remove()
	say()
	os.Exit(code)
}

// lastWords prints a message to standard error, on a new line if a progress bar or ^C may be on the current one.
func (a *app) lastWords(text string) {
	text = "ntconv: " + message.Shorten(text)
	if terminal(a.stderr) {
		text = "\n" + text
	}
	fmt.Fprintln(a.stderr, text)
}

// outOfMemory ends the process because the live heap exceeds the limit. It prints the message and summary that an error
// of the command would print.
func (a *app) outOfMemory(err error) {
	a.end(exitLimit, func() {
		var sum pass.Summary
		if begun := a.begun.Load(); begun != nil {
			sum = *begun
			if sum.Input != "" && !a.severalOutputs {
				err = &input.Error{Name: input.NameOf(sum.Input, max(0, len(sum.Inputs)-1)), Err: err}
			}
		}
		if kept := a.remains.Load(); kept != nil {
			err = fmt.Errorf("%w; %s", err, (*kept)())
		}
		if a.report != reportJSON {
			a.lastWords(message.Visible(err.Error()))
			return
		}
		sum.Exit, sum.Error = exitLimit, err.Error()
		_ = sum.WriteJSON(a.stderr) // the exit code is enough
	})
}

// begin sets the summary of the run.
func (a *app) begin(sum *pass.Summary) {
	sum.Input = fileio.Shown(sum.Input)
	for i, name := range sum.Inputs {
		if shown := fileio.Shown(name); shown != name {
			sum.Inputs = slices.Clone(sum.Inputs) // the names are needed to open the inputs
			sum.Inputs[i] = shown
		}
	}
	a.sum = sum
	first := *sum
	a.begun.Store(&first)
}

// onInterrupt sets the message that is printed if the user interrupts from now on; "" means none.
func (a *app) onInterrupt(text string) {
	if text == "" {
		a.interruptMessage.Store(nil)
		return
	}
	a.sayOnInterrupt(func() string { return text })
}

func (a *app) sayOnInterrupt(text func() string) {
	if !a.quiet && a.report != reportJSON {
		a.interruptMessage.Store(&text)
	}
}

// keepsOnInterrupt is for runs whose output partly remains after an interruption or an exceeded memory limit. kept
// describes that part and must be safe for concurrent use.
func (a *app) keepsOnInterrupt(kept func() string) {
	a.remains.Store(&kept)
	a.sayOnInterrupt(func() string { return "interrupted; " + kept() })
}

// temps are temporary files and directories to remove, and programs to end, before the process ends.
type temps struct {
	mu       sync.Mutex
	names    []string
	programs map[*os.Process]struct{}
	over     bool
}

// create creates a temporary file and removes its name, at once if the system permits that, else before the process
// ends.
func (t *temps) create() (*os.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, fileio.ErrAborted
	}
	f, err := os.CreateTemp("", "ntconv-*")
	if err == nil && os.Remove(f.Name()) != nil {
		t.names = append(t.names, f.Name())
	}
	return f, err
}

// createDir creates a temporary directory, which is removed with its contents before the process ends.
func (t *temps) createDir() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return "", fileio.ErrAborted
	}
	name, err := os.MkdirTemp("", "ntconv-*")
	if err == nil {
		t.names = append(t.names, name)
	}
	return name, err
}

// run runs a program to its end. If the process ends earlier, the program is killed, because it may read temporary
// files.
func (t *temps) run(cmd *exec.Cmd) error {
	t.mu.Lock()
	err := error(fileio.ErrAborted)
	if !t.over {
		err = cmd.Start()
	}
	if err == nil {
		if t.programs == nil {
			t.programs = make(map[*os.Process]struct{})
		}
		t.programs[cmd.Process] = struct{}{}
	}
	t.mu.Unlock()
	if err != nil {
		return err
	}
	err = cmd.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.programs, cmd.Process)
	return err
}

// remove ends all programs and removes all files. Later calls of create fail.
func (t *temps) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for p := range t.programs {
		_ = p.Kill()
	}
	for _, name := range t.names {
		_ = os.RemoveAll(name)
	}
	t.names = nil
}
