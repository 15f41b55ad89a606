package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/spf13/cobra"
)

// forInput returns the state for one of several inputs that are processed concurrently: the configuration of the run,
// and nothing of another input. It shares with a the files to clean up, and limits that apply to the process.
func (a *app) forInput() *app {
	one := newApp(io.Discard, io.Discard)
	one.quiet, one.force, one.failOnLoss, one.from, one.read, one.pick = true, a.force, a.failOnLoss, a.from, a.read, a.pick
	one.repeated, one.piped, one.limits, one.openers = a.repeated, a.piped, a.limits, a.openers.ForRun()
	one.progressForm, one.events, one.counted = progressNone, a.events, a.countsEvents()
	one.cleaner, one.temps, one.memory, one.severalOutputs = a.cleaner, a.temps, a.memory, true
	if most, fixed := a.quota.Max(); fixed {
		one.quota.SetMax(most)
	}
	return one
}

// alone runs what a command does to one of several inputs, and returns the state of that, which has the summary.
func (a *app) alone(run func(one *app) error) (*app, error) {
	one := a.forInput()
	err := run(one)
	if err == nil {
		err = one.left
	}
	return one, err
}

// A batch processes several inputs, some of them at a time, and has a row for each.
type batch struct {
	app *app
	rows

	inputs  inputCount
	bytes   atomic.Int64 // stored bytes of the inputs that are done
	written atomic.Int64 // inputs whose output was written
	stopped atomic.Bool  // the destination cannot be written

	mu   sync.Mutex // guards made
	made []string   // directories that makeDirs has created
}

// newBatch returns a batch with a row for each input.
func newBatch(a *app, inputs []string) *batch {
	b := &batch{app: a}
	for _, name := range inputs {
		b.list = append(b.list, outcome{Input: fileio.Shown(name), name: name})
	}
	return b
}

// run processes all inputs with the given number of goroutines and shows the progress. phase is what is done to the
// inputs.
func (b *batch) run(phase string, jobs int, process func(i int, o *outcome) error) {
	a, names := b.app, b.names()
	a.severalOutputs = true
	b.inputs.total = int64(len(names))
	stop := a.showPhase(&progressPhase{name: phase, size: storedSize(names), read: b.bytes.Load, inputs: &b.inputs})
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(jobs, len(b.list)) {
		workers.Go(func() {
			for i := int(next.Add(1) - 1); i < len(b.list); i = int(next.Add(1) - 1) {
				b.one(&b.list[i], func(o *outcome) error { return process(i, o) })
			}
		})
	}
	workers.Wait()
	stop()
	if !a.ended.Load() { // otherwise the handler has ended the jobs and prints its message
		a.onInterrupt("")
	}
	events, bytes := b.total()
	a.sum.Done, a.sum.Report = true, []pass.Entry{}
	a.sum.Events, a.sum.Selected, a.sum.Bytes = events, events, bytes
}

// one processes an input and prints its error. Its row has a status already if an earlier check has decided; a status
// that process sets remains.
func (b *batch) one(o *outcome, process func(*outcome) error) {
	if o.Status == "" {
		if o.Status = statusSkipped; b.stopped.Load() || b.app.ended.Load() {
			return
		}
		b.measure(o, process)
	}
	switch o.Status {
	case statusFailed:
		b.inputs.failed.Add(1)
	case statusConverted, statusAdded, statusIncomplete:
		b.written.Add(1)
	}
	// A JSON report has the error. A destination that cannot be written is one message, whichever jobs found it.
	repeated := o.Exit == exitOutput && b.stopped.Swap(true)
	if o.Error != "" && b.app.report != reportJSON && !b.app.ended.Load() && !repeated {
		b.app.printError(o.Error)
	}
	b.inputs.done.Add(1)
}

// measure processes an input and fills its row.
func (b *batch) measure(o *outcome, process func(*outcome) error) {
	start := time.Now()
	err := process(o)
	o.Seconds = float64(time.Since(start).Milliseconds()) / 1000
	o.Exit = codeOf(err)
	if o.Status == statusSkipped {
		o.Status = statusOf(o.Exit)
	}
	if err != nil {
		o.Error = errorOf(o.Input, err)
	}
	if info, err := store.Stat(o.name); err == nil && !info.IsDir() {
		b.bytes.Add(info.Size())
	}
}

// note adds the files that were found, but are not inputs, to the summary.
func (b *batch) note(found *input.Found) {
	if n := len(found.Skipped); n > 0 {
		b.app.sum.Notes = append(b.app.sum.Notes,
			message.Count(int64(n), "other file")+" skipped: "+firstNames(found.Skipped))
	}
}

// end prints the table of the run, and returns its error.
func (b *batch) end() error {
	if err := b.app.printTable(b.list); err != nil {
		return err
	}
	return b.err()
}

// printError prints an error while progress is shown.
func (a *app) printError(text string) {
	clear := ""
	if terminal(a.stderr) {
		clear = "\r\x1b[K" // erase the progress bar, which is drawn again later
	}
	a.printLine(fmt.Sprintf("%sntconv: %s\n", clear, message.Visible(message.Shorten(text))))
}

// convertEach converts each input into an output of its own.
func (a *app) convertEach(cmd *cobra.Command, c *conversion, s *inputFlags, in *inputs) error {
	if err := a.prepare(cmd, c); err != nil { // report errors of flags once, not for each input
		return err
	}
	dir := c.out
	in.withoutOutputs(dir)
	if len(in.Names) == 0 {
		return failf(exitInput, "%s: all traces found are outputs in this directory; name other inputs", dir)
	}
	b := newBatch(a, in.Names)
	a.begin(&pass.Summary{Input: in.Names[0], Inputs: in.Names, To: c.To.Name, Output: dir, Result: &convertedResult{&b.rows}})
	if len(in.Names) == 1 {
		a.sum.Inputs = nil
	}
	taken, below := map[string]string{}, c.distinct(in)
	for i, name := range in.Names {
		o := &b.list[i]
		o.Output = c.outputIn(dir, name, below[i])
		if first, ok := taken[o.Output]; ok && o.Output != "" {
			o.Status, o.Exit = statusFailed, exitUsage
			o.Error = fmt.Sprintf("%s: the output %s is that of %s; convert it by itself, with -o FILE",
				input.NameOf(name, 0), o.Output, input.NameOf(first, 0))
		}
		taken[o.Output] = name
	}
	a.keepsOnInterrupt(func() string {
		return fmt.Sprintf("%s of %s done, the same command converts the rest", message.Group(b.inputs.done.Load()),
			message.Count(b.inputs.total, "input"))
	})
	b.run("converting", s.jobs, func(_ int, o *outcome) error { return b.convert(cmd, c, o) })
	b.removeEmptyDirs()
	b.note(in.Found)
	return b.end()
}

// convert runs the job of an input, unless its output exists.
func (b *batch) convert(cmd *cobra.Command, c *conversion, o *outcome) error {
	if o.Output != "" && !b.app.force && exists(o.Output) {
		o.Status = statusThere
		return nil
	}
	if err := b.makeDirs(parentOf(o.Output)); err != nil {
		return outputFailure(err)
	}
	own := *c
	own.out, own.Output = o.Output, nil
	one, err := b.app.alone(func(one *app) error { return one.convertAll(cmd, &own, []string{o.name}) })
	if sum := one.sum; sum != nil && sum.Done {
		o.Events, o.Bytes, o.Report, o.Note = sum.Events, sum.Bytes, sum.Report, sum.Line()
	}
	return err
}

// makeDirs creates the directory of an output and its parents, and records those that did not exist.
func (b *batch) makeDirs(dir string) error {
	if store.Is(dir) {
		return nil // a store has no directories
	}
	dir = filepath.Clean(dir)
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := dir; isAbsent(at); at = filepath.Dir(at) {
		b.made = append(b.made, at)
	}
	return os.MkdirAll(dir, 0o777)
}

func parentOf(name string) string {
	dir, _ := store.Split(name)
	return dir
}

// removeEmptyDirs removes the directories that makeDirs has created for outputs that were not written.
func (b *batch) removeEmptyDirs() {
	slices.SortFunc(b.made, func(x, y string) int { return len(y) - len(x) }) // inner ones first
	for _, dir := range b.made {
		_ = os.Remove(dir) // fails if it is not empty
	}
}
