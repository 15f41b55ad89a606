package formats

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/message"
)

// A Result is what a sink has written, in the terms of its format. Encoded by encoding/json it is an object whose
// members become members of the summary.
type Result interface {
	// Empty returns what the output has none of, as a plural noun for the command's error, or "" if it is not empty.
	Empty() string
	// Line returns the first part of the summary line: what was written, and from how many events of which input.
	Line(r Read) string
	// Detail returns what else users should know, and the codes of a report about which it says all. It returns "" if
	// there is nothing.
	Detail() (text string, covers []ntconv.Code)
	// Remark adds to the detail.
	Remark(text string)
	// Notes returns remarks on flags of the format that had no effect.
	Notes() []string
}

// A FlagEmptied result is empty because of a value of a flag, which Empty names. Advice to record again does not apply.
type FlagEmptied interface {
	Result
	EmptiedByFlag() bool
}

// Read is what the events were selected from.
type Read struct {
	Input            string // its name
	Events, Selected int64  // events of the input, and events that the selection kept
}

// Line returns the first part of the summary line of a command that writes events.
func (r Read) Line() string {
	if r.Selected == r.Events {
		return fmt.Sprintf("%s of %s", message.Count(r.Events, "event"), r.Input)
	}
	return fmt.Sprintf("%s of %s in %s", message.Group(r.Selected), message.Count(r.Events, "event"), r.Input)
}

// made counts what an output holds.
type made struct {
	Used  int64  `json:"used,omitempty"` // events that the items were made of
	Items int64  `json:"items,omitempty"`
	Unit  string `json:"unit,omitempty"` // the noun for one item
	Text  string `json:"detail,omitempty"`
}

func (m *made) Empty() string {
	if m.Items == 0 {
		return m.Unit + "s"
	}
	return ""
}

func (m *made) Detail() (string, []ntconv.Code) { return m.Text, []ntconv.Code{ntconv.CodeUnresolved} }
func (m *made) Notes() []string                 { return nil }

func (m *made) Remark(text string) {
	if m.Text != "" && text != "" {
		m.Text += "; "
	}
	m.Text += text
}

// eventsResult is the result of an output of events, or of items that are made of events.
type eventsResult struct {
	made
	Files int64 `json:"files,omitempty"` // members of a directory
}

// newEventsResult returns the result of an output of n events.
func newEventsResult(n int64, detail string) *eventsResult {
	return newItemsResult(eventUnit, n, n, detail)
}

const eventUnit = "event"

// newItemsResult returns the result of an output of n items that were made of used events. unit is the noun for one
// item.
func newItemsResult(unit string, n, used int64, detail string) *eventsResult {
	return &eventsResult{made: made{Used: used, Items: n, Unit: unit, Text: detail}}
}

func (e *eventsResult) Line(r Read) string {
	switch {
	case e.Unit != eventUnit:
		return fmt.Sprintf(
			"%s from %s of %s in %s",
			message.Count(e.Items, e.Unit),
			message.Group(e.Used),
			message.Count(r.Events, "event"),
			r.Input,
		)
	case e.Files > 0:
		return fmt.Sprintf("%s, %s", message.Count(e.Files, "file"), r.Line())
	case r.Events == 0:
		return fmt.Sprintf("%s of %s", message.Count(e.Items, e.Unit), r.Input)
	}
	return r.Line()
}

// profileResult is the result of an output of samples that were added up.
type profileResult struct {
	Kind string `json:"kind,omitempty"`
	made
	notes []string
}

func (p *profileResult) Line(r Read) string {
	if r.Events == 0 {
		return fmt.Sprintf("%s of %s", message.Count(p.Items, p.Unit), r.Input)
	}
	kind := ""
	if p.Kind != "" {
		kind = p.Kind + " profile, "
	}
	return fmt.Sprintf(
		"%s%s from %s of %s in %s",
		kind,
		message.Count(p.Items, "distinct "+p.Unit),
		message.Group(p.Used),
		message.Count(r.Events, "event"),
		r.Input,
	)
}

func (p *profileResult) Notes() []string { return p.notes }

// ProfileKind returns the kind of the profile that a sink of Profile.Create has written: wall, cpu or imported. It
// returns "" for results of other sinks.
func ProfileKind(r Result) string {
	if p, ok := r.(*profileResult); ok {
		return p.Kind
	}
	return ""
}
