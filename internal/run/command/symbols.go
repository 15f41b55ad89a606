package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// symbolsRequest is a request to list the files with symbols that a trace needs.
type symbolsRequest struct {
	in     string
	json   bool
	all    bool
	names  symbol.Options
	finder *symbolfiles.Finder
}

func (a *app) symbolsCmd() *cobra.Command {
	var r symbolsRequest
	cmd := &cobra.Command{
		Use:   "symbols IN",
		Short: "List the symbols that a trace needs, has and misses",
		Long: "List the programs, libraries and other code that the stacks of a trace pass through, with the frames that the trace\n" +
			"itself names, those that files name, and those without a symbol; which files were used, refused or not found, and the\n" +
			"next step. All commands that show functions take the same flags for symbols and find the same files.\n\n" +
			"The trace is read twice, because symbols usually come last.",
		Example: examples(
			"what is missing", "ntconv symbols trace.nettrace",
			"with the libraries of the recorded container", "ntconv symbols --symbols ./rootfs trace.nettrace",
			"the build IDs of missing files",
			"ntconv symbols --json trace.nettrace | jq -r '.symbols[] | select(.unresolved > 0) | .build_id'",
		),
		Args:              oneInput,
		ValidArgsFunction: inputCompletion,
		RunE: func(_ *cobra.Command, args []string) error {
			r.in = args[0]
			return a.listSymbols(&r)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&r.json, "json", false, "print a JSON object")
			flags.BoolVar(&r.all, "all", false, "also list files of which the trace names all frames")
			r.finder = formats.SymbolFlags(flags, &r.names)
		})
		a.addInputFlags(cmd)
	})
}

// A symbolList is the output of ntconv symbols --json.
type symbolList struct {
	File       string              `json:"file"`
	AllFrames  int64               `json:"all_frames"` // of all stacks, including managed frames
	Frames     int64               `json:"frames"`     // of native code, or unresolved
	FromTrace  int64               `json:"from_trace"`
	FromFiles  int64               `json:"from_files"`
	Unresolved int64               `json:"unresolved"`
	Symbols    []*symbolfiles.Need `json:"symbols"`
	// Lines has the assemblies whose managed frames have lines or not; with --lines only.
	Lines   []*symbolfiles.LineNeed `json:"lines,omitempty"`
	Refused []symbolfiles.Refusal   `json:"refused"`
}

// listSymbols prints the files of a trace.
func (a *app) listSymbols(r *symbolsRequest) error {
	a.begin(&pass.Summary{Input: r.in, Flags: a.openers.Notes})
	plan, err := a.plan()
	if err != nil {
		return err
	}
	asked := symbolfiles.Record(r.finder)
	r.names.Native = asked
	plan.Names, plan.NamesFirst = &r.names, true
	return a.over([]string{r.in}, plan, func(p *pass.Pass) error {
		needs := symbolfiles.NewNeeds(asked, p.Namer)
		fatal, partial := a.drain(p, needs)
		if fatal != nil {
			return fatal
		}
		a.sum.Read(p)
		if p.Kept == 0 && p.Total > 0 && !plan.Selection.Empty() {
			return a.nothing(p, "events", "")
		}
		recording := &symbolfiles.Recording{
			EventPipe:   writtenByEventPipe(p.Info.Format),
			LostRundown: p.Losses().Rundown,
		}
		if t, ok := p.Namer.(*symbol.Table); ok {
			recording.Rundown = t.HasRundown()
		}
		text, err := r.text(needs.Result(recording), needs)
		if err != nil {
			return fail(exitOutput, err)
		}
		a.memory.Stop()
		if err := a.show(text); err != nil {
			return err
		}
		return partial
	})
}

// writtenByEventPipe reports whether only .NET's runtime writes a format. Other recorders write nettrace 6, too.
func writtenByEventPipe(format string) bool {
	return strings.HasPrefix(format, "netperf") || strings.HasPrefix(format, "nettrace ") && format != "nettrace 6"
}

// text returns the list as text or JSON.
func (r *symbolsRequest) text(rows []*symbolfiles.Need, needs *symbolfiles.Needs) (string, error) {
	lines, all := needs.Lines(), needs.Counts()
	list := symbolList{AllFrames: all.Frames, File: r.in, Symbols: []*symbolfiles.Need{}, Lines: lines, Refused: r.finder.Refused(false)}
	for _, n := range rows {
		list.Frames += n.Frames
		list.FromTrace += n.FromTrace
		list.FromFiles += n.FromFiles
		list.Unresolved += n.Unresolved
		if r.all || r.json || n.FromTrace < n.Frames {
			list.Symbols = append(list.Symbols, n)
		}
	}
	if r.json {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(list); err != nil {
			return "", err
		}
		return string(message.JSON(b.Bytes())), nil
	}
	var b strings.Builder
	b.WriteString(list.line(all))
	const row = "%10s  %8s  %8s  %-15s  %s\n"
	if len(list.Symbols) > 0 {
		fmt.Fprintf(&b, "\n"+row, "UNRESOLVED", "BY FILES", "BY TRACE", "BUILD ID", "FILE")
	}
	for _, n := range list.Symbols {
		fmt.Fprintf(&b, row, message.Group(n.Unresolved), message.Group(n.FromFiles), message.Group(n.FromTrace),
			shortID(n.BuildID), message.Line(n.Name()+statusText(&n.Status)))
	}
	linesText(&b, lines)
	return b.String(), nil
}

// line returns the first line of the text: the totals, and the frames that they are a part of.
func (l *symbolList) line(all symbolfiles.Counts) string {
	switch {
	case all.Stacks == 0:
		return "no event has a stack, so no symbols are needed\n"
	case l.Frames == 0:
		return fmt.Sprintf("0 of %s are native or unresolved: all are managed methods, which the trace names\n",
			message.Count(all.Frames, "frame"))
	}
	return fmt.Sprintf("%s of %s are native or unresolved: %s named by the trace, %s by files, %s unresolved\n",
		message.Group(l.Frames), message.Count(all.Frames, "frame"), message.Group(l.FromTrace), message.Group(l.FromFiles),
		message.Group(l.Unresolved))
}

// linesText appends the table of the assemblies with managed frames.
func linesText(b *strings.Builder, lines []*symbolfiles.LineNeed) {
	const row = "%10s  %10s  %-15s  %s\n"
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n"+row, "WITH LINES", "NO LINES", "PDB ID", "ASSEMBLY")
	}
	for _, n := range lines {
		fmt.Fprintf(b, row, message.Group(n.Located), message.Group(n.Frames-n.Located), shortID(n.PDB),
			message.Line(n.Assembly+statusText(&n.Status)))
	}
}

// shortID returns the first digits of a recorded build ID, which may be any text, for display.
func shortID(id string) string {
	const digits = 12
	if len(id) > digits {
		id = id[:digits] + "..."
	}
	return message.Line(id)
}

// statusText describes the files of a row.
func statusText(s *symbolfiles.Status) string {
	var b strings.Builder
	if len(s.Used) > 0 {
		b.WriteString(": " + strings.Join(s.Used, ", "))
		if s.Functions > 0 {
			b.WriteString(" (" + message.Count(int64(s.Functions), "function") + ")")
		}
	}
	if s.Problem != "" {
		b.WriteString(": " + s.Problem)
	}
	for i, refused := range s.Refused {
		if i == maxShownRefusals {
			fmt.Fprintf(&b, "; %d more", len(s.Refused)-i)
			break
		}
		b.WriteString("; refused " + refused.Short())
	}
	for _, err := range s.Errors {
		b.WriteString("; " + err)
	}
	if s.Next != "" {
		b.WriteString("; " + s.Next)
	}
	return b.String()
}

// maxShownRefusals bounds the refused files of a row in the text.
const maxShownRefusals = 2
