package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
)

// A collecting adds inputs to a dataset. Each conversion has its own symbols, plan and report.
type collecting struct {
	*batch
	cmd        *cobra.Command
	conversion *conversion
	collection *collection
	set        *dataset.Dataset
	adding     map[string]chan struct{} // closed when the addition of a UID has ended; batch.mu guards the map
}

// errorOf returns the message of the error of an input, with the name of the input. If several tables failed, it
// returns the first error and the number of the others.
func errorOf(name string, err error) string {
	first, more := err, 0
	for list := joined(first); len(list) > 0; list = joined(first) {
		first, more = list[0], more+len(list)-1
	}
	text := first.Error()
	if more > 0 {
		text += "; and " + message.Count(int64(more), "more error")
	}
	if !names(first, name) {
		text = input.NameOf(name, 0) + ": " + text
	}
	return text
}

// joint is the type of the result of errors.Join.
var joint = reflect.TypeOf(errors.Join(io.EOF))

// joined returns the parts of the first error of errors.Join in the chain of err. An error that wraps several errors in
// another way is one error, because a sentinel among them is not its message.
func joined(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if several, ok := err.(interface{ Unwrap() []error }); ok && reflect.TypeOf(err) == joint {
			return several.Unwrap()
		}
	}
	return nil
}

// names reports whether the message of err names the input.
func names(err error, name string) bool {
	var in *input.Error
	var file *fileio.Error
	return errors.As(err, &in) || errors.As(err, &file) && file.Name == name || codeOf(err) == exitEmpty || isDifference(err)
}

// add adds an input to the dataset. Unlike an output of its own, a trace without data is a failure.
func (r *collecting) add(o *outcome) error {
	err := r.try(o)
	if err != nil && o.Output == "" && o.Status == statusSkipped { // try has not decided
		o.Status = statusFailed
	}
	return err
}

// try adds an input to the dataset, and sets the status if the input was added before.
func (r *collecting) try(o *outcome) error {
	one, conversion := r.app.forInput(), *r.conversion
	one.openers = r.app.openers // whose notes are those of the run
	conversion.Output = nil     // of this input
	if err := one.prepare(r.cmd, &conversion); err != nil {
		return err
	}
	plan := conversion.Plan
	in, err := one.open([]string{o.Input}, true)
	if err != nil {
		return err
	}
	defer in.Close()
	sum, err := in.Sum()
	if err != nil {
		return inputFailure(err, false)
	}
	o.uid = dataset.UIDOf(sum)
	defer r.claim(o.uid)()

	made := madeWith{plan.Selection.String(), r.collection.settings}
	addition, err := r.set.Begin(sum, func(m *dataset.Manifest) bool {
		old := madeOf(m)
		moved := r.collection.service != "" && r.collection.service != m.Service
		return r.collection.replace && (old != made || moved) || made.contains(old)
	}, r.app.cleaner)
	var exists *dataset.ExistsError
	switch {
	case errors.As(err, &exists):
		if m := exists.Trace.Manifest; m != nil && madeOf(m) != made {
			return failf(exitUsage, "the dataset has it with %s, and this run has %s; add --%s to replace it", madeOf(m), made, flagReplace)
		}
		o.Status, o.Output = statusThere, exists.Trace.Path
		return nil
	case errors.Is(err, dataset.ErrBusy):
		o.Status = statusBusy
		return failf(exitIncomplete, "another run is adding it to the dataset; when that run has ended, the same command adds what it did not")
	case err != nil:
		return fail(exitOutput, err)
	}
	trace := &tracing{collecting: r, app: one, conversion: &conversion, addition: addition, size: in.Size()}
	conversion.Adapt = func(target *formats.Target) {
		target.Trace = &formats.Trace{UID: addition.UID(), Service: r.collection.service}
	}
	plan.Before = append(plan.Before, trace.count)
	formats.Serve(conversion.Symbols, one.downloads())
	err = readFailure(plan, conversion.Run(in, func(p *pass.Pass) error { return trace.convert(p, o) }))
	return errors.Join(err, addition.Abort())
}

// madeWith is what the tables of a trace depend on besides the trace: the selection of events and other flags.
type madeWith struct{ selection, settings string }

func madeOf(m *dataset.Manifest) madeWith { return madeWith{m.Selection, m.Settings} }

// contains reports whether tables have all that others of the trace have: only these are a selection.
func (m madeWith) contains(other madeWith) bool {
	return m.selection == "" && other.selection != "" && m.settings == other.settings
}

func (m madeWith) String() string {
	return cmp.Or(strings.TrimSpace(m.selection+" "+m.settings), "all events and the default settings")
}

// claim waits until no other job of this run adds the trace with this UID, and returns a function that ends the claim.
// Without it, two inputs with the same content would see each other as busy.
func (r *collecting) claim(uid string) (release func()) {
	for {
		r.mu.Lock()
		other := r.adding[uid]
		if other == nil {
			mine := make(chan struct{})
			r.adding[uid] = mine
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				delete(r.adding, uid)
				close(mine)
			}
		}
		r.mu.Unlock()
		<-other
	}
}

// storedSize returns the size of all files that exist.
func storedSize(names []string) (size int64) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size
}

// A tracing is the conversion of one input of a collection.
type tracing struct {
	*collecting
	app        *app        // of the input
	conversion *conversion // of the input
	addition   *dataset.Addition
	size       int64            // of the input
	tally      *recording.Tally // of the current pass
}

// count is the stage that counts the events of processes.
func (t *tracing) count(_ *pass.Pass, src ntconv.Source) ntconv.Source {
	t.tally = new(recording.Tally)
	return &talliedSource{src, t.tally}
}

// A talliedSource passes every event to a tally.
type talliedSource struct {
	ntconv.Source
	tally *recording.Tally
}

// Next implements ntconv.Source.
func (s *talliedSource) Next() (*ntconv.Event, error) {
	e, err := s.Source.Next()
	if err == nil {
		s.tally.Observe(e)
	}
	return e, err
}

// convert writes the tables of a pass, and adds them to the dataset if the pass succeeds.
func (t *tracing) convert(p *pass.Pass, o *outcome) error {
	t.app.sum = &pass.Summary{Input: o.Input, To: t.conversion.To.Name}
	d := t.app.delivery(p, t.conversion, o.Input)
	limits := fileio.OutputOptions{Check: t.app.memory.Check, Quota: &t.app.quota}
	d.to, d.outputs = formats.ToDir, func() (*fileio.Outputs, error) { return t.addition.Outputs(limits) }
	err := t.app.deliver(p, d)
	if !t.app.sum.Done {
		return err
	}
	m := t.manifest(p, err)
	m.Source = o.Input
	path, cerr := t.addition.Commit(m)
	if cerr != nil {
		return fail(exitOutput, cerr)
	}
	o.Output, o.Events, o.Bytes = path, m.Events, m.TableBytes()
	if err == nil {
		o.Status = statusAdded
	}
	return err
}

// manifest describes the trace of a pass. partial is the error of an incomplete input, or nil.
func (t *tracing) manifest(p *pass.Pass, partial error) *dataset.Manifest {
	m := &dataset.Manifest{
		Size: t.size, Format: p.Info.Format, Events: p.Kept, Lost: int64(p.Report.Count(ntconv.CodeEventsLost)),
		Selection: p.Plan.Selection.String(), Settings: t.collection.settings, Schema: tables.Version, Version: message.ModuleVersion(), Added: time.Now().UTC().Truncate(time.Second),
	}
	if partial != nil {
		m.Incomplete = partial.Error()
	}
	if clock := p.Info.Clock; !clock.Wall.IsZero() {
		m.Start = clock.Wall.UTC()
	}
	if first, last, ok := p.Span(); ok {
		m.Duration = p.Info.Clock.Since(first, last)
	}
	process, info := t.tally.Main(p.Namer)
	if process != nil {
		m.Host = process.Host
	}
	m.Process, m.OS, m.Arch, m.Service = info.Name, info.OS, info.Arch, cmp.Or(t.collection.service, info.Service())
	return m
}
