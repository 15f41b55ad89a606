package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
)

// connect returns a sink that sends to the collector that flags and environment name.
func (c *otlpSettings) connect(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	client, err := c.link.client(c.options.Signals)
	if err != nil {
		return nil, err
	}
	sink, own := &otlpSink{finish: client.Close}, *c
	if sink.result.notes, err = resourceFromEnvironment(&own.options, os.Getenv); err != nil {
		return nil, &FlagError{err.Error()}
	}
	if c.flags.Changed(flagForm) {
		sink.result.notes = append(sink.result.notes, "--"+flagForm+" has no effect: the spans are sent to a collector")
	}
	sink.result.Endpoint = client.Endpoint(c.options.Signals.List()[0])
	return own.send(client, sink, out, info, t), nil
}

// send makes a sink send through u.
func (c *otlpSettings) send(u otlp.Uploader, sink *otlpSink, out *fileio.Outputs, info *ntconv.Info, t *Target) Sink {
	o := c.options
	if !c.flags.Changed(flagFlushEvery) {
		o.FlushEvery = defaultFlush
	}
	o.Progress, o.Spend, sink.signals = sink.sent.Store, out.Spend, o.Signals
	// The context is never canceled: a signal ends the process, and the flags bound the time of each batch.
	sink.payloads = c.payloads(info, t.Namer, &o)
	sink.Sink = otlp.New(context.Background(), u, info, t.Namer, &o)
	c.prepare(sink, t)
	return sink
}

// A Sending is a Sink that sends its output over the network while the input is read.
type Sending interface {
	Sink
	// Sent returns what has been sent so far, as "12 items", and the endpoint. It is safe for concurrent use.
	Sent() (what, where string)
}

// An otlpSink writes or sends items of all signals.
type otlpSink struct {
	*otlp.Sink
	payloads *payloads
	finish   func() error // completes the compression or closes the client; nil if neither is necessary
	sent     atomic.Int64
	// signals are those of the options, for the unit of sent.
	signals otlp.Signals
	result  spansResult
	// finite means that a failed upload does not end the run, so that it counts all items of the input.
	finite bool
}

// Write implements ntconv.Sink.
func (s *otlpSink) Write(e *ntconv.Event) error {
	if err := s.payloads.write(e); err != nil {
		return err
	}
	err := s.Sink.Write(e)
	if s.finite && errors.As(err, new(*otlp.UploadError)) {
		return nil // Close returns it again
	}
	return err
}

// Close ends the sink, then completes the compression or closes the client.
func (s *otlpSink) Close() error {
	err := errors.Join(s.payloads.close(), s.Sink.Close())
	if s.finish != nil {
		err = errors.Join(err, s.finish())
	}
	return err
}

// Watch implements ntconv.Watcher.
func (s *otlpSink) Watch(e *ntconv.Event) {
	s.payloads.watch(e)
	s.Sink.Watch(e)
}

// Sent implements Sending.
func (s *otlpSink) Sent() (what, where string) {
	unit := "item"
	if list := s.signals.List(); len(list) == 1 {
		unit = list[0].Item()
	}
	return message.Count(s.sent.Load(), unit), s.result.Endpoint
}

func (s *otlpSink) Result() Result {
	r := &s.result
	r.set(s.Summary())
	return r
}

// signalResult counts the items of one signal as otlp.Counts does.
type signalResult struct {
	Items       int64 `json:"items"` // found in the input
	Sent        int64 `json:"sent"`
	Rejected    int64 `json:"rejected,omitempty"`
	Unsent      int64 `json:"unsent,omitempty"`
	Unconfirmed int64 `json:"unconfirmed,omitempty"`
}

// spansResult is the result of an output of OTLP. The comments of otlp.Summary describe the counts, which are those of
// all signals.
type spansResult struct {
	made
	Endpoint    string                   `json:"endpoint,omitempty"`
	Spans       int64                    `json:"spans"`             // found in the input
	Signals     map[string]*signalResult `json:"signals,omitempty"` // those with items
	Batches     int64                    `json:"batches,omitempty"`
	Rejected    int64                    `json:"rejected,omitempty"`
	Unsent      int64                    `json:"unsent,omitempty"`
	Unconfirmed int64                    `json:"unconfirmed,omitempty"`
	Doubled     int64                    `json:"doubled,omitempty"`
	Retries     int64                    `json:"retries,omitempty"`
	Halved      int64                    `json:"halved,omitempty"`
	MadeIDs     int64                    `json:"synthetic,omitempty"`
	Unfinished  int64                    `json:"unfinished,omitempty"`
	Evicted     int64                    `json:"evicted,omitempty"`
	Exporter    int64                    `json:"exporter,omitempty"`
	Invalid     int64                    `json:"invalid,omitempty"`
	Clamped     int64                    `json:"clamped,omitempty"`
	Unmatched   int64                    `json:"unmatched,omitempty"`
	Warnings    int64                    `json:"warnings,omitempty"`
	Intervals   int64                    `json:"intervals,omitempty"` // of the runtime
	Linked      int64                    `json:"linked,omitempty"`    // of Intervals
	Unnamed     int64                    `json:"unnamed,omitempty"`
	Undated     int64                    `json:"undated,omitempty"`
	summary     otlp.Summary
	unit        string // of the first selected signal
	notes       []string
	live        bool   // intervals were linked while the trace was read for the first time
	fate        string // of unfinished spans
	flagless    bool   // see Target
}

// unlessFlagless returns advice that names a flag, "" if the command does not have it.
func (r *spansResult) unlessFlagless(advice string) string {
	if r.flagless {
		return ""
	}
	return advice
}

// A Sent is the Result of an output that may be sent.
type Sent interface {
	Result
	// Summary returns what became of the items.
	Summary() otlp.Summary
}

func (r *spansResult) Summary() otlp.Summary { return r.summary }

// set copies the counts of the summary and adds the remarks.
func (r *spansResult) set(s otlp.Summary) {
	r.made = made{Items: s.Sent, Unit: cmp.Or(r.unit, otlp.Traces.Item())}
	r.Spans = s.Signals[otlp.Traces].Items
	r.Batches, r.Rejected, r.Unsent, r.Unconfirmed = s.Batches, s.Rejected, s.Unsent, s.Unconfirmed
	r.summary = s
	r.Signals = make(map[string]*signalResult)
	for signal, c := range s.Signals {
		if c.Items > 0 {
			r.Unit = otlp.Signal(signal).Item()
			r.Signals[otlp.Signal(signal).String()] = &signalResult{c.Items, c.Sent, c.Rejected, c.Unsent, c.Unconfirmed}
		}
	}
	if len(r.Signals) > 1 {
		r.Unit = "item"
	}
	r.Doubled, r.Retries, r.Halved, r.MadeIDs, r.Unfinished = s.Doubled, s.Retries, s.Halved, s.MadeIDs, s.Unfinished
	r.Evicted, r.Exporter, r.Invalid = s.Evicted, s.Exporter, s.Invalid
	r.Clamped, r.Unmatched, r.Warnings = s.Clamped, s.Unmatched, s.Warnings
	r.Intervals, r.Linked, r.Unnamed, r.Undated = s.Intervals, s.Linked, s.Unnamed, s.Undated
	add := func(n int64, text string) {
		if n > 0 {
			r.Remark(message.Group(n) + " " + text)
		}
	}
	for signal := range s.Signals {
		r.explain(otlp.Signal(signal))
	}
	add(s.Doubled, "perhaps received twice, because an answer was missing")
	add(s.Retries, "requests were repeated")
	add(s.Halved, "batches were too large and were halved")
	add(s.MadeIDs, "with synthetic IDs")
	add(s.Unfinished, "without an end in the trace, "+r.fate)
	add(s.Evicted, "ended early because too many were open"+r.unlessFlagless("; raise --"+flagMaxOpenSpans))
	add(s.Clamped, "ended before they began and got no duration")
	add(s.Exporter, "of the program's own exporter omitted")
	add(s.Invalid, "invalid and omitted")
	add(s.Undated, "without a date, so their times count from 1970-01-01; set --"+FlagStart)
	if s.Problems != "" {
		r.Remark("the recording lacks metrics: " + s.Problems)
	}
	if s.Intervals > 0 {
		r.Remark(fmt.Sprintf("%s of %s linked to spans", message.Group(s.Linked),
			message.Count(s.Intervals, "interval of the runtime", "intervals of the runtime")))
	}
	if r.live && s.Linked < s.Intervals {
		r.Remark("spans of which only the end is recorded have no intervals, because the input can be read only once; convert a file")
	}
	add(s.Unnamed, "as unknown_service:dotnet, because the trace names the program at its end and the input can be read "+
		"only once"+r.unlessFlagless("; set --"+flagServiceName))
}

// explain adds remarks on the items of a signal that the receiver did not accept, and its message.
func (r *spansResult) explain(signal otlp.Signal) {
	c, of, why := &r.summary.Signals[signal], "", ""
	if len(r.Signals) > 1 {
		of = signal.Item() + "s "
	}
	if c.Message != "" {
		why = ": " + c.Message
	}
	add := func(n int64, text string) { // the first remark has the message, which is that of the first batch
		if n > 0 {
			r.Remark(message.Group(n) + " " + of + text + why)
			why = ""
		}
	}
	add(c.Rejected, "rejected by the receiver")
	add(c.Unconfirmed, "perhaps not received, because an answer was unclear or missing")
	if c.Rejected+c.Unconfirmed == 0 && c.Warnings > 0 {
		r.Remark("the receiver accepted all " + of + "and warned" + why)
	}
}

// fateOf describes the handling of unfinished spans for the summary.
func (r *spansResult) fateOf(u otlp.Unfinished) string {
	switch u {
	case otlp.OpenUnfinished:
		return "left open"
	case otlp.CloseUnfinished:
		return "closed with the trace"
	}
	if r.flagless {
		return "omitted"
	}
	return "omitted (" + keepUnfinished + ")"
}

// keepUnfinished is the advice for omitted spans.
const keepUnfinished = "--unfinished close keeps them"

// Empty implements Result. Rejected spans are not missing.
func (r *spansResult) Empty() string {
	switch {
	case len(r.Signals) > 0:
		return ""
	case r.Unfinished > 0:
		return fmt.Sprintf("finished spans (%s not finished%s)", message.Group(r.Unfinished), r.unlessFlagless("; "+keepUnfinished))
	}
	return r.made.Empty()
}

func (r *spansResult) Line(read Read) string {
	if r.Endpoint == "" {
		return fmt.Sprintf("%s from %s", r.what(), read.Line())
	}
	return fmt.Sprintf("%s sent to %s in %s, from %s", r.what(), r.Endpoint,
		message.Count(r.Batches, "batch", "batches"), read.Line())
}

// what returns the numbers of items sent, such as "12 spans and 3 log records".
func (r *spansResult) what() string {
	if len(r.Signals) < 2 {
		return message.Count(r.Items, r.Unit)
	}
	var list []string
	for signal, c := range r.summary.Signals {
		if c.Items > 0 {
			list = append(list, message.Count(c.Sent, otlp.Signal(signal).Item()))
		}
	}
	return message.List(list)
}

func (r *spansResult) Detail() (string, []ntconv.Code) {
	return r.Text, []ntconv.Code{ntconv.CodeRejected, ntconv.CodeUnconfirmed, ntconv.CodeDoubled}
}

func (r *spansResult) Notes() []string { return r.notes }

var (
	_ Sending        = (*otlpSink)(nil)
	_ ntconv.Watcher = (*otlpSink)(nil)
)
