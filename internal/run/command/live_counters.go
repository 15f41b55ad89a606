package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/show/live"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const flagRefresh = "refresh"

// A liveCounters is the instruments and event counters of a running process.
type liveCounters struct {
	scroller
	watching
	names []string   // of meters and event sources; nil means those of .NET
	every recordTime // of measurements

	reader  *metrics.Reader
	table   *live.Instruments
	running bool
	shown   []live.Series // copies, sorted
	rows    []counterRow  // of shown, with the filter
	by      string        // the filter of rows
	below   bool          // quantiles are in a line of their own
	pending bytes.Buffer  // lines that are not printed yet
}

// A counterRow is a line of the screen: a meter, the name of an instrument, or a time series.
type counterRow struct {
	meter, name string
	series      *live.Series
	tagged      bool // the name is in a line before
	quantiles   bool // of the series, and nothing else
}

func (a *app) countersCmd() *cobra.Command {
	c := &liveCounters{every: recordTime(time.Second)}
	cmd := &cobra.Command{
		Use:   "counters (-p PID | --name NAME)",
		Short: "Show the instruments and counters of a running .NET process",
		Long: `Show the instruments (System.Diagnostics.Metrics) and event counters of a running .NET process, refreshed each second: by meter or
event source, with their tags, the value, the increase per second, and the quantiles of histograms, whose value is their mean.
Keys: q quits, / filters by text, p pauses, arrows and Page Up and Down scroll. The values that were shown last remain.

If standard output is no terminal, or with --plain, counters prints a line per time series and interval, with tabs between the
time, METER/NAME, tags (k=v, k=v), value, unit, and increase per second. The value of a histogram is its mean. With --json, each
line is an object: time, meter, version, name, tags, kind (gauge, sum or summary), monotonic, value, rate, unit, and for summaries
count, sum and quantiles. Members without a value are absent.

Without --counters, these are all instruments. A runtime that does not know patterns of names (.NET 10 does) writes those of .NET
and ASP.NET Core and the counters of System.Runtime then: name the meters and event sources of the program. * at the end of a name
matches any text. ntconv collect --to prometheus or --to otlp stores or sends the same values.`,
		Example: examples(
			"all instruments", "ntconv counters -p 42",
			"those of some meters", "ntconv counters --name shop --counters 'System.Runtime,Shop.*'",
			"a minute of values for a spreadsheet", "ntconv counters -p 42 --plain --duration 1m > counters.tsv",
			"the size of the heap", "ntconv counters -p 42 --json | jq 'select(.name == \"dotnet.gc.last_collection.heap.size\") | .value'",
		),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		c.app, c.cmd, c.view = a, cmd, c
		if d := time.Duration(c.every); d < time.Second || d%time.Second != 0 {
			return failf(exitUsage, "--%s %v: want whole seconds", flagRefresh, d)
		}
		return a.watch(&c.watching, args)
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			c.bindTarget(flags)
			flags.StringSliceVar(&c.names, flagCounters, nil,
				"show the instruments of these meters and the counters of these event sources: comma-separated `names`")
			flags.Var(&c.every, flagRefresh, "measure at this interval of `time`: whole seconds")
			flags.BoolVar(&c.asJSON, "json", false, "print JSON objects, one per line, instead of a screen")
		})
		completeTargets(cmd)
		addGroup(cmd, groupReport, func(flags *pflag.FlagSet) {
			flags.BoolVarP(&a.quiet, "quiet", "q", false, "no messages on standard error")
			flags.Lookup("quiet").Hidden = true
		})
	})
}

// request implements liveView.
func (c *liveCounters) request(w *watching) (*record.Request, error) {
	req := new(record.Request)
	req.CountersEvery(c.names, time.Duration(c.every), w.target.Info.Runtime)
	return req, nil
}

// begin implements liveView.
func (c *liveCounters) begin(p *pass.Pass) (ntconv.Sink, nameLearner) {
	c.table = live.NewInstruments()
	c.reader = metrics.NewReader(p.Info, func(p *metrics.Point) {
		if s := c.table.Add(p); s != nil && !c.usesScreen() {
			c.line(s)
		}
	}, nil)
	return &counterSink{c}, nil
}

// A counterSink is the sink of a liveCounters.
type counterSink struct{ *liveCounters }

// Write implements ntconv.Sink.
func (s *counterSink) Write(e *ntconv.Event) error {
	s.reader.Add(e)
	return nil
}

// Close implements ntconv.Sink.
func (s *counterSink) Close() error { return nil }

// refresh implements liveScreen.
func (c *liveCounters) refresh(running bool) {
	c.running = running
	if c.table == nil || c.paused && c.shown != nil {
		return
	}
	c.shown = c.shown[:0]
	for _, s := range c.table.Rows("") {
		c.shown = append(c.shown, *s)
	}
	c.arrange()
}

// arrange sets the rows of the series that the filter selects.
func (c *liveCounters) arrange() {
	c.rows, c.by = c.rows[:0], c.filter
	meter, name := "", ""
	for i := range c.shown {
		s := &c.shown[i]
		if c.filter != "" && !live.Contains(s.Scope+" "+s.Name+" "+s.Label(), c.filter) {
			continue
		}
		if at := meterOf(s); len(c.rows) == 0 || at != meter {
			meter, name = at, ""
			c.rows = append(c.rows, counterRow{meter: meter})
		}
		tagged := s.Label() != ""
		if tagged && s.Name != name {
			c.rows = append(c.rows, counterRow{name: s.Name})
		}
		name = s.Name
		c.rows = append(c.rows, counterRow{series: s, tagged: tagged})
		if c.below && len(s.Quantiles) > 0 {
			c.rows = append(c.rows, counterRow{series: s, quantiles: true})
		}
	}
}

// meterOf returns the meter or event source of a series with its version.
func meterOf(s *live.Series) string { return strings.TrimSpace(s.Scope + " " + s.Version) }

// press implements liveScreen.
func (c *liveCounters) press(key string) {
	if c.scroller.press(key) && c.by != c.filter {
		c.arrange()
	}
}

// draw implements liveScreen.
func (c *liveCounters) draw(width, height int) []screenLine {
	lines := []screenLine{
		lineOf(styleBold, fitText(c.title("counters"), width)),
		lineOf(stylePlain, fitText(c.summary(), width)),
	}
	if len(c.shown) == 0 {
		return screenOf(append(lines, wrapped(stylePlain, c.nothing(), width)...), c.footer(width), width, height)
	}
	lines = append(lines, lineOf(styleHeader, c.layout(width, "instrument", "value", "per second", "quantiles")))
	if len(c.rows) == 0 {
		lines = append(lines, wrapped(stylePlain, "no instrument has this text; Esc removes the filter", width)...)
	}
	if below := width < quantilesFrom; below != c.below {
		c.below = below
		c.arrange()
	}
	from, to := c.fit(len(c.rows), height-len(lines)-1)
	for i := range c.rows[from:to] {
		lines = append(lines, c.row(&c.rows[from+i], width))
	}
	return screenOf(lines, c.footer(width), width, height)
}

// summary describes what is shown.
func (c *liveCounters) summary() string {
	var list []string
	if !c.running {
		list = append(list, "THE SESSION HAS ENDED")
	}
	if c.table != nil && c.table.Len() > 0 {
		list = append(list, message.Count(int64(c.table.Len()), "time series", "time series"), "measured "+c.table.Latest().Local().Format(time.TimeOnly))
		if c.table.Dropped > 0 {
			list = append(list, "more are omitted")
		}
	}
	if c.reader != nil && c.reader.Problems() != "" {
		list = append(list, "incomplete: "+c.reader.Problems())
	}
	return strings.Join(list, "; ")
}

// nothing says why there are no instruments, and what to do.
func (c *liveCounters) nothing() string {
	if time.Since(c.rec.Begun()) < 3*time.Duration(c.every) && c.running {
		return "waiting for the first values"
	}
	if c.names == nil {
		return "the process has measured nothing yet; --" + flagCounters + " names the meters of the program"
	}
	return fmt.Sprintf("no meter or event source called %s has measured anything; names are case-sensitive, and instruments appear when they are first used",
		strings.Join(c.names, ", "))
}

// Widths of the columns of the screen.
const (
	valueWidth    = 12
	rateWidth     = 13
	quantileWidth = 40
	rateFrom      = 60  // columns from which on rates are shown
	quantilesFrom = 110 // the same for quantiles
)

// layout returns a line of the table.
func (c *liveCounters) layout(width int, name, value, rate, quantiles string) string {
	rest := width - valueWidth
	if width >= rateFrom {
		rest -= rateWidth
	}
	if width >= quantilesFrom {
		rest -= quantileWidth
	}
	line := padText(name, max(1, rest-1)) + " " + rightText(value, valueWidth)
	if width >= rateFrom {
		line += rightText(rate, rateWidth)
	}
	if width >= quantilesFrom {
		line += "  " + padText(quantiles, quantileWidth-2)
	}
	return line
}

// row returns a line of the screen.
func (c *liveCounters) row(r *counterRow, width int) screenLine {
	s := r.series
	switch {
	case s == nil && r.name == "":
		return lineOf(styleBold, fitText(r.meter, width))
	case s == nil:
		return lineOf(stylePlain, fitText("  "+r.name, width))
	case r.quantiles:
		return lineOf(styleDim, fitText("      "+s.QuantileText(), width))
	}
	name := "  " + s.Name
	if r.tagged {
		name = "    " + s.Label()
	}
	style, rate := stylePlain, s.RateText()
	if c.table.Stale(s) {
		style, rate = styleDim, ""
	}
	return lineOf(style, c.layout(width, name, s.Value(), rate, s.QuantileText()))
}

// footer returns the last line of the screen.
func (c *liveCounters) footer(width int) screenLine {
	if c.typing {
		return c.prompt(width)
	}
	return keysLine(width, append(c.state(), "q quit", "/ filter", "p pause", "arrows scroll")...)
}

// maxFinal is the number of lines that remain on the terminal.
const maxFinal = 100

// final implements liveView.
func (c *liveCounters) final(width int) []string {
	lines := []string{fitText(c.target.String(), width)}
	if len(c.shown) == 0 {
		return append(lines, c.nothing())
	}
	for i := range c.rows {
		if i == maxFinal {
			lines = append(lines, fmt.Sprintf("… and %s", message.Count(int64(len(c.rows)-i), "line")))
			break
		}
		lines = append(lines, strings.TrimRight(c.row(&c.rows[i], width).String(), " "))
	}
	return lines
}

// plainEvery implements liveView.
func (c *liveCounters) plainEvery() time.Duration { return screenEvery / 4 }

// lines implements liveView.
func (c *liveCounters) lines(last bool) (string, error) {
	text := c.pending.String()
	c.pending.Reset()
	if last && c.table != nil && c.table.Len() == 0 {
		c.running = false
		return text, failf(exitEmpty, "%v: %s", c.target, c.nothing())
	}
	return text, nil
}

// line adds the line of a point.
func (c *liveCounters) line(s *live.Series) {
	if c.asJSON {
		_ = writeJSONLine(&c.pending, counterJSONOf(s)) // it has only strings and numbers
		return
	}
	value := s.Mean()
	if s.Kind != metrics.KindSummary {
		value = live.Float(s.Number)
	}
	rate := ""
	if s.HasRate {
		rate = exactly(s.Rate)
	}
	cells := []string{
		s.Time.Format(time.RFC3339Nano), message.Line(s.Scope + "/" + s.Name), message.Line(s.Label()), exactly(value), message.Line(s.Unit), rate,
	}
	c.pending.WriteString(strings.Join(cells, "\t") + "\n")
}

// exactly formats a number with all its digits.
func exactly(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// counterJSON is a line of counters --json. The help describes it.
type counterJSON struct {
	Time      string            `json:"time"`
	Meter     string            `json:"meter"`
	Version   string            `json:"version,omitempty"`
	Name      string            `json:"name"`
	Tags      map[string]string `json:"tags,omitempty"`
	Kind      string            `json:"kind"`
	Monotonic bool              `json:"monotonic,omitempty"`
	Value     *json.Number      `json:"value,omitempty"`
	Rate      *json.Number      `json:"rate,omitempty"`
	Unit      string            `json:"unit,omitempty"`
	Count     *uint64           `json:"count,omitempty"`
	Sum       *json.Number      `json:"sum,omitempty"`
	Quantiles []quantileJSON    `json:"quantiles,omitempty"`
}

type quantileJSON struct {
	Quantile json.Number  `json:"quantile"`
	Value    *json.Number `json:"value"`
}

func counterJSONOf(s *live.Series) counterJSON {
	o := counterJSON{
		Time: s.Time.Format(time.RFC3339Nano), Meter: s.Scope, Version: s.Version, Name: s.Name, Kind: "gauge", Monotonic: s.Monotonic, Unit: s.Unit,
	}
	if len(s.Tags) > 0 {
		o.Tags = map[string]string{}
		for i := range s.Tags {
			o.Tags[s.Tags[i].Key] = string(s.Tags[i].Value.AppendText(nil))
		}
	}
	if s.HasRate {
		o.Rate = numberJSON(s.Rate)
	}
	switch s.Kind {
	case metrics.KindSummary:
		o.Kind, o.Count, o.Sum = "summary", &s.Count, numberJSON(s.Sum)
		for _, q := range s.Quantiles {
			o.Quantiles = append(o.Quantiles, quantileJSON{*numberJSON(q.Quantile), numberJSON(q.Value)})
		}
		return o
	case metrics.KindSum:
		o.Kind = "sum"
	}
	if s.Integer {
		n := json.Number(strconv.FormatInt(s.Int, 10))
		o.Value = &n
	} else {
		o.Value = numberJSON(s.Float)
	}
	return o
}

// numberJSON returns a number, nil if JSON has none for it.
func numberJSON(x float64) *json.Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	n := json.Number(exactly(x))
	return &n
}
