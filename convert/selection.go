package convert

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv/internal/select/selection"
)

// A Selection selects events by the rules of the command's flags: an event must satisfy every member that is set, and
// at least one entry of a list, except Where, where all must be true. The zero value selects every event.
//
// A selection does not change the weights of samples, because a sample also ends the interval of the previous sample of
// its thread if it is not selected.
type Selection struct {
	// Providers are names of providers, case-insensitive. * matches any text and ? one character.
	Providers []string
	// Events are names of events, IDs, or "provider/name", with the same patterns.
	Events []string
	// PIDs and TIDs are IDs of processes and threads.
	PIDs, TIDs []uint64
	// Processes are names of processes, with the same patterns: the name of the process, the executable of its command
	// line, or the assembly that dotnet runs. Events may state them late, so the input may be read twice; an input that
	// can be read only once is copied to a temporary file.
	Processes []string
	// ThreadNames are names of threads as the trace states them, with the same patterns. Traces of .NET have none.
	ThreadNames []string
	// From and To bound the time of events: From is inclusive, To is exclusive.
	From, To Moment
	// Where are expressions over fields and properties of events, such as "Size > 1000 && $time < 5s". "ntconv help
	// where" describes the language.
	Where []string
	// During are expressions over what was open when an event was recorded, such as "gc.generation == 2" or "span.name
	// == \"GET /cart\"". The same text describes them. The input is read twice; an input that can be read only once is
	// copied to a temporary file.
	During []string
}

// A Moment is a point in time, relative to a trace or as a date. The zero Moment is unset.
type Moment struct{ m selection.Moment }

// AfterStart returns the moment d after the start of the trace, the time of its clock reading.
func AfterStart(d time.Duration) Moment { return Moment{selection.FromStart(d)} }

// BeforeEnd returns the moment d before the last event of the trace. It requires two passes over the input; an input
// that can be read only once is copied to a temporary file.
func BeforeEnd(d time.Duration) Moment { return Moment{selection.FromEnd(-d)} }

// At returns the moment of a date and time. Reading fails if the clock of the trace has no date.
func At(t time.Time) Moment { return Moment{selection.OnWall(t)} }

// ParseMoment parses a moment in the form of the command's flags: "1.5s" after the start, "-2s" before the end, or a
// date and time such as "2026-11-21T06:52:53.5Z", in UTC without a time zone.
func ParseMoment(s string) (Moment, error) {
	m, err := selection.ParseMoment(s)
	if err != nil {
		return Moment{}, fmt.Errorf("time %q: %w", s, err)
	}
	return Moment{m}, nil
}

// String returns the moment in the form that ParseMoment accepts, "" if it is unset.
func (m Moment) String() string { return m.m.String() }

// ErrReversed means that a Selection ends before it begins.
var ErrReversed = errors.New("the selected time ends before it begins")

// options returns the selection for package selection.
func (s *Selection) options() (*selection.Options, error) {
	o := &selection.Options{
		Providers: slices.Clone(s.Providers), Events: slices.Clone(s.Events),
		PIDs: slices.Clone(s.PIDs), TIDs: slices.Clone(s.TIDs),
		Processes: slices.Clone(s.Processes), ThreadNames: slices.Clone(s.ThreadNames),
		From: s.From.m, To: s.To.m,
	}
	if o.Reversed() {
		return nil, fmt.Errorf("%w: from %s to %s", ErrReversed, s.From, s.To)
	}
	return o, o.Parse(s.Where, s.During)
}
