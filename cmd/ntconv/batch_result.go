package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// Outcomes of an input of a batch. collect_result.go has the others.
const (
	statusConverted = "converted"
	statusEmpty     = "empty" // the input has no data for the output, and nothing was written
)

// An outcome is what became of one of several inputs.
type outcome struct {
	Input   string       `json:"input"`
	Output  string       `json:"output,omitempty"`
	Status  string       `json:"status"`
	Events  int64        `json:"events"`          // read
	Bytes   int64        `json:"bytes,omitempty"` // of the output
	Seconds float64      `json:"seconds"`
	Note    string       `json:"summary,omitempty"` // the line that a run with this input alone prints
	Report  []pass.Entry `json:"report,omitempty"`
	Exit    int          `json:"exit"`
	Error   string       `json:"error,omitempty"`
}

// A batchResult is the outcome of all inputs of a batch. It implements formats.Result.
type batchResult struct {
	Outputs       []outcome // in the order of the inputs
	events, bytes int64     // of those that were converted
}

// MarshalJSON implements json.Marshaler.
func (r *batchResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Counts  map[string]int `json:"results"` // by status
		Outputs []outcome      `json:"outputs"`
	}{r.counts(), r.Outputs})
}

func (r *batchResult) counts() map[string]int {
	m := make(map[string]int)
	for i := range r.Outputs {
		m[r.Outputs[i].Status]++
	}
	return m
}

func (r *batchResult) count(status string) (n int) {
	for i := range r.Outputs {
		if r.Outputs[i].Status == status {
			n++
		}
	}
	return n
}

// Empty implements formats.Result.
func (r *batchResult) Empty() string { return "" }

// Line implements formats.Result.
func (r *batchResult) Line(formats.Read) string {
	incomplete := r.count(statusIncomplete)
	converted := r.count(statusConverted) + incomplete
	parts := []string{fmt.Sprintf("%s of %s converted", message.Group(int64(converted)), message.Count(int64(len(r.Outputs)), "input"))}
	if incomplete > 0 {
		parts[0] += fmt.Sprintf(" (%s incomplete)", message.Group(int64(incomplete)))
	}
	for _, status := range []string{statusThere, statusEmpty, statusFailed, statusSkipped} {
		if n := r.count(status); n > 0 {
			parts = append(parts, message.Group(int64(n))+" "+status)
		}
	}
	return fmt.Sprintf("%s; %s", strings.Join(parts, ", "), message.Count(r.events, "event"))
}

// Detail implements formats.Result.
func (r *batchResult) Detail() (string, []ntconv.Code) { return "", nil }

// Remark implements formats.Result.
func (r *batchResult) Remark(string) {}

// Notes implements formats.Result.
func (r *batchResult) Notes() []string { return nil }

// err returns the error of a batch: its exit code is the worst of all inputs, whose own errors have been shown.
func (r *batchResult) err() error {
	var codes []int
	for i := range r.Outputs {
		codes = append(codes, r.Outputs[i].Exit)
	}
	if code := worst(codes); code != exitOK {
		return fail(code, errQuiet)
	}
	return nil
}

// A tableRow is an input in the table at the end of a run.
type tableRow struct {
	input, output string
	events, bytes int64
	seconds       float64
	status        string
}

func (r *batchResult) table() (rows []tableRow) {
	for _, o := range r.Outputs {
		rows = append(rows, tableRow{o.Input, o.Output, o.Events, o.Bytes, o.Seconds, o.Status})
	}
	return rows
}

// maxTableRows is the number of inputs beyond which the table omits those that were converted, so that the others can
// be found. --report json has all.
const maxTableRows = 100

// printTable prints the table of a run over several inputs to standard error, unless there is one input, or the user
// wants no summary or one as JSON.
func (a *app) printTable(rows []tableRow) error {
	if a.quiet || a.report == reportJSON || len(rows) < 2 {
		return nil
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INPUT\tOUTPUT\tEVENTS\tSIZE\tTIME\tRESULT")
	omitted := 0
	for _, r := range rows {
		done := r.status == statusConverted || r.status == statusAdded
		if len(rows) > maxTableRows && (done || r.status == statusThere) {
			omitted++
			continue
		}
		events, size, passed := "-", "-", "-"
		if done || r.status == statusIncomplete {
			events, size = message.Group(r.events), message.Bytes(r.bytes)
		}
		if r.status != statusThere && r.status != statusSkipped {
			passed = message.Duration(time.Duration(r.seconds * float64(time.Second)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", message.Line(r.input), message.Line(orDash(r.output)), events, size, passed, r.status)
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
