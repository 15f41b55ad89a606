package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
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
	adds       *dataset.Batch
	published  atomic.Int64                              // traces
	adding     map[string]*claim                         // by UID; batch.mu guards the map
	sources    map[string]map[string][]*dataset.Manifest // by ID of the commit and name of the source; batch.mu guards them
	failures   []unpublished                             // of traces that were converted; batch.mu guards them
}

// An unpublished trace was converted and could not be published.
type unpublished struct {
	o     *outcome
	err   error
	first bool // no job before had an error of the destination
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
	sum, beginnings, err := r.identify(in)
	if err != nil {
		return inputFailure(err, false)
	}
	o.uid = dataset.UIDOf(sum.SHA256)
	claim := r.claim(o.uid)
	made := madeWith{plan.Selection.String(), r.collection.settings}
	if m := in.Manifest(); m != nil { // from a dataset, which may have only a selection
		made.selection = strings.TrimSpace(m.Selection + " " + made.selection)
	}
	addition, err := r.set.Begin(sum.SHA256, &dataset.BeginOptions{
		Replaces: func(m *dataset.Manifest) bool {
			old := madeOf(m)
			moved := r.collection.service != "" && r.collection.service != m.Service
			return r.collection.replace && (old != made || moved) || made.contains(old) || m.UID != o.uid && made == old
		},
		Beginnings: beginnings, Cleaner: r.app.cleaner,
	})
	if err != nil {
		r.release(o.uid)
	}
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
	trace := &tracing{
		collecting: r, app: one, conversion: &conversion, addition: addition, made: made, size: in.Size(), content: sum.Bytes, from: in.Manifest(), claim: claim,
	}
	conversion.Adapt = func(target *formats.Target) {
		target.Trace = &formats.Trace{UID: addition.UID(), Service: trace.service(), Typed: r.set.Config().Typed}
	}
	plan.Before = append(plan.Before, trace.count)
	formats.Serve(conversion.Symbols, one.downloads())
	err = readFailure(plan, conversion.Run(in, func(p *pass.Pass) error { return trace.convert(p, o) }))
	if trace.added {
		return err
	}
	r.release(o.uid)
	return errors.Join(err, addition.Abort())
}

// identify returns the hash of an input, and the traces of the dataset that are a beginning of it: a file with such a name was added
// while it grew.
func (r *collecting) identify(in *input.Input) (*input.Sum, []string, error) {
	recorded, err := r.recorded(sourceName(in.FirstName()))
	if err != nil {
		return nil, nil, err
	}
	var lengths []int64
	known := make(map[int64][]string)
	for _, m := range recorded {
		if m.Content > 0 {
			lengths = append(lengths, m.Content)
			known[m.Content] = append(known[m.Content], m.SHA256)
		}
	}
	sum, err := in.Sum(slices.Compact(slices.Sorted(slices.Values(lengths))))
	if err != nil {
		return nil, nil, err
	}
	var beginnings []string
	for length, beginning := range sum.Beginnings {
		if length < sum.Bytes && slices.Contains(known[length], hex.EncodeToString(beginning)) {
			beginnings = append(beginnings, dataset.UIDOf(beginning))
		}
	}
	return sum, beginnings, nil
}

// recorded returns the traces of the dataset that were added from a file with that name.
func (r *collecting) recorded(name string) (list []*dataset.Manifest, err error) {
	commits, err := r.set.Commits()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commits {
		names := r.sources[c.ID]
		if names == nil { // commits do not change
			names = make(map[string][]*dataset.Manifest)
			for i := range c.Traces {
				source := sourceName(c.Traces[i].Source)
				names[source] = append(names[source], &c.Traces[i])
			}
			r.sources[c.ID] = names
		}
		list = append(list, names[name]...)
	}
	return list, nil
}

// sourceName returns the name of an input without directories and compression.
func sourceName(name string) string {
	rest, _ := formats.CutCompression(filepath.Base(name))
	return rest
}

// flush publishes the traces that wait, and gives those that could not be published their errors, of which it prints one: they
// have one reason, such as a full disk.
func (r *collecting) flush() {
	r.adds.Flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
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

// A claim is the right of a job to add the trace with a UID. The collection's mutex guards staged and waited.
type claim struct {
	ended  chan struct{} // closed when the trace is in the dataset, or the addition has failed
	staged bool          // the batch has the trace
	waited bool          // another job waits
}

// claim waits until no other job of this run adds the trace with this UID. Without it, two inputs with the same content would see
// each other as busy. A trace that another job waits for is published at once.
func (r *collecting) claim(uid string) *claim {
	for {
		r.mu.Lock()
		other := r.adding[uid]
		if other == nil {
			mine := &claim{ended: make(chan struct{})}
			r.adding[uid] = mine
			r.mu.Unlock()
			return mine
		}
		other.waited = true
		staged := other.staged
		r.mu.Unlock()
		if staged {
			r.adds.Flush()
		}
		<-other.ended
	}
}

// stage states that the batch has the trace.
func (r *collecting) stage(c *claim) {
	r.mu.Lock()
	c.staged = true
	waited := c.waited
	r.mu.Unlock()
	if waited {
		r.adds.Flush()
	}
}

// release ends the claim of a UID.
func (r *collecting) release(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.adding[uid]; c != nil {
		delete(r.adding, uid)
		close(c.ended)
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
	m.Source = cmp.Or(m.Source, o.Input)
	t.added = true
	o.Output, o.Events, o.Bytes = filepath.Join(t.set.Dir(), dataset.TraceKey+"="+t.addition.UID()), m.Events, t.app.sum.Bytes
	if err == nil {
		o.Status = statusAdded
	}
	t.adds.Add(t.addition, m, t.collecting.done(o))
	t.stage(t.claim)
	return err
}

// done returns the function that is called when the trace of an input is in the dataset, or cannot be published. It keeps nothing of
// the conversion, which many traces would have in memory at a time.
func (r *collecting) done(o *outcome) func(error) {
	return func(err error) {
		r.release(o.uid)
		if err == nil {
			r.published.Add(1)
			return
		}
		first := !r.stopped.Swap(true)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failures = append(r.failures, unpublished{o, err, first})
	}
}

// service returns the name of the service that the user gave, or that the trace has in the dataset that it comes from.
func (t *tracing) service() string {
	if t.from != nil {
		return cmp.Or(t.collection.service, t.from.Service)
	}
	return t.collection.service
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
	}
	return m
}
