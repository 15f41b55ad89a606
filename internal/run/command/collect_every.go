package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/spf13/cobra"
)

// Flags of recordings without an end.
const (
	flagEvery    = "every"
	flagAll      = "all"
	flagKeep     = "keep"
	flagKeepSize = "keep-size"
)

// Bounds of a recording without an end.
const (
	minEvery = time.Second
	// maxWaiting is the number of windows that wait for a receiver. If one more comes, the oldest is dropped.
	maxWaiting = 60
	// searchEvery is how long a new process can be there before it is recorded.
	searchEvery = time.Second
	// maxRetry bounds the time between two attempts to deliver a window.
	maxRetry = 30 * time.Second
	// sendFor is the default of --retry-for: after it, the window is tried again later, and the user sees why.
	sendFor = 5 * time.Second
	// lastWait is how long windows wait for a receiver that is away after the end of the recordings: shorter than service
	// managers wait for the end of a program.
	lastWait = 20 * time.Second
)

// A windowing records processes in windows, each of which is converted as a trace of its own.
//
//	search    finds processes, each second, and records each in a goroutine
//	windower  the events of a recording → windows, as temporary traces
//	queue     complete windows; bounded
//	deliver   converts one after the other, and tries again while a receiver is away
type windowing struct {
	app   *app
	cmd   *cobra.Command
	r     *recorder
	temp  string // directory of the temporary traces
	queue chan *madeWindow

	ended   chan struct{} // closed when no more windows come
	endedAt time.Time     // valid after ended
	mu      sync.Mutex    // guards the following
	known   map[processID]bool
	dropped int // windows
	windows int // delivered
	events  int64
	failed  []int // exit codes of recordings that failed or are incomplete
}

// A processID tells processes apart, also if a PID is used again.
type processID struct {
	pid    int
	cookie [16]byte
}

// A madeWindow is a complete window: a trace in a temporary file.
type madeWindow struct {
	path string
	name string // for outputs: PROGRAM-PID_DATE_TIME.nettrace
}

// checkEvery rejects flags that need --every, or cannot be combined with it.
func (r *recorder) checkEvery(cmd *cobra.Command) error {
	if r.every == 0 {
		for _, name := range []string{flagAll, flagKeep, flagKeepSize, flagDataset} {
			if cmd.Flags().Changed(name) {
				return failf(exitUsage, "--%s needs --%s", name, flagEvery)
			}
		}
		return nil
	}
	r.Name("window"+r.To.Exts[0], false)
	to := r.Output.Destination
	if err := r.set.check(cmd, &r.conversion); err != nil || r.set.dir != "" {
		return err
	}
	if f := cmd.Flags().Lookup(formats.FlagRetryFor); f != nil && !f.Changed && to == formats.ToNothing {
		if err := cmd.Flags().Set(f.Name, sendFor.String()); err != nil {
			return err
		}
	}
	switch {
	case time.Duration(r.every) < minEvery:
		return failf(exitUsage, "--%s %s: want at least %s", flagEvery, time.Duration(r.every), minEvery)
	case len(r.program) > 0:
		return failf(exitUsage, "--%s records processes that run: start the program, and name it with --%s", flagEvery, flagName)
	case to == formats.ToFile && (r.out == "" || isStdout(r.out)):
		return failf(exitUsage, "--%s: name a directory with -o DIR/", flagEvery)
	case to == formats.ToFile && !fileio.IsDir(r.out) && exists(r.out):
		return failf(exitUsage, "-o %s: it is a file, and --%s writes a file per window; name a directory", r.out, flagEvery)
	}
	return nil
}

// recordEvery records processes in windows until Ctrl-C, --duration, or the end of the only process.
func (a *app) recordEvery(cmd *cobra.Command, r *recorder) error {
	temp, err := a.temps.createDir()
	if err != nil {
		return fail(exitOutput, err)
	}
	w := &windowing{
		app: a, cmd: cmd, r: r, temp: temp, queue: make(chan *madeWindow, maxWaiting), known: map[processID]bool{},
		ended: make(chan struct{}),
	}
	a.severalOutputs = true
	a.begin(&pass.Summary{Input: r.chosen(), To: r.To.Name})
	a.onInterrupt("interrupted; windows that were delivered remain")
	if r.directory() != "" {
		if err := os.MkdirAll(r.directory(), 0o777); err != nil {
			return outputFailure(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a.stopFollowing.Store(&stop)
	if r.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.duration))
		defer cancel()
	}
	var delivered sync.WaitGroup
	delivered.Go(w.deliver)
	err = w.search(ctx)
	w.endedAt = time.Now()
	close(w.ended)
	close(w.queue)
	delivered.Wait()
	a.onInterrupt("")
	return w.result(err)
}

// chosen describes the choice of processes for messages.
func (r *recorder) chosen() string {
	switch {
	case r.all:
		return "all processes"
	case r.name != "":
		return "processes called " + r.name
	}
	return fmt.Sprintf("process %d", r.pid)
}

// result returns the failure of a run, and prints its totals.
func (w *windowing) result(err error) error {
	a := w.app
	if !a.quiet && a.report != reportJSON {
		a.printLine(fmt.Sprintf("ntconv: %s of %s: %s\n", message.Count(int64(w.windows), "window"), w.r.chosen(), message.Count(w.events, "event")))
	}
	switch {
	case err != nil:
		return err
	case w.dropped > 0:
		return failf(exitOutput, "%s lost, because the receiver did not accept them in time", message.Count(int64(w.dropped), "window was", "windows were"))
	case len(w.failed) > 0:
		return w.failure()
	case w.windows == 0:
		return failf(exitEmpty, "%s: no events in any window", w.r.chosen())
	}
	return nil
}

// search records the chosen processes until ctx ends.
func (w *windowing) search(ctx context.Context) error {
	var recordings sync.WaitGroup
	defer recordings.Wait()
	if w.r.pid > 0 {
		target, err := record.ByPID(ctx, w.r.pid)
		if err != nil {
			return recordFailure(err)
		}
		return w.record(ctx, target)
	}
	own := os.Getpid()
	for first := true; ; first = false {
		list, err := record.Named(ctx, w.r.name)
		if err != nil && first {
			return recordFailure(err)
		}
		for _, target := range list {
			if target.PID == own || !w.begin(target) {
				continue
			}
			w.note("%v: recording", target)
			recordings.Go(func() {
				defer w.end(target)
				if err := w.record(ctx, target); err != nil {
					w.fail(ctx, err)
				}
			})
		}
		if first && len(list) == 0 {
			w.note("no process yet: waiting for %s", w.r.chosen())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(searchEvery):
		}
	}
}

// begin reports whether a process is not recorded yet, and notes that it is.
func (w *windowing) begin(t *record.Target) bool {
	id := processID{t.PID, t.Info.Cookie}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[id] {
		return false
	}
	w.known[id] = true
	return true
}

// end forgets a process that has ended, or whose recording has.
func (w *windowing) end(t *record.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, processID{t.PID, t.Info.Cookie})
}

// fail notes that one of several recordings failed, and waits before another attempt. A process that has ended before it was
// recorded is none of them.
func (w *windowing) fail(ctx context.Context, err error) {
	w.note("%v", err)
	if errors.Is(err, diagnostics.ErrGone) {
		return
	}
	w.mu.Lock()
	w.failed = append(w.failed, codeOf(err))
	w.mu.Unlock()
	if codeOf(err) == exitIncomplete { // the process has ended
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(maxRetry):
	}
}

// failure returns the failure for recordings that failed or are incomplete, nil if there are none. Other windows were delivered.
func (w *windowing) failure() error {
	n := len(w.failed)
	if n == 0 {
		return nil
	}
	code := exitIncomplete
	if w.windows == 0 {
		code = worst(func(code int) bool { return slices.Contains(w.failed, code) })
	}
	return failf(code, "%s failed or ended early", message.Count(int64(n), "recording"))
}

// note prints a message about one of several recordings.
func (w *windowing) note(format string, args ...any) {
	if !w.app.quiet && w.app.report != reportJSON {
		w.app.printLine("ntconv: " + message.Visible(message.Shorten(fmt.Sprintf(format, args...))) + "\n")
	}
}

// enqueue takes over a complete window. If too many wait, the oldest one is dropped, so that a receiver that is away costs
// bounded space.
func (w *windowing) enqueue(made *madeWindow) {
	for {
		select {
		case w.queue <- made:
			return
		default:
		}
		select {
		case oldest := <-w.queue:
			w.drop(oldest, fmt.Sprintf("%d windows wait for the receiver", maxWaiting))
		default:
		}
	}
}

func (w *windowing) drop(made *madeWindow, why string) {
	os.Remove(made.path)
	w.mu.Lock()
	w.dropped++
	w.mu.Unlock()
	w.note("%s: dropped: %s", made.name, why)
}

// deliver converts the windows until the queue is closed and empty.
func (w *windowing) deliver() {
	away := false // the latest attempt failed
	for made := range w.queue {
		for wait := time.Second; ; wait = min(2*wait, maxRetry) {
			if away && w.late() {
				w.drop(made, "the receiver is away")
				break
			}
			err := w.convert(made)
			away = codeOf(err) == exitOutput
			if err == nil || codeOf(err) == exitEmpty || codeOf(err) == exitIncomplete {
				break
			}
			w.note("%s: %v", made.name, err)
			if !away || len(w.queue) == cap(w.queue) {
				w.drop(made, "it cannot be delivered")
				break
			}
			w.pause(wait)
		}
		os.Remove(made.path)
		w.rotate(time.Now())
	}
}

// late reports whether the recordings ended so long ago that a receiver that is away does not get the remaining windows.
func (w *windowing) late() bool {
	select {
	case <-w.ended:
		return time.Since(w.endedAt) > lastWait
	default:
		return false
	}
}

// pause waits before another attempt, only for a second if the recordings have ended or end meanwhile.
func (w *windowing) pause(d time.Duration) {
	select {
	case <-w.ended:
	case <-time.After(d - time.Second):
	}
	time.Sleep(time.Second)
}

// convert writes or sends one window.
func (w *windowing) convert(made *madeWindow) error {
	one := w.app.forInput()
	c := w.r.conversion
	c.Output = nil
	if w.r.set.dir != "" {
		set := w.r.set
		set.source = made.name
		err := one.collect(w.cmd, &c, &set, []string{made.path})
		w.delivered(one, err)
		return err
	}
	c.in = made.name
	if w.r.Output.Destination == formats.ToFile {
		c.out = filepath.Join(w.r.out, c.To.OutputFor(made.name))
	} else if w.r.Output.Destination == formats.ToDir {
		c.out = filepath.Join(w.r.out, formats.DirFor(made.name))
	}
	if err := one.prepare(w.cmd, &c); err != nil {
		return err
	}
	var file *os.File
	defer func() {
		if file != nil {
			file.Close()
		}
	}()
	err := one.convertFrom(&c, nil, func() (in *input.Input, err error) {
		if file, err = os.Open(made.path); err != nil {
			return nil, fail(exitOutput, err)
		}
		in, err = input.FromReader(made.name, file, one.inputOptions(c.NeedsAgain()))
		if err != nil {
			return nil, one.notOpened(err)
		}
		return in, nil
	})
	w.delivered(one, err)
	return err
}

// delivered counts a window that was delivered.
func (w *windowing) delivered(one *app, err error) {
	if err != nil && codeOf(err) != exitIncomplete {
		return
	}
	w.mu.Lock()
	w.windows++
	w.events += one.sum.Events
	w.mu.Unlock()
	w.note("%s", one.sum.Line())
}

// directory returns the directory of the outputs, "" if there is none.
func (r *recorder) directory() string {
	if r.Output.Destination == formats.ToNothing || r.set.dir != "" {
		return ""
	}
	return r.out
}

// windowName is the name of an output of a window.
var windowName = regexp.MustCompile(`^.+-\d+_(\d{8}_\d{6})(\.[^/]*)?$`)

// recordTimeLayout is the form of times in names of outputs, as dotnet-trace has it.
const recordTimeLayout = "20060102_150405"

// A windowOutput is an output of a window, of this run or an earlier one.
type windowOutput struct {
	name string
	at   time.Time // its begin
	size int64
}

// rotate removes the outputs of earlier windows that --keep and --keep-size do not keep, the oldest first.
func (w *windowing) rotate(now time.Time) {
	dir := w.r.directory()
	if w.r.keep == 0 && w.r.keepSize == 0 || dir == "" {
		return
	}
	list := w.outputs(dir)
	slices.SortFunc(list, func(x, y windowOutput) int { return y.at.Compare(x.at) })
	total := int64(0)
	for _, o := range list {
		total += o.size
		if w.r.keep > 0 && now.Sub(o.at) > time.Duration(w.r.keep) || w.r.keepSize > 0 && total > w.r.keepSize {
			if err := os.RemoveAll(filepath.Join(dir, o.name)); err != nil {
				w.note("%s: %v", o.name, err)
			}
		}
	}
}

// outputs returns the outputs of windows in a directory: files with the extension of the format, or directories.
func (w *windowing) outputs(dir string) (list []windowOutput) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.note("%v", err)
	}
	isDir := w.r.Output.Destination == formats.ToDir
	for _, e := range entries {
		found := windowName.FindStringSubmatch(e.Name())
		if found == nil || e.IsDir() != isDir || !isDir && !slices.Contains(w.r.To.Exts, found[2]) {
			continue
		}
		at, err := time.ParseInLocation(recordTimeLayout, found[1], time.UTC)
		if err != nil {
			continue
		}
		list = append(list, windowOutput{e.Name(), at, sizeBelow(filepath.Join(dir, e.Name()))})
	}
	return list
}
