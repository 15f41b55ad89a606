package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
)

// A summary is what a run has done, as the last line on standard error says.
type summary struct {
	Input    string   // the first one
	Inputs   []string // all, if there are several
	Format   string   // of the input, with its version
	Output   string
	To       string // format of the output
	Events   int64  // of the input
	Selected int64  // of those, by the selection
	Symbols  int64  // events kept in addition, for symbols
	Result   formats.Result
	Bytes    int64 // of the output
	Notes    []string
	Report   []reportEntry
	Exit     int
	Error    string

	naming string          // the note on the output's name, or empty
	flags  func() []string // notes on flags of the inputs, nil for none
	done   bool            // something was written
}

// A reportEntry is an entry of an ntconv.Report as JSON.
type reportEntry struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Count    uint64 `json:"count"`
	Offset   *int64 `json:"offset,omitempty"`
	Text     string `json:"text"`
	phrase   string // behind the count
	Detail   string `json:"detail,omitempty"`
}

func reportEntries(r *ntconv.Report) []reportEntry {
	list := []reportEntry{}
	for _, e := range r.Entries() {
		j := reportEntry{Code: e.Code.String(), Severity: e.Code.Severity().String(), Count: e.Count, Text: e.Code.Text(), Detail: e.Detail, phrase: e.Code.TextFor(e.Count)}
		if e.Offset >= 0 {
			j.Offset = &e.Offset
		}
		list = append(list, j)
	}
	return list
}

// read notes what a pass has read.
func (s *summary) read(p *pass.Pass) {
	s.Format = p.Info.Format
	s.Events, s.Selected = p.Total, p.Kept
	s.Report = reportEntries(p.Report)
	s.Notes = slices.Concat(p.Selector.Notes(), p.Input.UnitNotes(), p.Plan.Read.DepthNotes(p.Report))
	if s.flags != nil {
		s.Notes = append(s.Notes, s.flags()...)
	}
	if s.naming != "" {
		s.Notes = append(s.Notes, s.naming)
	}
	if p.Weights != nil && p.Weights.Added() > 0 {
		s.Notes = append(s.Notes, message.Count(p.Weights.Added(), "event")+" added that state the weights of samples")
	}
	if s.Result != nil {
		s.Notes = append(s.Notes, s.Result.Notes()...)
	}
}

// wrote notes what was written.
func (s *summary) wrote(out *iox.Outputs, done bool) {
	s.Output, s.Bytes, s.done = out.Name(), out.Written(), done
}

// writeJSON writes the summary as one object. The members of the result are among its own.
func (s *summary) writeJSON(w io.Writer) error {
	before := struct {
		Input    string   `json:"input"`
		Inputs   []string `json:"inputs,omitempty"`
		Format   string   `json:"format,omitempty"`
		Output   string   `json:"output,omitempty"`
		To       string   `json:"to,omitempty"`
		Events   int64    `json:"events"`
		Selected int64    `json:"selected"`
		Symbols  int64    `json:"symbols,omitempty"`
	}{s.Input, s.Inputs, s.Format, s.Output, s.To, s.Events, s.Selected, s.Symbols}
	after := struct {
		Bytes  int64         `json:"bytes,omitempty"`
		Notes  []string      `json:"notes,omitempty"`
		Report []reportEntry `json:"report"`
		Exit   int           `json:"exit"`
		Error  string        `json:"error,omitempty"`
	}{s.Bytes, s.Notes, s.Report, s.Exit, s.Error}
	var members [][]byte
	for _, part := range []any{before, s.Result, after} {
		if part == nil {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(part); err != nil {
			return err
		}
		if inside := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("{")), []byte("}\n")); len(inside) > 0 {
			members = append(members, inside)
		}
	}
	_, err := fmt.Fprintf(w, "{%s}\n", bytes.Join(members, []byte(",")))
	return err
}

// line returns the summary for display.
func (s *summary) line() string {
	var b strings.Builder
	read := formats.Read{Input: input.NameOf(s.Input, max(0, len(s.Inputs)-1)), Events: s.Events, Selected: s.Selected}
	if s.Output != "" {
		fmt.Fprintf(&b, "%s: ", s.Output)
	}
	detail, covered := "", []ntconv.Code(nil)
	if s.Result != nil {
		b.WriteString(s.Result.Line(read))
		detail, covered = s.Result.Detail()
	} else {
		b.WriteString(read.Line())
	}
	fmt.Fprintf(&b, " (%s)", s.Format)
	for _, e := range s.Report {
		if e.Severity == ntconv.SeverityInfo.String() || detail != "" && slices.ContainsFunc(covered, func(c ntconv.Code) bool { return c.String() == e.Code }) {
			continue
		}
		fmt.Fprintf(&b, "; %s: %s %s", e.Code, message.Group(int64(e.Count)), e.phrase)
	}
	if detail != "" {
		b.WriteString("; " + detail)
	}
	for _, n := range s.Notes {
		b.WriteString("; " + n)
	}
	return b.String()
}
