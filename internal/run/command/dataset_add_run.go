package command

import (
	"cmp"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
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
	create     func() error // creates set once, when the first input has been opened
	adds       adder
	waiting    func(*outcome) (bool, error)              // sets the status of a trace that an earlier attempt has converted; nil without attempts
	published  atomic.Int64                              // traces
	adding     map[string]*claim                         // by UID; batch.mu guards the map
	sources    map[string]map[string][]*dataset.Manifest // by ID of the commit and name of the source; batch.mu guards them
	failures   []unpublished                             // of traces that were converted; batch.mu guards them
}

// An adder takes over the additions of a collection: see dataset.Batch.
type adder interface {
	Add(a *dataset.Addition, m *dataset.Manifest, done func(error))
	Flush()
}

// An unpublished trace was converted and could not be published.
type unpublished struct {
	o     *outcome
	err   error
	there string // the trace, if another run has added it in the meantime
	first bool   // no job before had an error of the destination
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
	in, err := one.open([]string{o.name}, true)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := r.create(); err != nil {
		return err
	}
	trace, err := r.begin(in, o, plan.Selection.String())
	if trace == nil {
		return err
	}
	trace.app, trace.conversion = one, &conversion
	conversion.Adapt = func(target *formats.Target) {
		target.Trace = &formats.Trace{UID: o.uid, Service: trace.service(), Source: trace.source(), Typed: r.set.Config().Typed}
	}
	plan.Before = append(plan.Before, trace.count)
	formats.Serve(conversion.Symbols, one.downloads())
	err = readFailure(plan, conversion.Run(in, func(p *pass.Pass) error { return trace.convert(p, o) }))
	if trace.added {
		return err
	}
	r.release(o.uid)
	return errors.Join(err, trace.addition.Abort())
}

// begin starts to add an input. If the dataset has it, the result is nil and o has the status.
func (r *collecting) begin(in *input.Input, o *outcome, selection string) (*tracing, error) {
	sum, beginnings, err := r.identify(in)
	if err != nil {
		return nil, inputFailure(err, false)
	}
	o.uid = dataset.UIDOf(sum.SHA256)
	claim := r.claim(o.uid)
	if r.waiting != nil {
		found, err := r.waiting(o)
		if err != nil {
			r.release(o.uid)
			return nil, fail(exitOutput, err)
		}
		if found {
			r.release(o.uid)
			return nil, nil
		}
	}
	made := madeWith{selection, r.collection.settings}
	if m := in.Manifest(); m != nil { // from a dataset, which may have only a selection
		made.selection = strings.TrimSpace(m.Selection + " " + made.selection)
	}
	addition, err := r.set.Begin(sum.SHA256, &dataset.BeginOptions{
		Replaces:   func(m *dataset.Manifest) bool { return r.replaces(m, made, m.UID != o.uid) },
		Beginnings: beginnings, Cleaner: r.app.cleaner,
	})
	if err == nil {
		return &tracing{collecting: r, addition: addition, made: made, size: in.Size(), content: sum.Bytes, from: in.Manifest(), claim: claim}, nil
	}
	r.release(o.uid)
	var exists *dataset.ExistsError
	switch {
	case errors.As(err, &exists):
		old, is := madeOf(exists.Trace.Manifest).String(), made.String()
		if service := r.collection.service; old == is && service != "" && service != exists.Trace.Manifest.Service {
			old, is = "--service "+exists.Trace.Manifest.Service, "--service "+service
		}
		if old != is {
			return nil, failf(exitUsage, "the dataset has it with %s, and this run has %s; add --%s to replace it", old, is, flagReplace)
		}
		o.Status, o.Output = statusThere, exists.Trace.Path
		return nil, nil
	case errors.Is(err, dataset.ErrBusy):
		o.Status = statusBusy
		return nil, failf(exitIncomplete, "another run is adding it to the dataset; when that run has ended, the same command adds what it did not")
	}
	return nil, fail(exitOutput, err)
}

// replaces reports whether a trace of the dataset is replaced by one that is made so. grew means that it is a beginning of that.
func (r *collecting) replaces(m *dataset.Manifest, made madeWith, grew bool) bool {
	old := madeOf(m)
	moved := r.collection.service != "" && r.collection.service != m.Service
	return made.contains(old) || grew && made == old || r.collection.replace && (old != made || moved)
}

// flush publishes the traces that wait, and gives those that could not be published their errors, of which it prints one: they
// have one reason, such as a full disk.
func (r *collecting) flush() {
	r.adds.Flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
		if f.there != "" {
			f.o.Status, f.o.Output, f.o.Exit, f.o.Error, f.o.Events, f.o.Bytes = statusThere, f.there, exitOK, "", 0, 0
			continue
		}
		f.o.Status, f.o.Output, f.o.Exit, f.o.Error = statusFailed, "", exitOutput, errorOf(f.o.Input, f.err)
		if f.first && r.app.report != reportJSON && !r.app.ended.Load() {
			r.app.printError(f.o.Error)
		}
	}
	if len(r.failures) > 0 {
		events, bytes := r.total()
		r.app.sum.Events, r.app.sum.Selected, r.app.sum.Bytes = events, events, bytes
	}
}

// storedSize returns the size of all files that exist.
func storedSize(names []string) (size int64) {
	for _, name := range names {
		if info, err := store.Stat(name); err == nil {
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
	made       madeWith
	size       int64             // of the input
	content    int64             // of the input, decompressed
	from       *dataset.Manifest // of the dataset that the trace comes from, or nil
	claim      *claim
	added      bool             // the batch has the addition
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
	m.Source = cmp.Or(t.source(), o.Input)
	t.added = true
	o.Output, o.Events, o.Bytes = store.Join(t.set.Dir(), dataset.TraceKey+"="+t.addition.UID()), m.Events, t.app.sum.Bytes
	if err == nil {
		o.Status = statusAdded
	}
	t.adds.Add(t.addition, m, t.collecting.done(o, t.made))
	t.stage(t.claim)
	return err
}

// done returns the function that is called when the trace of an input is in the dataset, or cannot be published. It keeps nothing of
// the conversion, which many traces would have in memory at a time.
func (r *collecting) done(o *outcome, made madeWith) func(error) {
	return func(err error) {
		r.release(o.uid)
		if err == nil {
			r.published.Add(1)
			return
		}
		failure := unpublished{o: o, err: err}
		if exists, ok := errors.AsType[*dataset.ExistsError](err); ok && madeOf(exists.Trace.Manifest) == made {
			failure.there = exists.Trace.Path
		} else {
			failure.first = !r.stopped.Swap(true)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failures = append(r.failures, failure)
	}
}

// service returns the name of the service that the user gave, or that the trace has in the dataset that it comes from.
func (t *tracing) service() string {
	if t.from != nil {
		return cmp.Or(t.collection.service, t.from.Service)
	}
	return t.collection.service
}

// source returns the name of the input in the dataset that the trace comes from, "" if it comes from none.
func (t *tracing) source() string {
	switch {
	case t.collection.source != "":
		return t.collection.source
	case t.from == nil:
		return ""
	}
	return t.from.Source
}

// manifest describes the trace of a pass. partial is the error of an incomplete input, or nil.
func (t *tracing) manifest(p *pass.Pass, partial error) *dataset.Manifest {
	m := &dataset.Manifest{
		Size: t.size, Content: t.content, Format: p.Info.Format, Events: p.Kept, Lost: int64(p.Report.Count(ntconv.CodeEventsLost)),
		Selection: t.made.selection, Settings: t.made.settings, Schema: tables.Version, Version: message.ModuleVersion(), Added: time.Now().UTC().Truncate(time.Second),
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
	m.Process, m.OS, m.Arch, m.Service = info.Name, info.OS, info.Arch, cmp.Or(t.service(), info.Service())
	if t.from != nil { // what the trace itself does not have
		m.Source, m.Size, m.Format, m.Properties, m.Incomplete = t.from.Source, t.from.Size, t.from.Format, t.from.Properties, t.from.Incomplete
		m.Service = t.service()
		if m.Selection == t.from.Selection { // its tables begin with the first event
			m.Duration = t.from.Duration
		}
	}
	return m
}
