package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// What became of an input.
const (
	statusConverted  = "converted"
	statusAdded      = "added"      // to a dataset
	statusIncomplete = "incomplete" // written, but the input is truncated or damaged
	statusEmpty      = "empty"      // the input has no data for the output, and nothing was written
	statusThere      = "already there"
	statusBusy       = "busy" // another run is adding it
	statusFailed     = "failed"
	statusSkipped    = "not tried" // because the destination cannot be written
)

// statusOf returns what became of an input that was processed with an exit code.
func statusOf(code int) string {
	switch code {
	case exitOK:
		return statusConverted
	case exitIncomplete:
		return statusIncomplete
	case exitEmpty:
		return statusEmpty
	}
	return statusFailed
}

// severity returns the exit codes of inputs, worst first.
func severity() []int {
	return []int{exitOutput, exitLimit, exitInput, exitUsage, exitEmpty, exitIncomplete}
}

// worst returns the worst exit code that some input has, exitOK if none has any.
func worst(has func(code int) bool) int {
	if i := slices.IndexFunc(severity(), has); i >= 0 {
		return severity()[i]
	}
	return exitOK
}

// An outcome is what became of one of several inputs.
type outcome struct {
	Input   string       `json:"input"`
	Output  string       `json:"output,omitempty"` // the directory in a dataset
	Status  string       `json:"status"`
	Events  int64        `json:"events"`          // read
	Bytes   int64        `json:"bytes,omitempty"` // of the output
	Seconds float64      `json:"seconds"`
	Note    string       `json:"summary,omitempty"` // the line that a run with this input alone prints
	Report  []pass.Entry `json:"report,omitempty"`
	Exit    int          `json:"exit"`
	Error   string       `json:"error,omitempty"`
	uid     string       // in a dataset
	name    string       // with which the input is opened
}

// Rows are what became of the inputs of a run, in their order. They are the part of a formats.Result that all runs
// share.
type rows struct{ list []outcome }

func (r *rows) names() (list []string) {
	for i := range r.list {
		list = append(list, r.list[i].Input)
	}
	return list
}

// total returns the events and bytes of the outputs that were written.
func (r *rows) total() (events, bytes int64) {
	for i := range r.list {
		if o := &r.list[i]; o.Exit == exitOK || o.Exit == exitIncomplete {
			events, bytes = events+o.Events, bytes+o.Bytes
		}
	}
	return events, bytes
}

func (r *rows) counts() map[string]int {
	m := make(map[string]int)
	for i := range r.list {
		m[r.list[i].Status]++
	}
	return m
}

// line returns the line of a summary: done, which states how many outputs were written, and how many inputs have each
// of the other statuses.
func (r *rows) line(done string, others ...string) string {
	counts := r.counts()
	if n := counts[statusIncomplete]; n > 0 {
		done += fmt.Sprintf(" (%s incomplete)", message.Group(int64(n)))
	}
	for _, status := range others {
		if n := counts[status]; n > 0 {
			done += ", " + message.Group(int64(n)) + " " + strings.Replace(status, statusBusy, "being added by another run", 1)
		}
	}
	events, _ := r.total()
	return done + "; " + message.Count(events, "event")
}

// err returns the error of a run: its exit code is the worst of all inputs, whose own errors have been shown.
func (r *rows) err() error {
	code := worst(func(code int) bool {
		return slices.ContainsFunc(r.list, func(o outcome) bool { return o.Exit == code })
	})
	if code == exitOK {
		return nil
	}
	return fail(code, errQuiet)
}

// Empty implements formats.Result.
func (r *rows) Empty() string { return "" }

// Detail implements formats.Result.
func (r *rows) Detail() (string, []ntconv.Code) { return "", nil }

// Remark implements formats.Result.
func (r *rows) Remark(string) {}

// Notes implements formats.Result.
func (r *rows) Notes() []string { return nil }

// A convertedResult is the result of a run with an output per input. It implements formats.Result.
type convertedResult struct{ *rows }

// MarshalJSON implements json.Marshaler.
func (r *convertedResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Counts  map[string]int `json:"results"` // by status
		Outputs []outcome      `json:"outputs"`
	}{r.counts(), r.list})
}

// Line implements formats.Result.
func (r *convertedResult) Line(formats.Read) string {
	n := r.counts()
	done := message.Group(int64(n[statusConverted]+n[statusIncomplete])) + " of " + message.Count(int64(len(r.list)), "input")
	return r.line(done+" converted", statusThere, statusEmpty, statusFailed, statusSkipped)
}

// An addedResult is the result of a run that adds traces to a dataset. It implements formats.Result.
type addedResult struct{ *rows }

// MarshalJSON implements json.Marshaler.
func (r *addedResult) MarshalJSON() ([]byte, error) {
	type trace struct {
		Input   string  `json:"input"`
		Status  string  `json:"status"`
		UID     string  `json:"uid,omitempty"`
		Path    string  `json:"path,omitempty"` // of its directory
		Events  int64   `json:"events,omitempty"`
		Bytes   int64   `json:"bytes,omitempty"` // of its tables
		Seconds float64 `json:"seconds"`
		Note    string  `json:"note,omitempty"`
		Exit    int     `json:"exit"`
		Error   string  `json:"error,omitempty"`
	}
	list := make([]trace, len(r.list))
	for i, o := range r.list {
		list[i] = trace{o.Input, o.Status, o.uid, o.Output, o.Events, o.Bytes, o.Seconds, o.Note, o.Exit, o.Error}
	}
	n := r.counts()
	return json.Marshal(struct {
		Added      int     `json:"added"`
		Incomplete int     `json:"incomplete"`
		There      int     `json:"already_there"`
		Busy       int     `json:"busy"`
		Failed     int     `json:"failed"`
		NotTried   int     `json:"not_tried"`
		Traces     []trace `json:"traces"`
	}{n[statusAdded] + n[statusIncomplete], n[statusIncomplete], n[statusThere], n[statusBusy], n[statusFailed], n[statusSkipped], list})
}

// Line implements formats.Result.
func (r *addedResult) Line(formats.Read) string {
	n := r.counts()
	done := message.Count(int64(n[statusAdded]+n[statusIncomplete]), "trace") + " added"
	return r.line(done, statusThere, statusBusy, statusFailed, statusSkipped)
}

// maxTableRows is the number of inputs beyond which the table omits those that were converted, so that the others can
// be found. --report json has all.
const maxTableRows = 100

// printTable prints the table of a run over several inputs to standard error, unless there is one input, or the user
// wants no summary or one as JSON.
func (a *app) printTable(rows []outcome) error {
	if a.quiet || a.report == reportJSON || len(rows) < 2 {
		return nil
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INPUT\tOUTPUT\tEVENTS\tSIZE\tTIME\tRESULT")
	omitted := 0
	for _, o := range rows {
		done := o.Status == statusConverted || o.Status == statusAdded
		if len(rows) > maxTableRows && (done || o.Status == statusThere) {
			omitted++
			continue
		}
		events, size, passed := "-", "-", "-"
		if done || o.Status == statusIncomplete {
			events, size = message.Group(o.Events), message.Bytes(o.Bytes)
		}
		if o.Status != statusThere && o.Status != statusSkipped {
			passed = message.Duration(time.Duration(o.Seconds * float64(time.Second)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", message.Line(o.Input), message.Line(orDash(o.Output)), events, size, passed, o.Status)
	}
	if err := w.Flush(); err != nil {
		return fail(exitOutput, err)
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "%s without a failure not listed; --report json lists all\n", message.Count(int64(omitted), "input"))
	}
	a.printLine(b.String())
	return nil
}
