package formats

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A Result describes what a sink has written, in the terms of its format. encoding/json encodes it as an object whose
// members become members of the summary. Its methods are valid after Close of the sink.
type Result interface {
	// Empty returns the plural noun for what an empty output lacks, such as "samples", or "" if the output is not
	// empty.
	Empty() string
	// Line returns the first part of the summary line: the output, and the events it was built from.
	Line(r Read) string
	// Detail returns the second part of the summary line, "" if there is none, and the codes of the report that the
	// text covers, so that they need no line of their own.
	Detail() (text string, covers []ntconv.Code)
	// Remark appends a remark to the detail.
	Remark(text string)
	// Notes returns remarks on flags, such as flags without effect.
	Notes() []string
}

// A FlagEmptied is a result that may be empty because of a flag, which Empty names. Advice to record again does not
// apply if EmptiedByFlag returns true.
type FlagEmptied interface {
	Result
	EmptiedByFlag() bool
}

// Read describes the selection of events that an output was built from.
type Read struct {
	Input            string // name of the input, for display
	Events, Selected int64  // events read, and events that the selection kept
}

// Line returns "12 of 345 events in NAME", or "345 events of NAME" if all were selected.
func (r Read) Line() string {
	if r.Selected == r.Events {
		return fmt.Sprintf("%s of %s", message.Count(r.Events, "event"), r.Input)
	}
	return fmt.Sprintf("%s of %s in %s", message.Group(r.Selected), message.Count(r.Events, "event"), r.Input)
}

// made counts the items of an output.
type made struct {
	Used  int64  `json:"used,omitempty"` // events that the items were built from
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

// eventsResult is the result of an output of events, or of items that are built from events.
type eventsResult struct {
	made
	Files int64 `json:"files,omitempty"` // members of a directory
}

// newEventsResult returns the result of an output of n events.
func newEventsResult(n int64, detail string) *eventsResult {
	return newItemsResult(eventUnit, n, n, detail)
}

const eventUnit = "event"

// newItemsResult returns the result of an output of n items built from used events. unit is the noun for one item.
func newItemsResult(unit string, n, used int64, detail string) *eventsResult {
	return &eventsResult{made: made{Used: used, Items: n, Unit: unit, Text: detail}}
}

func (e *eventsResult) Line(r Read) string {
	switch {
	case e.Unit != eventUnit:
		return fmt.Sprintf("%s from %s of %s in %s", message.Count(e.Items, e.Unit), message.Group(e.Used),
			message.Count(r.Events, "event"), r.Input)
	case e.Files > 0:
		return fmt.Sprintf("%s, %s", message.Count(e.Files, "file"), r.Line())
	case r.Events == 0:
		return fmt.Sprintf("%s of %s", message.Count(e.Items, e.Unit), r.Input)
	}
	return r.Line()
}
