package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/iox"
)

// A summary is what a run has done, as the last line on standard error tells it.
type summary struct {
	Input    string        `json:"input"`            // the first one
	Inputs   []string      `json:"inputs,omitempty"` // all, if there are several
	Format   string        `json:"format,omitempty"` // of the input, with its version
	Output   string        `json:"output,omitempty"`
	To       string        `json:"to,omitempty"` // format of the output
	Kind     string        `json:"kind,omitempty"`
	Events   int64         `json:"events"`            // of the input
	Selected int64         `json:"selected"`          // of those, by the selection
	Symbols  int64         `json:"symbols,omitempty"` // events kept beside those, for the names of addresses
	Used     int64         `json:"used,omitempty"`
	Items    int64         `json:"items,omitempty"`
	Unit     string        `json:"unit,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"` // of the output
	Notes    []string      `json:"notes,omitempty"` // on the command line, also in view of what the trace holds
	Report   []reportEntry `json:"report"`
	Exit     int           `json:"exit"`
	Error    string        `json:"error,omitempty"`

	naming string // the note on the output's name, or empty
	done   bool   // something was written
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

// sumUp notes what a pass has read; the caller adds what was written.
func (p *pass) sumUp() *summary {
	s := p.app.sum
	if s == nil {
		s = &summary{Input: p.in.name()}
		p.app.sum = s
	}
	s.Format = p.info.Format
	s.Events, s.Selected = p.total, p.kept
	s.Report = reportEntries(p.app.read.Report)
	s.Notes = slices.Concat(p.sel.Notes(), p.in.units(), p.app.read.Notes())
	if s.naming != "" {
		s.Notes = append(s.Notes, s.naming)
	}
	if p.weights != nil && p.weights.Added() > 0 {
		s.Notes = append(s.Notes, count(p.weights.Added(), "event")+" added that state the weights of samples")
	}
	s.Notes = append(s.Notes, p.notes...)
	return s
}

// made sums up with what the output holds.
func (p *pass) made(r formats.Result) *summary {
	p.notes = r.Notes
	s := p.sumUp()
	s.Items, s.Unit, s.Used, s.Kind, s.Detail = r.Items, r.Unit, r.Events, r.Kind, r.Detail
	return s
}

func (s *summary) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// line returns the summary for people.
func (s *summary) line() string {
	var b strings.Builder
	in := severalName(shownInput(s.Input), max(0, len(s.Inputs)-1))
	if s.Output != "" {
		fmt.Fprintf(&b, "%s: ", s.Output)
	}
	if s.Unit != "" && s.Events == 0 {
		fmt.Fprintf(&b, "%s of %s", count(s.Items, s.Unit), in)
	} else if s.Unit != "" && s.Unit != "event" {
		if s.Kind != "" {
			b.WriteString(s.Kind + " profile, ")
		}
		fmt.Fprintf(&b, "%s from %s of %s in %s", count(s.Items, "distinct "+s.Unit), group(s.Used), count(s.Events, "event"), in)
	} else if s.Selected == s.Events {
		fmt.Fprintf(&b, "%s of %s", count(s.Events, "event"), in)
	} else {
		fmt.Fprintf(&b, "%s of %s in %s", group(s.Selected), count(s.Events, "event"), in)
	}
	fmt.Fprintf(&b, " (%s)", s.Format)
	for _, e := range s.Report {
		if e.Severity == ntconv.SeverityInfo.String() || e.Code == ntconv.CodeUnresolved.String() && s.Detail != "" {
			continue
		}
		fmt.Fprintf(&b, "; %s: %s %s", e.Code, group(int64(e.Count)), e.phrase)
	}
	if s.Detail != "" {
		b.WriteString("; " + s.Detail)
	}
	for _, n := range s.Notes {
		b.WriteString("; " + n)
	}
	return b.String()
}

// shownInput returns what messages call an input.
func shownInput(name string) string {
	if name == "-" {
		return iox.StdinName
	}
	return name
}

// count returns a number with its noun; the plural is the noun with an s if it is not given.
func count(n int64, noun string, plural ...string) string {
	switch {
	case n == 1:
	case len(plural) > 0:
		noun = plural[0]
	default:
		noun += "s"
	}
	return group(n) + " " + noun
}

// group returns a number with its digits in groups of three.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// duration returns a time with a precision that fits its size.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// visible returns s with everything that a terminal could take for a command escaped: names in traces are not ours. Lines stay lines.
func visible(s string) string { return escape(s, '\n') }

// visibleLine is visible for what is to stay on one line.
func visibleLine(s string) string { return escape(s, unicode.ReplacementChar) }

// escape returns s with the characters escaped that do not print, but for one.
func escape(s string, but rune) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != but }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) || r == but {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
