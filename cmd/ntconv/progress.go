package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// progress shows how much of the input has been read, as long as a person watches standard error and no lines go to the
// same terminal. The function that is returned takes the bar away.
func (a *app) progress(in *input, what string) (stop func()) {
	if a.quiet || a.report == reportJSON || !terminal(a.stderr) || a.lines && terminal(a.stdout) {
		return func() {}
	}
	size := in.raw.Size()
	if size <= 0 {
		size = -1 // a spinner
	}
	bar := progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = bar.Set64(in.raw.Read()) // a bar that cannot be drawn harms nobody
			case <-quit:
				_ = bar.Clear()
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
