package pass

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
)

// A Summary describes a run. The zero value describes a run that has not begun. It is not safe for concurrent use.
type Summary struct {
	Input    string   // first input, as on the command line
	Inputs   []string // all inputs if there are several, nil otherwise
	Format   string   // of the input, with its version; "" if the inputs are converted one by one
	Output   string   // name of the output, "" if there is none
	To       string   // name of the output's format, "" if there is no output
	Events   int64    // events of the input
	Selected int64    // events of the input that the selection kept
	Symbols  int64    // events kept in addition, for symbols
	Result   formats.Result
	Links    *Links // of samples to spans, nil if the trace has no spans or the output has no place for them
	Bytes    int64  // size of the output
	Notes    []string
	Report   []Entry
	Exit     int    // exit code
	Error    string // message of the error that ended the run, "" if there is none

	Naming string          // note on the name of the output, or ""; Read adds it to Notes
	Flags  func() []string // returns notes on flags of the inputs, or is nil; Read adds them to Notes
	Done   bool            // the output is complete, or as complete as the input; otherwise no line is printed
	Stated []ntconv.Code   // codes that the error of the run states: Line does not repeat them
}

// Links counts the samples that were linked to the span that was active at their time, by the source of this
// information.
type Links struct {
	Samples  int64 `json:"samples"` // all, linked or not
	Label    int64 `json:"label"`
	Activity int64 `json:"activity"`
	Thread   int64 `json:"thread"`
	Evicted  int64 `json:"evicted,omitempty"` // spans whose end was not seen, because too many were open
}

// Read sets what a pass has read: Format, Events, Selected, Report and Notes. Call it after the pass, and set Result,
// Naming and Flags before Read.
func (s *Summary) Read(p *Pass) {
	s.Format = p.Info.Format
	named := nativeNotes(p)
	s.Events, s.Selected = p.Total, p.Kept
	s.Report = Entries(p.Report)
	s.Notes = slices.Concat(LossNotes(p.Losses()), p.Selector.Notes(), p.Input.UnitNotes(), p.Input.MergeNotes(), p.Input.StartNotes(),
		named, p.Plan.Read.DepthNotes(p.Report))
	if s.Flags != nil {
		s.Notes = append(s.Notes, s.Flags()...)
	}
	if s.Naming != "" {
		s.Notes = append(s.Notes, s.Naming)
	}
	if p.Weights != nil && p.Weights.Added() > 0 {
		s.Notes = append(s.Notes, message.Count(p.Weights.Added(), "event")+" added that state the weights of samples")
	}
	if s.Result != nil {
		s.Notes = append(s.Notes, s.Result.Notes()...)
	}
}

// nativeNotes adds to the report of a pass what files outside the trace resolved, and returns a note on it.
func nativeNotes(p *Pass) []string {
	n, ok := p.Namer.(interface {
		ReportNative(r *ntconv.Report) (addresses uint64, files int)
	})
	if !ok {
		return nil
	}
	addresses, files := n.ReportNative(p.Report)
	if addresses == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s resolved with %s", message.Count(int64(addresses), "address", "addresses"),
		message.Count(int64(files), "file"))}
}

// Wrote sets what was written: Output, Bytes and Done. done reports whether the output was kept.
func (s *Summary) Wrote(out *fileio.Outputs, done bool) {
	s.Output, s.Bytes, s.Done = out.Name(), out.Written(), done
}

// WriteJSON writes the summary as one object on one line. The members of the result become members of the object. It
// returns the errors of w.
func (s *Summary) WriteJSON(w io.Writer) error {
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
		Links  *Links   `json:"span_links,omitempty"`
		Bytes  int64    `json:"bytes,omitempty"`
		Notes  []string `json:"notes,omitempty"`
		Report []Entry  `json:"report"`
		Exit   int      `json:"exit"`
		Error  string   `json:"error,omitempty"`
	}{s.Links, s.Bytes, s.Notes, append([]Entry{}, s.Report...), s.Exit, s.Error}
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
	_, err := fmt.Fprintf(w, "{%s}\n", message.JSON(bytes.Join(members, []byte(","))))
	return err
}

// Line returns the summary as a line of text. It does not escape names. It omits what the detail of the result covers
// and what Stated lists.
func (s *Summary) Line() string {
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
	if s.Format != "" {
		fmt.Fprintf(&b, " (%s)", s.Format)
	}
	for _, e := range s.Report {
		if e.code.Severity() == ntconv.SeverityInfo || detail != "" && slices.Contains(covered, e.code) ||
			slices.Contains(s.Stated, e.code) {
			continue
		}
		fmt.Fprintf(&b, "; %s: %s %s", e.Code, message.Group(int64(e.Count)), e.code.TextFor(e.Count))
	}
	if detail != "" {
		b.WriteString("; " + detail)
	}
	for _, n := range s.Notes {
		b.WriteString("; " + n)
	}
	return b.String()
}
