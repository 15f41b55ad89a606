// Package otlp writes the spans of a trace as OTLP, the protocol of OpenTelemetry: to a receiver through an Uploader,
// or to a file.
//
//	sink := otlp.New(ctx, client, src.Info(), nil, nil)
//	_, err := ntconv.Copy(sink, src)
//	err = errors.Join(err, sink.Close())
//
// client is an Uploader, such as a client of otlptracegrpc or otlptracehttp. The caller starts it before New and stops
// it after Close. NewFile writes a file and needs no client. Close completes the Summary, which says how many spans
// arrived.
//
// Spans come from Activities that a DiagnosticSource recorded, from events with the labels TraceId and SpanId, from
// Start and Stop events of event sources, and from spans that were imported from OTLP; docs/otlp.md specifies the
// mapping.
//
// The sink sends spans in batches as they end. Its memory depends on the size of a batch and on the number of open
// spans, and not on the length of the trace. Equal events give equal batches unless Options.FlushEvery sends batches
// early.
package otlp

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/procinfo"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Form is the encoding of a file.
type Form uint8

const (
	// JSONLines is OTLP/JSON: one TracesData object per batch and line, as the file exporter of the OpenTelemetry
	// Collector writes it.
	JSONLines Form = iota
	// Protobuf is one TracesData message. It is written as the concatenation of the batches, which protobuf defines as
	// the merged message.
	Protobuf
	// Delimited is one TracesData message per batch, each after its length in bytes as a big-endian 32-bit number. The
	// file exporter of the OpenTelemetry Collector writes it with format: proto.
	Delimited
)

// A Sink writes spans. It is not safe for concurrent use. Call Close even if Write has failed: it ends the goroutines
// of the sink.
type Sink struct {
	o        Options
	namer    ntconv.Namer
	uploader Uploader // nil if a file is written
	tracker  *tracker.Tracker
	delivery *delivery
	spans    int64 // that are to be written
	omitted  int64 // by OmitNotRecorded
	closed   bool
	done     Summary
	err      error // of Close

	watched   *ntconv.Type // the latest one
	describes bool         // its events describe a process

	// mu guards what the timer of FlushEvery also uses.
	mu        sync.Mutex
	processes processes
	table     table
	batch     *batch // nil if there is none
	timer     *time.Timer
	extra     []span.Attribute // reused by extraOf
}

var (
	_ ntconv.Sink    = (*Sink)(nil)
	_ ntconv.Watcher = (*Sink)(nil)
	_ ntconv.Flusher = (*Sink)(nil)
)

// New returns a sink that sends spans through u. ctx is passed to u; if it is done, the sink stops sending and fails. A
// nil namer provides no names in addition to those that the sink finds in the events it gets. opts may be nil.
func New(ctx context.Context, u Uploader, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := newSink(info, namer, opts)
	s.uploader = u
	s.delivery = newDelivery(ctx, upload{u, s.o.Spend}, &s.o)
	return s
}

// NewFile returns a sink that writes spans to w. It does not close w. namer and opts may be nil.
func NewFile(w io.Writer, form Form, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := newSink(info, namer, opts)
	s.o.Concurrency = 1
	s.delivery = newDelivery(context.Background(), &file{w: w, form: form}, &s.o)
	return s
}

func newSink(info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{namer: namer}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = ntconv.NoNames()
	}
	s.processes.foreign = info != nil && strings.HasPrefix(info.Format, "chrome")
	s.o.setDefaults()
	s.table.added = s.o.ImportedResource
	s.table.trim()
	s.tracker = tracker.New(info, s.add, s.o.tracker())
	return s
}

// Write adds an event to the spans that it belongs to, and borrows it until Write returns. Events must come in time
// order (reader.ByTime): an event that comes before the Start of its span, or after the Stop, is not a part of it. The
// error is an *UploadError if a batch could not be sent, which may have been an earlier one.
func (s *Sink) Write(e *ntconv.Event) error {
	s.Watch(e)
	s.tracker.Add(e)
	if s.delivery.failed.Load() {
		return s.failure()
	}
	return nil
}

func (s *Sink) failure() error {
	_, err := s.delivery.outcome(s.spans)
	return err
}

// Watch learns about the process of an event that a selection may omit, such as its command line. Call it for every
// event of the trace, and Write with the same event next if the event is selected. If all events are written, it need
// not be called. .NET writes the command line last: to have it in all batches, also call Watch for all events of an
// earlier reading of the trace. Watch borrows the event until it returns.
func (s *Sink) Watch(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		return
	}
	if e.Type != s.watched {
		s.watched, s.describes = e.Type, procinfo.Describes(e.Type)
	}
	if s.describes {
		s.mu.Lock()
		s.processes.learn(e)
		s.mu.Unlock()
	}
}

// add puts a span of the tracker into the batch.
func (s *Sink) add(sp *span.Span) {
	if sp.NotRecorded && s.o.OmitNotRecorded {
		s.omitted++
		return
	}
	s.spans++
	if s.delivery.failed.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasBatch() {
		return
	}
	row, extra := s.resourceOf(sp), s.extraOf(sp)
	for !s.batch.add(sp, extra, row, s.table.scopeOf(sp.Scope), s.o.BatchBytes) {
		if s.cut(); !s.hasBatch() {
			return
		}
		row = s.resourceOf(sp) // cut may have emptied the table
	}
	if row.process != nil {
		row.process.spans++
	}
	if len(s.batch.rows) >= s.o.BatchSpans || s.batch.size >= s.o.BatchBytes {
		s.cut()
	}
}

// hasBatch makes sure that there is a batch that can take a span. It returns false if the delivery has failed.
func (s *Sink) hasBatch() bool {
	if s.batch != nil {
		return true
	}
	if s.batch = s.delivery.take(); s.batch == nil {
		return false
	}
	if s.o.FlushEvery > 0 {
		s.batch.since = time.Now()
		if s.timer == nil {
			s.timer = time.AfterFunc(s.o.FlushEvery, s.expire)
		} else {
			s.timer.Reset(s.o.FlushEvery)
		}
	}
	return true
}

// expire sends a batch that has waited for long enough. It runs on a goroutine of its own.
func (s *Sink) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.batch == nil {
		return
	}
	// The timer may have been started for the batch before.
	if rest := s.o.FlushEvery - time.Since(s.batch.since); rest > 0 {
		s.timer.Reset(rest)
		return
	}
	s.cut()
}

// cut sends the batch.
func (s *Sink) cut() {
	if s.batch == nil {
		return
	}
	for _, r := range s.batch.rows {
		if p := r.resource.process; p != nil && r.resource.pb == nil {
			p.describe(&s.table, &s.o)
		}
	}
	s.repaired(&s.batch.converter)
	s.repaired(&s.table.converter)
	s.table.trim()
	s.delivery.put(s.batch)
	s.batch = nil
}

// repaired reports strings that were not valid.
func (s *Sink) repaired(c *converter) {
	s.o.Report.Note(ntconv.CodeRepaired, c.repaired, -1, "strings that are not valid UTF-8 got U+FFFD")
	c.repaired = 0
}

// resourceOf returns the resource of a span.
func (s *Sink) resourceOf(sp *span.Span) *resourceRow {
	if sp.Resource != nil {
		return s.table.resourceOf(sp.Resource)
	}
	p := s.processes.of(sp.Process)
	if p.row.pb == nil && p.Command == "" {
		known := s.namer.Process(sp.Process)
		p.Command, p.Name = known.CommandLine, cmp.Or(known.Name, p.Name)
	}
	if p.row.pb == nil {
		p.row.size = p.maxSize(&s.o)
	}
	return &p.row
}

// Attributes of Options.ThreadAttributes and Options.ProfileIDs. The semantic conventions define thread.id as the
// managed thread ID, which no trace contains.
const (
	attrThread     = "dotnet.thread.os_id"
	attrThreadName = "thread.name"
	attrProfile    = "pyroscope.profile.id"
)

// extraOf returns the attributes that the options add to a span, valid until the next call.
func (s *Sink) extraOf(sp *span.Span) []span.Attribute {
	s.extra = s.extra[:0]
	if s.o.ProfileIDs && sp.Evidence != span.FromRuntime &&
		!slices.ContainsFunc(sp.Attributes, func(a span.Attribute) bool { return a.Key == attrProfile }) {
		s.extra = append(s.extra, span.Attribute{Key: attrProfile, Value: span.String(sp.ID.String())})
	}
	if t := sp.Thread; t != nil && s.o.ThreadAttributes && sp.Evidence != span.FromOTLP {
		if t.TID != ntconv.TIDUnknown {
			s.extra = append(s.extra, span.Attribute{Key: attrThread, Value: span.Int(int64(t.TID))})
		}
		if name := s.namer.ThreadName(t); name != "" {
			s.extra = append(s.extra, span.Attribute{Key: attrThreadName, Value: span.String(name)})
		}
	}
	return s.extra
}

// Flush sends the spans that have ended and returns when the receiver has them. Spans that are still open stay.
func (s *Sink) Flush() error {
	s.mu.Lock()
	s.cut()
	s.mu.Unlock()
	s.delivery.wait()
	return s.failure()
}

// Close ends the open spans as Options.Unfinished says, sends everything that is left and waits for it. Call Summary
// afterwards. If the context of New is done, Close waits at most one second for the Uploader. The error is an
// *UploadError if not all spans were received, except for those that the receiver rejected individually: Summary and
// Options.Report count these.
func (s *Sink) Close() error {
	if s.closed {
		return s.err
	}
	s.tracker.Finish()
	s.err = s.Flush()
	s.delivery.close()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.done, s.closed = s.Summary(), true
	s.o.Report.Note(ntconv.CodeDoubled, uint64(s.done.Doubled), -1, "")
	return s.err
}

// Summary returns what was written. It is complete after Close.
func (s *Sink) Summary() Summary {
	if s.closed {
		return s.done
	}
	sum, _ := s.delivery.outcome(s.spans)
	c := s.tracker.Counts()
	sum.MadeIDs, sum.Unfinished, sum.Evicted, sum.Clamped = c.MadeIDs, c.Unfinished, c.Evicted, c.Clamped
	sum.Intervals, sum.Linked = c.Intervals, c.Linked
	s.mu.Lock()
	sum.Unnamed = s.processes.unnamed()
	s.mu.Unlock()
	sum.Exporter, sum.NotRecorded, sum.Invalid, sum.Unmatched = c.Exporter, s.omitted, c.Invalid, c.Unmatched
	if u, ok := s.uploader.(StatsReporter); ok {
		stats := u.Stats()
		sum.Retries, sum.Doubled = stats.Retries, stats.Doubled
	}
	return sum
}
