package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Values of --progress.
const (
	flagProgress = "progress"

	progressAuto = "auto"
	progressText = "text"
	progressJSON = "json"
	progressNone = "none"
)

// A progressPhase is a part of a run whose progress is shown. Its functions are safe for concurrent use.
type progressPhase struct {
	name   string        // what is done, such as "reading"
	input  string        // name of the input, "" for several
	size   int64         // bytes to read; 0 or less if unknown
	read   func() int64  // bytes read so far
	detail func() string // describes more for display, or nil
	inputs *inputCount   // nil for one input
}

// An inputCount counts the inputs of a run that processes them one by one.
type inputCount struct {
	total        int64
	done, failed atomic.Int64 // failed ones are also done
}

// String describes the count for display.
func (c *inputCount) String() string {
	text := fmt.Sprintf("%s of %s", message.Group(c.done.Load()), message.Count(c.total, "trace"))
	if n := c.failed.Load(); n > 0 {
		text += ", " + message.Group(n) + " failed"
	}
	return text
}

// text describes the phase in a progress bar.
func (m *progressPhase) text() string {
	if m.inputs != nil {
		return m.inputs.String()
	}
	if m.detail != nil {
		if more := m.detail(); more != "" {
			return m.name + ", " + more
		}
	}
	return m.name
}

// progress shows how much of the input has been read. stop ends the display.
func (a *app) progress(in *input.Input, what string) (stop func()) {
	return a.showPhase(&progressPhase{name: what, input: in.Name(), size: in.Size(), read: in.Read, detail: func() string {
		if detail := a.detail.Load(); detail != nil {
			return (*detail)()
		}
		return ""
	}})
}

// copying is progress for copying a pipe to a temporary file.
func (a *app) copying(copied func() int64) (stop func()) {
	return a.showPhase(&progressPhase{name: "copying", size: -1, read: copied})
}

// downloads is the host of downloads. Their progress is a phase, or a detail of the phase that is being shown.
func (a *app) downloads() symbolfiles.Host {
	return symbolfiles.Host{Cleaner: a.cleaner, Progress: func(file string, size int64, read func() int64) (stop func()) {
		if a.phases.Load() == 0 {
			return a.showPhase(&progressPhase{name: "downloading " + file, size: size, read: read})
		}
		text := func() string { return "downloading " + file + ", " + message.Bytes(read()) }
		before := a.detail.Swap(&text)
		return func() { a.detail.Store(before) }
	}}
}

// showPhase shows the progress of a phase in the form that --progress selects. By default it draws a bar if standard
// error is a terminal, no lines are printed to the same terminal, and neither -q nor --report json is set. stop ends
// the display.
func (a *app) showPhase(m *progressPhase) (stop func()) {
	a.phases.Add(1)
	end := a.drawPhase(m)
	return func() {
		end()
		a.phases.Add(-1)
	}
}

func (a *app) drawPhase(m *progressPhase) (stop func()) {
	switch {
	case a.progressForm == progressJSON:
		return a.showProgressJSON(m)
	case a.progressForm == progressNone:
	case terminal(a.stderr) && (a.progressForm == progressText || a.drawsBar()):
		return showProgress(a.stderr, m.text, m.size, m.read)
	case a.progressForm == progressText:
		return a.logProgress(m)
	}
	return func() {}
}

// drawsBar reports whether nothing speaks against a progress bar on a terminal.
func (a *app) drawsBar() bool {
	return !a.quiet && a.report != reportJSON && !(a.lines && terminal(a.stdout))
}

// Intervals between two updates, on a terminal and of lines in a log.
const (
	progressEvery = 200 * time.Millisecond
	logEvery      = time.Second
)

// showProgress draws a description and how many bytes of size have been read. A size of 0 or less is unknown. stop
// clears the line; nothing is drawn after it returns.
func showProgress(w io.Writer, what func() string, size int64, read func() int64) (stop func()) {
	p := progressLine{w: w, size: size, start: time.Now(), limit: func() int { return terminalWidth(w) }}
	return tick(progressEvery, func(now time.Time) { p.draw(what(), read(), now) }, p.clear)
}

// logProgress prints a line per second, because a log cannot be redrawn.
func (a *app) logProgress(m *progressPhase) (stop func()) {
	p := progressLine{size: m.size, start: time.Now()}
	return tick(logEvery, func(now time.Time) { a.printLine(p.text(m.text(), m.read(), now) + "\n") }, func() {})
}

// printLine writes a whole line to standard error. It is safe for concurrent use with itself and ignores errors, as all
// progress does.
func (a *app) printLine(line string) {
	a.printing.Lock()
	defer a.printing.Unlock()
	_, _ = io.WriteString(a.stderr, line)
}

// tick calls update at an interval on a goroutine. stop ends this and calls end; no call follows after it returns.
func tick(interval time.Duration, update func(now time.Time), end func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				update(time.Now())
			case <-quit:
				end()
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
	width int        // columns in use
	limit func() int // columns of the terminal, 0 if unknown; nil: there is no limit
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

// draw redraws the line. It ignores errors of the terminal. A line that is wider than the terminal would leave its beginning
// on the screen each time, so what is done is shortened.
func (p *progressLine) draw(what string, read int64, now time.Time) {
	line, most := p.text(what, read, now), 0
	if p.limit != nil {
		most = p.limit() - 1 // the last column may begin a new line
	}
	if most > 0 && textWidth(line) > most {
		end := strings.TrimPrefix(line, message.Line(what))
		line = fitText(fitText(what, max(0, most-textWidth(end)))+end, most)
		p.width = min(p.width, most)
	}
	width := textWidth(line)
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.width-width)))
	p.width = max(p.width, width)
}

// terminalWidth returns the columns of a terminal, 0 if w is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// rate returns the bytes per second of the last ten calls, and counts this one.
func (p *progressLine) rate(read int64, now time.Time) int64 {
	since := progressMark{at: p.start}
	if p.marks >= progressPast {
		since = p.past[p.marks%progressPast]
	}
	p.past[p.marks%progressPast] = progressMark{now, read}
	p.marks++
	if passed := now.Sub(since.at); passed > 0 {
		return int64(float64(read-since.read) / passed.Seconds())
	}
	return 0
}

// text returns the line at a time.
func (p *progressLine) text(what string, read int64, now time.Time) string {
	rate := p.rate(read, now)
	line := message.Line(what)
	elapsed := now.Sub(p.start).Truncate(time.Second)
	if p.size <= 0 {
		return line + fmt.Sprintf(" %s (%s/s) [%v]", message.Bytes(read), message.Bytes(rate), elapsed)
	}
	share := min(max(float64(read)/float64(p.size), 0), 1)
	full := int(share * progressWidth)
	line += fmt.Sprintf(" %3d%% |%s%s| (%s/s) [%v", int(share*100), strings.Repeat("=", full),
		strings.Repeat(" ", progressWidth-full), message.Bytes(rate), elapsed)
	if left := p.size - read; rate > 0 && left > 0 && left/rate < maxProgressLeft {
		line += fmt.Sprintf(":%v", time.Duration(left/rate)*time.Second)
	}
	return line + "]"
}

// clear erases the line.
func (p *progressLine) clear() {
	if p.width > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
	}
}
