package main

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
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/spf13/cobra"
)

// forInput returns the state for one of several inputs that are processed concurrently: the configuration of the run,
// and nothing of another input. It shares with a the files to clean up, and limits that apply to the process.
func (a *app) forInput() *app {
	one := newApp(io.Discard, io.Discard)
	one.quiet, one.force, one.failOnLoss, one.from, one.read, one.pick = true, a.force, a.failOnLoss, a.from, a.read, a.pick
	one.given, one.piped, one.limits, one.openers = a.given, a.piped, a.limits, a.openers.ForRun()
	one.progressForm, one.events, one.counted = progressNone, a.events, a.countsEvents()
	one.cleaner, one.temps, one.memory, one.several = a.cleaner, a.temps, a.memory, true
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

// A batch processes inputs one by one, several at a time.
type batch struct {
	app    *app
	result batchResult

	inputs  inputCount
	bytes   atomic.Int64 // stored bytes of the inputs that are done
	stopped atomic.Bool  // the destination cannot be written

	mu   sync.Mutex
	made []string // directories that convert has created
}

// all processes the inputs with the given number of goroutines and waits for the end.
func (b *batch) all(jobs int, one func(*outcome) error) {
	var next atomic.Int64
	var workers sync.WaitGroup
	rows := b.result.Outputs
	for range min(jobs, len(rows)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(rows); i = next.Add(1) - 1 {
				b.one(&rows[i], one)
			}
		})
	}
	workers.Wait()
	for i := range rows {
		if rows[i].Exit == exitOK || rows[i].Exit == exitIncomplete {
			b.result.events += rows[i].Events
			b.result.bytes += rows[i].Bytes
		}
	}
}

// one processes an input and prints its error.
func (b *batch) one(o *outcome, process func(*outcome) error) {
	if o.Status != "" { // an earlier check has decided
		b.show(o)
		b.inputs.done.Add(1)
		return
	}
	if o.Status = statusSkipped; b.stopped.Load() || b.app.ended.Load() {
		return
	}
	start := time.Now()
	err := process(o)
	o.Seconds = float64(time.Since(start).Milliseconds()) / 1000
	switch o.Exit = codeOf(err); {
	case err == nil && o.Status == statusSkipped:
		o.Status = statusConverted
	case err == nil:
	case o.Status != statusSkipped: // process knows better
	case o.Exit == exitIncomplete:
		o.Status = statusIncomplete
	case o.Exit == exitEmpty:
		o.Status = statusEmpty
	default:
		o.Status = statusFailed
		b.inputs.failed.Add(1)
	}
	if err != nil && o.Error == "" {
		o.Error = errorOf(o.Input, err)
	}
	b.show(o)
	if o.Exit == exitOutput {
		b.stopped.Store(true)
	}
	if info, err := os.Stat(o.Input); err == nil && !info.IsDir() {
		b.bytes.Add(info.Size())
	}
	b.inputs.done.Add(1)
}

// show prints the error of an input to standard error. A JSON report contains the error instead.
func (b *batch) show(o *outcome) {
	if o.Error == "" || b.app.report == reportJSON || b.app.ended.Load() {
		return
	}
	b.app.printError(o.Error)
}

// printError prints an error while progress is shown.
func (a *app) printError(text string) {
	clear := ""
	if terminal(a.stderr) {
		clear = "\r\x1b[K" // erase the progress bar, which is drawn again later
	}
	a.printLine(fmt.Sprintf("%sntconv: %s\n", clear, message.Visible(message.Shorten(text))))
}

// run processes all inputs, shows the progress, and prints the table. phase is what is done to the inputs.
func (b *batch) run(phase string, jobs int, names []string, one func(*outcome) error) {
	a := b.app
	a.several = true
	b.inputs.total = int64(len(names))
	stop := a.showPhase(&progressPhase{name: phase, size: storedSize(names), read: b.bytes.Load, inputs: &b.inputs})
	b.all(jobs, one)
	stop()
	if !a.ended.Load() { // otherwise the handler has ended the jobs and prints its message
		a.onInterrupt("")
	}
	a.sum.Done, a.sum.Report = true, []pass.Entry{}
	a.sum.Events, a.sum.Selected, a.sum.Bytes = b.result.events, b.result.events, b.result.bytes
}

// note adds the files that were found, but are not inputs, to the summary.
func (b *batch) note(found *input.Found) {
	if n := len(found.Skipped); n > 0 {
		b.app.sum.Notes = append(b.app.sum.Notes,
			message.Count(int64(n), "other file")+" skipped: "+firstNames(found.Skipped))
	}
}

// convertEach converts each input into an output of its own.
func (a *app) convertEach(cmd *cobra.Command, c *conversion, s *several, in *inputs) error {
	if err := a.prepare(cmd, c); err != nil { // report errors of flags once, not for each input
		return err
	}
	dir := c.out
	in.withoutOutputs(dir)
	if len(in.Names) == 0 {
		return failf(exitInput, "%s: all traces found are outputs in this directory; name other inputs", dir)
	}
	b := &batch{app: a}
	a.begin(&pass.Summary{Input: in.Names[0], Inputs: in.Names, To: c.To.Name, Output: dir, Result: &b.result})
	if len(in.Names) == 1 {
		a.sum.Inputs = nil
	}
	taken, below := map[string]string{}, c.distinct(in)
	for i, name := range in.Names {
		o := outcome{Input: name, Output: c.outputIn(dir, name, below[i])}
		if first, ok := taken[o.Output]; ok && o.Output != "" {
			o.Status, o.Exit = statusFailed, exitUsage
			o.Error = fmt.Sprintf("%s: the output %s is that of %s; convert it by itself, with -o FILE",
				input.NameOf(name, 0), o.Output, input.NameOf(first, 0))
			b.inputs.failed.Add(1)
		}
		taken[o.Output] = name
		b.result.Outputs = append(b.result.Outputs, o)
	}
	a.keepsOnInterrupt(b.kept)
	b.run("converting", s.jobs, in.Names, func(o *outcome) error { return b.convert(cmd, c, o) })
	b.removeEmptyDirs()
	b.note(in.Found)
	if err := a.printTable(b.result.table()); err != nil {
		return err
	}
	return b.result.err()
}

// convert runs the job of an input, unless its output exists.
func (b *batch) convert(cmd *cobra.Command, c *conversion, o *outcome) error {
	if o.Output != "" && !b.app.force && exists(o.Output) {
		o.Status = statusThere
		return nil
	}
	if err := b.makeDirs(filepath.Dir(filepath.Clean(o.Output))); err != nil {
		return outputFailure(err)
	}
	own := *c
	own.out, own.Output = o.Output, nil
	one, err := b.app.alone(func(one *app) error { return one.convertAll(cmd, &own, []string{o.Input}) })
	if sum := one.sum; sum != nil && sum.Done {
		o.Events, o.Bytes, o.Report, o.Note = sum.Events, sum.Bytes, sum.Report, sum.Line()
	}
	return err
}

// makeDirs creates the directory of an output and its parents, and records those that did not exist.
func (b *batch) makeDirs(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := dir; isAbsent(at); at = filepath.Dir(at) {
		b.made = append(b.made, at)
	}
	return os.MkdirAll(dir, 0o777)
}

// removeEmptyDirs removes the directories that makeDirs has created for outputs that were not written.
func (b *batch) removeEmptyDirs() {
	slices.SortFunc(b.made, func(x, y string) int { return len(y) - len(x) }) // inner ones first
	for _, dir := range b.made {
		_ = os.Remove(dir) // fails if it is not empty
	}
}

// kept describes the outputs that remain if the run is ended early.
func (b *batch) kept() string {
	return fmt.Sprintf("%s of %s done, the same command converts the rest", message.Group(b.inputs.done.Load()),
		message.Count(b.inputs.total, "input"))
}

// worst returns the most severe exit code.
func worst(codes []int) int {
	for _, code := range severity() {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return exitOK
}
