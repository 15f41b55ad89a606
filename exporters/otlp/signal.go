package otlp

import "fmt"

// A Signal is a kind of OTLP data. Each has requests of its own.
type Signal uint8

const (
	Traces   Signal = iota // spans
	Logs                   // log records
	Metrics                // data points
	Profiles               // profiles
	// NumSignals is the number of signals.
	NumSignals
)

var signals = [NumSignals]struct{ name, item string }{
	{"traces", "span"}, {"logs", "log record"}, {"metrics", "data point"}, {"profiles", "profile"},
}

// String returns the name of the signal in OTLP, such as traces.
func (s Signal) String() string {
	if s >= NumSignals {
		return fmt.Sprintf("Signal(%d)", uint8(s))
	}
	return signals[s].name
}

// Item returns what requests of the signal count, such as span: the unit of Counts and of
// PartialSuccessError.Rejected.
func (s Signal) Item() string {
	if s >= NumSignals {
		return "item"
	}
	return signals[s].item
}

// Signals is a set of signals. The zero value means the signals that the sink supports.
type Signals uint8

// SignalSet returns the set of the given signals.
func SignalSet(list ...Signal) (set Signals) {
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

// AllSignals is the set that the zero value of Signals selects.
const AllSignals Signals = 1<<Traces | 1<<Logs | 1<<Metrics

// Has reports whether the set contains a signal.
func (set Signals) Has(s Signal) bool {
	if set == 0 {
		set = AllSignals
	}
	return set&(1<<s) != 0
}

// List returns the signals of the set.
func (set Signals) List() (list []Signal) {
	for s := range NumSignals {
		if set.Has(s) {
			list = append(list, s)
		}
	}
	return list
}
