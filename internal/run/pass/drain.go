package pass

import (
	"errors"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A SinkError is an error of the sink or of its output.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return e.Err.Error() }

// Unwrap returns the sink's error.
func (e *SinkError) Unwrap() error { return e.Err }

// Drain copies the selected events to a sink and closes it. A fatal error means that the output must be discarded: it
// is a *SinkError, a *ntconv.SourceError if the input failed before its first event, at a limit or in strict mode, or
// an error that use must return so that Do can repeat the pass. The sink is not closed if the pass must be repeated. A
// partial error explains why the input is incomplete; the sink is closed and its output is valid.
func (p *Pass) Drain(sink ntconv.Sink) (fatal, partial error) {
	if w, ok := sink.(ntconv.Watcher); ok && (!p.Plan.Selection.Empty() || p.Plan.Keep != nil) {
		p.Watch(w.Watch)
	}
	_, err := ntconv.Copy(sink, p.Source)
	_ = p.Close() // the source has returned what matters
	if p.found {
		return errLookahead, nil
	}
	var src *ntconv.SourceError
	switch {
	case err == nil:
	case !errors.As(err, &src):
		return &SinkError{err}, nil
	case errors.Is(err, ntconv.ErrLimit), p.Plan.Read.Strict, p.Total == 0:
		return src, nil
	default:
		p.Cause = src.Err
		partial = src
	}
	if p.wrong(sink) {
		return errShortcut, nil
	}
	if err := sink.Close(); err != nil { // an error of an earlier event may surface only now
		return &SinkError{err}, nil
	}
	if t, ok := p.Namer.(*symbol.Table); ok {
		t.ReportOmitted(p.Report)
	}
	if partial == nil { // a sink may learn only in Close what its receiver rejected
		partial = Loss(p.Report)
		p.Cause = partial
	}
	return nil, partial
}

// A LossError lists the losses of a report.
type LossError struct {
	Entries []ntconv.Entry // of SeverityLoss or worse
}

func (l *LossError) Error() string {
	var list []string
	for _, e := range l.Entries {
		list = append(list, e.String())
	}
	return strings.Join(list, "; ")
}

// Loss returns a *LossError with the losses of a report, or nil if it has none.
func Loss(r *ntconv.Report) error {
	var list []ntconv.Entry
	for _, e := range r.Entries() {
		if e.Code.Severity() >= ntconv.SeverityLoss {
			list = append(list, e)
		}
	}
	if list == nil {
		return nil
	}
	return &LossError{list}
}

// wrong reports whether the pass took a shortcut that the trace does not allow. Call it before closing the sink.
func (p *Pass) wrong(sink ntconv.Sink) bool {
	if !p.shortcut {
		return false
	}
	if p.Namer != nil && p.Namer.Missed() > 0 {
		return true
	}
	s, ok := sink.(ntconv.OrderSensitive)
	return ok && p.Order == reader.FileOrder && p.Plan.AnyOrder && s.OrderMatters()
}

// Recorded returns the time range of the events of the recording that have been read so far.
func (p *Pass) Recorded() (first, last ntconv.Ticks, ok bool) { return p.recorded.Span() }

// Span returns the selected part of the recording's time range, for the events read so far.
func (p *Pass) Span() (first, last ntconv.Ticks, ok bool) {
	if first, last, ok = p.recorded.Span(); ok {
		first, last = p.Selector.Clip(first, last)
	}
	return first, last, ok
}

// Window returns a function that reports whether a time is selected, or nil if all times are.
func (p *Pass) Window() func(ntconv.Ticks) bool { return p.Selector.Window() }

// Filtered reports whether a selection may omit events.
func (p *Pass) Filtered() bool { return !p.Plan.Selection.Empty() }
