package sample

import (
	"io"

	"github.com/ntconv/ntconv"
)

// Options configure an exporter of profiles. The zero value selects the defaults. What a format cannot represent, such
// as labels or comments in folded stacks, its exporter omits, whatever the options are.
type Options struct {
	// Kind is the kind of the samples. Auto and unknown kinds select one, see Preferred.
	Kind Kind
	// Create, if not nil, opens the output of a kind: the exporter writes one profile per kind of which the trace has
	// samples, from the same events. Close calls it for each of them in the order of Preferred, and closes the result.
	Create func(Kind) (io.WriteCloser, error)
	// Each lists the kinds to write with Create, in place of Kind. If it is empty, all are, but Events only if the trace
	// has no other.
	Each        []Kind
	KindOptions KindOptions // of kinds that are computed from events
	// DropLabels lists label keys to omit; samples that differ only in these labels are merged, which makes profiles
	// smaller. Keys are host, process, pid, thread, tid (which also drops thread), state, activity_id, trace_id, span_id,
	// or keys of event labels.
	DropLabels []string
	// Span, if not nil, returns the time range of the recording; Close calls it. Set it if the exporter receives only a
	// selection of the events. Otherwise the events determine the range.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Window, if not nil, reports whether a time is selected. An interval, such as a wait, that is not completely in the
	// selected time is in no sample.
	Window func(ntconv.Ticks) bool
	// Comments are the first comments of the profile, such as its origin. Remarks, if not nil, returns the last ones; it
	// is called once per profile, after the last stack has been resolved.
	Comments []string
	Remarks  func() []string
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
}
