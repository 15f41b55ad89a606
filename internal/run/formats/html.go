package formats

import (
	"fmt"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/html"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// Page returns the row of pages, which ntconv view serves.
func Page() *Format {
	return &Format{
		Name: "html",
		Exts: []string{".html", ".htm"},
		Doc:  "one page with flame graphs, charts, tables and timelines, for any browser",
		Out: &Out{
			Doc:  "the whole trace as one page with flame graphs, charts, tables and timelines, for any browser without a network",
			Help: htmlHelp, Compares: true,
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // an interval must begin before it ends
			},
			Advice: noEvents.Next,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindHTML(flags).output },
			Examples: []string{
				"write a page to open in a browser", "ntconv to html trace.nettrace -o trace.html",
				"what a change made slower, with both recordings on one page", "ntconv to html before.nettrace after.nettrace -o change.html",
				"a small page for an attachment", "ntconv to html --max-bytes 2097152 trace.nettrace -o trace.html",
			},
		},
	}
}

const htmlHelp = `The page has all kinds of samples as flame graphs and tables, and counters, spans, garbage collections, compilations and waits over
time. It needs no network and no other file. Values of samples are those of ntconv top and ntconv to pprof.

If a page is larger than --max-bytes, times of samples become coarser, only the longest intervals and spans stay, and narrow frames are
merged. Totals stay exact. The page states what it leaves out.

With two inputs, BEFORE and AFTER, the page also shows what changed: the flame graph of AFTER has more than before in red and less in
blue, and tables have what ntconv diff finds.`

const flagMaxBytes = "max-bytes"

// An htmlSettings has the flags of ntconv to html, and for one output the index of spans of its input.
type htmlSettings struct {
	options  html.Options
	flags    *pflag.FlagSet
	link     active.Evidence // evidence that may link a sample to a span; 0 means no links
	grouping *groupingFlags
}

func bindHTML(flags *pflag.FlagSet) *htmlSettings {
	c := &htmlSettings{flags: flags}
	flags.Int64Var(&c.options.MaxBytes, flagMaxBytes, html.DefaultMaxBytes, "maximum size of the page in `bytes`; a larger page gets fewer details")
	bindSpanLink(flags, &c.link)
	c.grouping = bindGrouping(flags, true)
	return c
}

// output implements Settings.
func (c *htmlSettings) output(o *Output) {
	own := *c
	o.Create = own.create
	if c.link != 0 {
		o.Needs.Lookaheads = []Lookahead{spanLookahead(c.link, c.flags.Changed(FlagSpanLink), func(spans *activeSpans) {
			own.options.Active, own.options.Evidence = spans.find, spans.evidence
		})}
	}
}

func (c *htmlSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	o := c.options
	if o.MaxBytes < 1 {
		return nil, &FlagError{fmt.Sprintf("--%s %d: want at least 1", flagMaxBytes, o.MaxBytes)}
	}
	o.MaxTemp, o.Window, o.Report, o.Ordered, o.Selection = t.MaxTemp, t.Window, t.Report, t.Ordered, t.Filtered
	o.Source, o.Version = t.Input, t.Version
	o.Answers = func(has html.Summary) (can, cannot []html.Answer) { return answersOf(has, t.Input) }
	var w io.Writer
	if of := t.Compared; of != nil && of.Keep != nil {
		o.DataOnly, o.MaxBytes, w = true, o.MaxBytes/2, of.Keep
	} else {
		if of != nil {
			o.Before, o.Difference = of.Before, of.Found
		}
		file, err := out.Create("")
		if err != nil {
			return nil, err
		}
		w = file
	}
	namer, grouped := c.grouping.wrap(t.Namer)
	sink, err := html.New(w, info, namer, &o)
	if err != nil {
		return nil, err
	}
	return htmlSink{sink, grouped}, nil
}

// answersOf returns what a recording can answer, and how to record what it cannot. in is the name of its file.
func answersOf(has html.Summary, in string) (can, cannot []html.Answer) {
	answer := func(ok bool, what, command, advice string) {
		switch {
		case ok:
			can = append(can, html.Answer{What: what, Command: command + " " + message.ShellWord(in)})
		case advice != "":
			cannot = append(cannot, html.Answer{What: what, Command: advice})
		}
	}
	for _, k := range sample.Preferred() {
		advice := recorder(k)
		if k == sample.Requests && has.Spans > 0 {
			advice = "" // the spans are of requests
		}
		answer(slices.Contains(has.Kinds, k), k.Doc(), "ntconv top --kind "+k.String(), advice)
	}
	answer(has.Spans > 0, "requests and operations as spans", "ntconv to otlp", "ntconv collect --profile spans")
	answer(has.Values > 0, "values of counters", "ntconv info", "ntconv collect --profile metrics")
	return can, cannot
}

type htmlSink struct {
	*html.Sink
	grouped *grouped
}

func (s htmlSink) Result() Result {
	d := s.Summary()
	detail := fmt.Sprintf("%s, %s and %s, %s", message.Count(d.Samples, "sample"), message.Count(d.Spans, "span"),
		message.Count(d.Intervals, "interval"), message.Bytes(d.Bytes))
	if d.Reduced {
		detail += fmt.Sprintf("; details are left out for --%s, as the page states", flagMaxBytes)
	}
	for _, remark := range s.grouped.remarks() {
		detail += "; " + remark
	}
	return newEventsResult(d.Events, detail)
}
