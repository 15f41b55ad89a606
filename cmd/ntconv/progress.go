package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/message"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// progress shows how much of the input has been read, if standard error is a terminal and no lines are printed to the
// same terminal. stop removes the bar.
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

// copying is progress for copying a pipe to a temporary file.
func (a *app) copying(copied func() int64) (stop func()) {
	if !a.showsProgress() {
		return func() {}
	}
	return showProgress(a.stderr, func() string { return "copying" }, -1, copied)
}

// progressEvery is the interval between two updates.
const progressEvery = 200 * time.Millisecond

// showProgress draws a description and how many bytes of size have been read. A size of 0 or less is unknown. stop
// clears the line; nothing is drawn after it returns.
func showProgress(w io.Writer, what func() string, size int64, read func() int64) (stop func()) {
	p := progressLine{w: w, size: size, start: time.Now()}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.draw(what(), read(), time.Now())
			case <-quit:
				p.clear()
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// A progressLine is the last line of a terminal, which is redrawn in place.
type progressLine struct {
	w     io.Writer
	size  int64 // 0 or less if unknown
	start time.Time
	width int // columns in use
	past  [progressPast]progressMark
	marks int // number of marks set so far
}

// A progressMark is the number of bytes read when a line was drawn. The rate is measured since the oldest kept mark.
type progressMark struct {
	at   time.Time
	read int64
}

const (
	progressPast  = 10 // marks; the rate is that of the last two seconds
	progressWidth = 30 // columns of the bar

	maxProgressLeft = 100 * 60 * 60 // seconds; a longer estimate means that the input has stopped
)

// draw redraws the line. It ignores errors of the terminal.
func (p *progressLine) draw(what string, read int64, now time.Time) {
	since := progressMark{at: p.start}
	if p.marks >= progressPast {
		since = p.past[p.marks%progressPast]
	}
	p.past[p.marks%progressPast] = progressMark{now, read}
	p.marks++
	rate := int64(0)
	if passed := now.Sub(since.at); passed > 0 {
		rate = int64(float64(read-since.read) / passed.Seconds())
	}
	line := message.Line(what)
	elapsed := now.Sub(p.start).Truncate(time.Second)
	if p.size > 0 {
		share := min(max(float64(read)/float64(p.size), 0), 1)
		full := int(share * progressWidth)
		line += fmt.Sprintf(
			" %3d%% |%s%s| (%s/s) [%v",
			int(share*100),
			strings.Repeat("=", full),
			strings.Repeat(" ", progressWidth-full),
			message.Bytes(rate),
			elapsed,
		)
		if left := p.size - read; rate > 0 && left > 0 && left/rate < maxProgressLeft {
			line += fmt.Sprintf(":%v", time.Duration(left/rate)*time.Second)
		}
		line += "]"
	} else {
		line += fmt.Sprintf(" %s (%s/s) [%v]", message.Bytes(read), message.Bytes(rate), elapsed)
	}
	width := columns(line)
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.width-width)))
	p.width = max(p.width, width)
}

// clear erases the line.
func (p *progressLine) clear() {
	if p.width > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
	}
}

// columns returns the maximum number of terminal columns of a text: characters beyond Latin scripts may take two.
func columns(s string) (n int) {
	for _, r := range s {
		n++
		if r >= 0x1100 {
			n++
		}
	}
	return n
}
