// Package html writes traces as pages: one HTML file that shows a recording in any current browser, without a network.
// docs/html.md specifies the page and the data in it.
//
// The page shows the samples of all kinds as flame graphs and tables, and counters, spans, garbage collections,
// compilations and waits over time. Values of samples are those of exporters/pprof. The sink keeps compact columns in
// bounded memory. Samples that do not fit are added up in bins of time, so totals stay exact; what is left out is
// stated on the page.
package html

import (
	"errors"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	recorded "github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/tables/rows"
	"github.com/ntconv/ntconv/sample"
)

// DefaultMaxBytes is the default of Options.MaxBytes: 25 MiB.
const DefaultMaxBytes = 25 << 20

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
	// Ordered states that events arrive in time order. Selection states that a selection may omit events.
	Ordered, Selection bool
	// Source is the name of the trace and Version the version of the writing program; "" means "dev".
	Source, Version string
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of a temporary file in bytes; 0 means no limit. Exceeding it is an error that wraps
	// ntconv.ErrLimit.
	MaxTemp int64
	// MaxBytes is the maximum size of the page in bytes; 0 means DefaultMaxBytes. A larger page gets fewer details. If
	// the page exceeds the limit even so, Close returns an error that wraps ntconv.ErrLimit.
	MaxBytes int64
	// Active, if not nil, returns the IDs of the span that was active when an event was recorded, and false if no span
	// was active; use otlp.ActiveSpans.Find. It must not keep the event. If it is nil, samples get the IDs of their
	// labels, and intervals the IDs of spans that earlier events show.
	Active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)
	// Evidence, if not nil, names what linked the latest event for which Active returned a span: "label", "activity" or
	// "thread". The page states how many samples each of them links.
	Evidence func() string
	// Kinds are the kinds of samples; nil means all except sample.Events. KindOptions configure those computed from
	// events; subjects never become frames. Window, if not nil, reports whether a time is selected: an interval, such as
	// a wait, that is not completely in the selected time is in no sample.
	Kinds       []sample.Kind
	KindOptions sample.KindOptions
	Window      func(ntconv.Ticks) bool
	// Answers, if not nil, returns what a recording can and cannot answer. Close calls it once, when the Summary has the numbers of
	// what the page shows.
	Answers func(Summary) (can, cannot []Answer)
	// DataOnly writes the data of the page in place of the page: Before of another page.
	DataOnly bool
	// Before, if not nil, is the data of an earlier recording with which the page compares this one. Difference is what
	// ntconv diff --json prints for both, nil if it is unknown.
	Before, Difference []byte
}

// An Answer is a question that a recording can or cannot answer.
type Answer struct {
	// What is the question as a phrase. Command is a command that answers it, or that records what is missing.
	What    string `json:"what"`
	Command string `json:"command"`
}

// A Summary counts what a Sink has written. It is complete after Close.
type Summary struct {
	// Events is the number of events that were added, without copies of events from elsewhere in a recording. Samples is the
	// number of samples of all kinds, Spans and Intervals those of spans and of intervals of the runtime, and Values that of
	// values of counters, on the page or not.
	Events, Samples, Spans, Intervals, Values int64
	// Kinds are the kinds that have samples, in the order of sample.Preferred.
	Kinds []sample.Kind
	// Bytes is the size of the page. Reduced means that details were left out so that it does not exceed
	// Options.MaxBytes.
	Bytes   int64
	Reduced bool
	// Notes are the sentences on the page that state losses and what was left out.
	Notes []string
}

// A Sink writes a trace as a page. It is not safe for concurrent use. Call Close or Abort even after an error, because
// they end goroutines and remove temporary files.
type Sink struct {
	w       io.Writer
	o       Options
	rows    *rows.Sink
	rec     *recording
	heap    heapReader
	done    Summary
	written bool // Close or Abort has been called
}

var _ ntconv.Watcher = (*Sink)(nil)

// tablesRead are the tables from which the page is built. Samples come from rows.Options.OnSample.
var tablesRead = []string{
	"trace_info", "processes", "threads", "modules", "losses", "stacks", "frames", "spans", "intervals", "counters",
}

// New returns a sink that writes a page to w in Close. It does not close w. info must not be nil. A nil namer resolves
// only stacks that carry their frames. A nil o selects the defaults. New returns an error if an option is invalid.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) (*Sink, error) {
	s := &Sink{w: w, rec: newRecording()}
	s.rec.clock = info.Clock
	if o != nil {
		s.o = *o
	}
	switch {
	case s.o.MaxBytes < 0:
		return nil, errors.New("MaxBytes is negative")
	case s.o.MaxBytes == 0:
		s.o.MaxBytes = DefaultMaxBytes
	}
	kinds := s.o.Kinds
	if kinds == nil {
		kinds = sample.All()
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k sample.Kind) bool {
		return meters.OnlyTotals(k) || s.o.Kinds == nil && k == sample.Events
	})
	options := s.o.KindOptions
	options.SubjectAs = sample.SubjectLabel
	var err error
	s.rows, err = rows.New(s.rec, info, namer, &rows.Options{
		Report: s.o.Report, Ordered: s.o.Ordered, Selection: s.o.Selection, Source: s.o.Source, Version: s.o.Version,
		TempDir: s.o.TempDir, MaxTemp: s.o.MaxTemp, Active: s.o.Active, Evidence: s.o.Evidence, Kinds: kinds,
		KindOptions: options, Window: s.o.Window, Tables: tablesRead, OnSample: s.rec.samples.add,
	})
	if err != nil {
		return nil, err
	}
	s.rec.samples.start = s.rows.Start()
	return s, nil
}

// Watch observes an event that a selection may omit: the next sample of a thread, for example, determines the weight of
// its previous sample. The sink does not keep e. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) { s.rows.Watch(e) }

// Write adds an event, which must have a type and a thread. The sink does not keep e or its payload.
func (s *Sink) Write(e *ntconv.Event) error {
	if err := s.rows.Write(e); err != nil || e.Kind != ntconv.KindEvent {
		return err
	}
	if recorded.IsFact(e) {
		s.done.Events++
	}
	s.rec.samples.main.See(e)
	if heap, promoted, ok := s.heap.read(e); ok && !recorded.IsReplica(e) {
		s.rec.heap.addHeap(s.rows, e, heap, promoted)
	}
	return nil
}

// Close writes the page. It does nothing after Close or Abort.
func (s *Sink) Close() error {
	if s.written {
		return nil
	}
	s.written = true
	if err := s.rows.Close(); err != nil {
		return err
	}
	s.rec.long, s.rec.links = s.rows.Summary().Long, s.rows.Summary().Links
	s.rec.finish()
	header := &pageHeader{generator: "ntconv " + version(s.o.Version), events: s.done.Events, whole: s.o.DataOnly}
	s.summarize()
	if s.o.Answers != nil {
		header.can, header.cannot = s.o.Answers(s.done)
	}
	more, err := s.comparison()
	if err != nil {
		return err
	}
	page, err := fit(s.rec, header, more, s.o.MaxBytes)
	if err != nil {
		return err
	}
	if s.o.DataOnly {
		var n int
		n, err = s.w.Write(page.blocks[0].data)
		s.done.Bytes = int64(n)
	} else {
		s.done.Bytes, err = writePage(s.w, s.rec.title(), slices.Concat(page.blocks, more))
	}
	s.done.Notes, s.done.Reduced = page.notes, page.reduced
	return err
}

// comparison returns the blocks of a page that compares two recordings.
func (s *Sink) comparison() (more []block, err error) {
	if s.o.Before != nil {
		more = append(more, block{id: "before", data: s.o.Before})
	}
	if s.o.Before != nil && s.o.Difference != nil {
		packed, err := compress(s.o.Difference)
		if err != nil {
			return nil, err
		}
		more = append(more, block{id: "diff", data: packed})
	}
	return more, nil
}

// Abort ends goroutines and removes temporary files, in place of Close, and writes nothing. It does nothing after
// Close.
func (s *Sink) Abort() error {
	if s.written {
		return nil
	}
	s.written = true
	return s.rows.Abort()
}

func (s *Sink) summarize() {
	s.done.Spans, s.done.Intervals = s.rec.spans.seen, s.rec.intervals.seen
	s.done.Values = int64(len(s.rec.counters.values)) + s.rec.counters.omitted
	for _, k := range s.rec.samples.kinds() {
		s.done.Kinds = append(s.done.Kinds, k.kind)
		s.done.Samples += k.used
	}
}

// Summary returns what was written.
func (s *Sink) Summary() Summary { return s.done }

func version(v string) string {
	if v == "" {
		return "dev"
	}
	return v
}
