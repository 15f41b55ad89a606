package main

import (
	"io"
	"os"
	"time"

	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// progress shows how much of the input has been read, as long as a person watches standard error and no lines go to the
// same terminal. The function that is returned takes the bar away.
func (a *app) progress(in *input.Input, what string) (stop func()) {
	if !a.showsProgress() {
		return func() {}
	}
	describe := func() string {
		if sent := a.sent.Load(); sent != nil {
			return what + ", " + (*sent)()
		}
		return what
	}
	return showProgress(a.stderr, describe, in.Size(), in.Read)
}

// showsProgress reports whether progress is shown.
func (a *app) showsProgress() bool {
	return !a.quiet && a.report != reportJSON && terminal(a.stderr) && !(a.lines && terminal(a.stdout))
}

// copying shows how much of a pipe has been copied to a temporary file, as progress does.
func (a *app) copying(copied func() int64) (stop func()) {
	if !a.showsProgress() {
		return func() {}
	}
	return showProgress(a.stderr, func() string { return "copying" }, -1, copied)
}

// showProgress draws how many bytes of size have been read, or a spinner if the size is unknown, after a description. Nothing is drawn any more, and
// nothing of it is left on the line, when stop returns.
func showProgress(w io.Writer, what func() string, size int64, read func() int64) (stop func()) {
	if size <= 0 {
		size = -1 // a spinner
	}
	describe := what // it may name a file
	what = func() string { return message.Line(describe()) }
	shown := what()
	bar := progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(shown),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine of the bar's own draws, which Clear does not end
		progressbar.OptionClearOnFinish())
	bar.StartWithoutRender() // else time begins with the first drawing, which then shows all bytes so far as read in no time
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if text := what(); text != shown {
					shown = text
					bar.Describe(text) // it draws, so not without need
				}
				_ = bar.Set64(read()) // a bar that cannot be drawn harms nobody
				_ = bar.RenderBlank() // time goes on though nothing was read
			case <-quit:
				_ = bar.Clear()
				_ = bar.Exit()
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
