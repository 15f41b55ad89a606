package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// catchSignals removes what is unfinished when the user interrupts, and ends the process. A second signal during that
// ends it at once. Writing to a pipe that nobody reads becomes an error of the write, so that temporary files are removed
// then too. The function that is returned ends the watch.
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
		if !ok {
			return
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		code := exitSignal + int(syscall.SIGINT)
		if n, ok := s.(syscall.Signal); ok {
			code = exitSignal + int(n)
		}
		a.signaled.Store(true)
		// A file that is being created is known in a moment; a FIFO may wait for its reader for ever.
		for range 50 {
			if a.creating.TryLock() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = a.cleaner.AbortAll() // the process ends; what cannot be removed cannot be helped
		a.temps.remove()
		os.Exit(code)
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}

// temps are temporary files to be removed before the process ends.
type temps struct {
	mu    sync.Mutex
	names []string
}

func (t *temps) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
}

func (t *temps) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range t.names {
		_ = os.Remove(name)
	}
	t.names = nil
}
