// Package otlp writes the spans of a trace as OTLP, the protocol of OpenTelemetry, either to a receiver through an
// Uploader or to a file.
//
//	sink := otlp.New(ctx, client, src.Info(), nil, nil)
//	_, err := ntconv.Copy(sink, src)
//	err = errors.Join(err, sink.Close())
//
// client is an Uploader: it gets the body of each request. NewFile writes a file and needs no client. After Close,
// Summary states how many spans arrived.
//
// The sink builds spans from Activities that a DiagnosticSource recorded, from events with the labels TraceId and
// SpanId, from Start and Stop events of event sources, and from spans that were imported from OTLP. docs/otlp.md
// specifies the mapping.
//
// The sink sends spans in batches as they end. Its memory depends on the batch size and the number of open spans, not
// on the length of the trace. Equal events give equal batches unless Options.FlushEvery sends a batch early.
package otlp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Form is the encoding of an OTLP file.
type Form uint8

const (
	// JSONLines is OTLP/JSON with one TracesData object per batch and line. It is the default format of the
	// OpenTelemetry Collector's file exporter.
	JSONLines Form = iota
	// Protobuf is a single TracesData message. The sink writes it as a concatenation of batches, which protobuf defines
	// to be the merged message.
	Protobuf
	// Delimited is one TracesData message per batch, each preceded by its length in bytes as a big-endian 32-bit
	// number. It is the format of the OpenTelemetry Collector's file exporter with the setting format: proto.
	Delimited
)

// A Sink writes spans. It is not safe for concurrent use. Call Close even if Write has failed, because it ends the
// goroutines of the sink.
type Sink struct {
	o        Options
	namer    ntconv.Namer
	uploader Uploader // nil for a file
	tracker  *tracker.Tracker
	delivery *delivery
	spans    int64 // spans to be written
	omitted  int64 // by OmitNotRecorded
	closed   bool
	done     Summary
	err      error // of Close

	watched   *ntconv.Type // type of the latest event that Watch observed
	describes bool         // events of this type describe a process

	// mu guards the following fields, which the timer of FlushEvery also uses.
	mu        sync.Mutex
	processes processes
	table     table
	batch     *batch // the batch being filled; nil if there is none
	timer     *time.Timer
	extra     []span.Attribute // scratch of extraOf
}

var (
	_ ntconv.Sink    = (*Sink)(nil)
	_ ntconv.Watcher = (*Sink)(nil)
	_ ntconv.Flusher = (*Sink)(nil)
)

// New returns a sink that sends spans through u. The sink passes ctx to u; when ctx is done, the sink stops sending and
// fails. info must not be nil. A nil namer means that process and thread names come only from the events that the sink
// receives. Nil opts select the defaults.
func New(ctx context.Context, u Uploader, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := newSink(info, namer, opts)
	s.uploader = u
	s.delivery = newDelivery(ctx, upload{u, s.o.Spend}, &s.o)
	return s
}

// NewFile returns a sink that writes spans to w with one Write per batch. It does not close w. The other parameters are
// those of New; Options.Concurrency has no effect.
func NewFile(w io.Writer, form Form, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := newSink(info, namer, opts)
	s.o.Concurrency = 1
	s.delivery = newDelivery(context.Background(), &file{w: w, form: form}, &s.o)
	return s
}

// newSink returns a sink without a delivery, which the caller sets.
func newSink(info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{namer: namer}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = new(ntconv.NoNames)
	}
	s.processes.foreign = info != nil && strings.HasPrefix(info.Format, "chrome")
	s.o.setDefaults()
	s.table.added = s.o.ImportedResource
	s.tracker = tracker.New(info, s.add, s.o.tracker())
	return s
}

// ErrClosed means that an event was written to a Sink after Close.
var ErrClosed = errors.New("otlp: the sink is closed")

// Write adds an event to the spans that it belongs to. The sink does not keep e. Events must arrive in time order
// (reader.ByTime): an event that arrives before the Start or after the Stop of its span is not part of the span. Write
// returns an *UploadError if this or an earlier batch could not be sent, and ErrClosed after Close.
func (s *Sink) Write(e *ntconv.Event) error {
	if s.closed {
		return ErrClosed
	}
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

// Watch learns from an event that a selection may omit what it reports about its process, such as the command line.
// Call it for every event of the trace, before Write if the event is selected. You can omit the calls if all events are
// written. .NET writes the command line last: to have it in all batches, also call Watch for all events of an earlier
// reading of the trace. Watch does not keep e.
func (s *Sink) Watch(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		return
	}
	if e.Type != s.watched {
		s.watched, s.describes = e.Type, recording.Describes(e.Type)
	}
	if s.describes {
		s.mu.Lock()
		s.processes.learn(e)
		s.mu.Unlock()
	}
}

// add adds a span from the tracker to the batch, and sends the batch when it is full.
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
	resource, extra := s.resourceOf(sp), s.extraOf(sp)
	for !s.batch.add(sp, extra, resource, s.table.scopeOf(sp.Scope), s.o.BatchBytes) {
		if s.send(); !s.hasBatch() {
			return
		}
		resource = s.resourceOf(sp) // send may have emptied the table
	}
	if resource.process != nil {
		resource.process.spans++
	}
	if len(s.batch.rows) >= s.o.BatchSpans || s.batch.size >= s.o.BatchBytes {
		s.send()
	}
}

// hasBatch ensures that there is a batch to fill. It returns false if the delivery has failed. The caller holds mu.
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

// expire sends a batch that has waited long enough. The timer calls it on its own goroutine.
func (s *Sink) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.batch == nil {
		return
	}
	// The timer may have been started for the previous batch.
	if rest := s.o.FlushEvery - time.Since(s.batch.since); rest > 0 {
		s.timer.Reset(rest)
		return
	}
	s.send()
}

// send queues the batch for delivery. It describes the processes of its spans if this is their first batch. The caller
// holds mu.
func (s *Sink) send() {
	if s.batch == nil {
		return
	}
	for _, r := range s.batch.rows {
		if p := r.resource.process; p != nil && r.resource.head == nil {
			p.describe(&s.table, &s.o)
		}
	}
	s.repaired(&s.batch.encoder)
	s.repaired(&s.table.encoder)
	s.table.trim()
	s.delivery.put(s.batch)
	s.batch = nil
}

// repaired reports strings that were not valid UTF-8 and resets their count.
func (s *Sink) repaired(e *encoder) {
	s.o.Report.Note(ntconv.CodeRepaired, e.repaired, -1, "strings that are not valid UTF-8; invalid parts became U+FFFD")
	e.repaired = 0
}

// resourceOf returns the envelope of a span's resource. That of a process whose first batch has not been sent is not
// encoded yet and has only an upper bound of its size.
func (s *Sink) resourceOf(sp *span.Span) *envelope {
	if sp.Resource != nil {
		return s.table.resourceOf(sp.Resource)
	}
	p := s.processes.of(sp.Process)
	if p.envelope.head == nil {
		if p.Command == "" {
			known := s.namer.Process(sp.Process)
			p.Command, p.Name = known.CommandLine, cmp.Or(known.Name, p.Name)
		}
		p.envelope.size = p.maxSize(&s.o)
	}
	return &p.envelope
}

// Attributes for Options.ThreadAttributes and Options.ProfileIDs. thread.id of the semantic conventions is the managed
// thread ID, which no trace contains.
const (
	attrThread     = "dotnet.thread.os_id"
	attrThreadName = "thread.name"
	attrProfile    = "pyroscope.profile.id"
)

// extraOf returns the attributes that the options add to a span. The result is valid until the next call.
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

// Flush sends all spans that have ended and returns when the receiver has them. Open spans stay open. It returns an
// *UploadError if this or an earlier batch could not be sent.
func (s *Sink) Flush() error {
	s.mu.Lock()
	s.send()
	s.mu.Unlock()
	s.delivery.wait()
	return s.failure()
}

// Close ends the open spans as Options.Unfinished states, sends all remaining spans and waits until they are delivered.
// If the context of New is done, it waits at most one second for the Uploader. It returns an *UploadError if not all
// spans were received. Spans that the receiver rejected individually are not an error; Summary and Options.Report count
// them. A second call returns the same error.
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

// Summary returns what has been written so far. It is complete after Close.
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
