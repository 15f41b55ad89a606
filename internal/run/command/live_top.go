package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/show/live"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags of top --live.
const (
	flagLive    = "live"
	flagWindow  = "window"
	flagWaiting = "waiting"
)

// A liveTop is the functions with most samples of a running process, in the last seconds.
type liveTop struct {
	scroller
	watching
	rank   *ranking
	length recordTime
	every  recordTime // of blocks of lines; 0 means length
	all    bool       // also samples of threads in native code
	kinds  []sample.Kind
	kind   int // index of kinds
	limit  int // rows of blocks; 0 means all

	window       *live.Window
	names        *symbol.Table
	clock        ntconv.Clock
	isFiltered   bool // the sink is also a Watcher
	events, lost int64
	running      bool
	shown        *live.Ranking
	printed      time.Time // when the last block was printed
}

const liveTopHelp = `

With --live, top shows a running process: the functions with most samples of the last seconds (--window), refreshed each second.
The values are those of a profile of these seconds. By default, threads that are in native code do not count, because they mostly
wait: press s, or use --waiting, to count them. Keys: q quits, c sorts by cumulative values, s counts waiting threads, k shows the
next kind of --kind, / filters by text, p pauses, arrows and Page Up and Down scroll. The table that was shown last remains.

If standard output is no terminal, or with --plain, top prints a table each --every; with --json, one JSON object on a line: time,
pid, process, kind, threads, sample_type, unit, window_ns, samples, events, lost, total, functions, and rows as below.`

// bind defines the flags of top --live.
func (t *liveTop) bind(cmd *cobra.Command, isLive *bool) {
	addGroup(cmd, groupLive, func(flags *pflag.FlagSet) {
		flags.BoolVar(isLive, flagLive, *isLive, "show a running process, refreshed each second")
		flags.Lookup(flagLive).DefValue = "false" // of a command line without the flag
		t.bindTarget(flags)
		flags.Var(&t.length, flagWindow, "show the samples of the last seconds: of this `time`")
		flags.Var(&t.every, flagEvery, "without a screen: print a table at this interval of `time` (default: that of --"+flagWindow+")")
		flags.BoolVar(&t.all, flagWaiting, false, "also count threads in native code, which mostly wait")
	})
	completeTargets(cmd)
}

// offlineFlags are the flags of top that are about an input or another profile.
var offlineFlags = []string{
	flagBase, flagDiffBase, flagTagFocus, flagTagIgnore, flagTagRoot, flagTagLeaf, flagSampleType, "focus", "from", formats.FlagFollow,
}

// topLive shows a running process.
func (a *app) topLive(cmd *cobra.Command, t *liveTop, args []string, asJSON bool) error {
	for _, name := range offlineFlags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return failf(exitUsage, "--%s is about a recorded trace; omit it, or record one with ntconv collect", name)
		}
	}
	t.app, t.cmd, t.asJSON, t.view, t.limit = a, cmd, asJSON, t, t.rank.options.Count
	if t.kinds = t.rank.profile.Kinds(); t.rank.profile.All() {
		t.kinds = record.RecordableKinds()
	} else if len(t.kinds) == 0 {
		t.kinds = []sample.Kind{sample.Wall}
	}
	return a.watch(&t.watching, args)
}

// request implements liveView.
func (t *liveTop) request(w *watching) (*record.Request, error) {
	req := new(record.Request)
	err := req.Kinds(t.kinds, w.target.Info.Runtime)
	if t.usesScreen() {
		req.Rundown = 0 // the user does not wait for it, and learn asks for names meanwhile
	}
	return req, err
}

// begin implements liveView.
func (t *liveTop) begin(p *pass.Pass) (ntconv.Sink, nameLearner) {
	formats.Serve(t.rank.names, t.quiet())
	t.names, t.clock, t.isFiltered = symbol.New(t.rank.names), p.Info.Clock, p.Filtered()
	t.window = live.NewWindow(p.Info, t.rank.profile.Namer(t.names), &live.WindowOptions{
		Length: time.Duration(t.length), Kinds: t.kinds, Options: t.rank.profile.KindOptions(),
	})
	return &topSink{t}, t
}

// unnamed implements nameLearner.
func (t *liveTop) unnamed() bool { return t.window.Unnamed() > 0 }

// learn implements nameLearner. What a trace has before an error is better than nothing.
func (t *liveTop) learn(src ntconv.Source) {
	_ = t.names.Scan(src)
	t.window.Learned()
}

// A topSink is the sink of a liveTop.
type topSink struct{ *liveTop }

// Write implements ntconv.Sink.
func (s *topSink) Write(e *ntconv.Event) error {
	if !s.isFiltered {
		s.observe(e)
	}
	s.window.Add(e)
	return nil
}

// Watch implements ntconv.Watcher.
func (s *topSink) Watch(e *ntconv.Event) {
	s.observe(e)
	s.window.Watch(e)
}

// observe learns and counts an event, selected or not.
func (t *liveTop) observe(e *ntconv.Event) {
	t.names.Observe(e)
	switch e.Kind {
	case ntconv.KindEvent:
		t.events++
	case ntconv.KindLost:
		t.lost += int64(e.Lost)
	}
}

// Close implements ntconv.Sink.
func (s *topSink) Close() error {
	s.window.Finish()
	return nil
}

// refresh implements liveScreen.
func (t *liveTop) refresh(running bool) {
	t.running = running
	if t.window == nil || t.paused && t.shown != nil {
		return
	}
	if running {
		t.window.Advance(t.clock.TicksAt(time.Since(t.rec.Begun())))
	}
	t.compute()
}

// compute ranks the samples of the window.
func (t *liveTop) compute() {
	if t.window == nil {
		return
	}
	k := t.kinds[t.kind]
	t.shown = t.window.Rank(k, k == sample.Wall && !t.all)
	t.shown.Sort(t.rank.options.Cum)
}

// press implements liveScreen.
func (t *liveTop) press(key string) {
	if t.scroller.press(key) {
		return
	}
	switch key {
	case "c":
		t.rank.options.Cum = !t.rank.options.Cum
	case "s":
		t.all = !t.all
	case "k":
		t.kind = (t.kind + 1) % len(t.kinds)
	default:
		return
	}
	t.offset = 0
	t.compute()
}

// matching returns the rows that the filter selects.
func (t *liveTop) matching() []live.Row {
	if t.filter == "" {
		return t.shown.Rows
	}
	var rows []live.Row
	for _, r := range t.shown.Rows {
		if live.Contains(r.Function, t.filter) {
			rows = append(rows, r)
		}
	}
	return rows
}

// draw implements liveScreen.
func (t *liveTop) draw(width, height int) []screenLine {
	lines := t.header(width)
	if t.shown == nil || t.shown.Samples == 0 {
		return screenOf(append(lines, wrapped(stylePlain, t.nothing(), width)...), t.footer(width), width, height)
	}
	lines = append(lines, lineOf(styleHeader, padText(t.columns(width), width)))
	rows := t.matching()
	from, to := t.fit(len(rows), height-len(lines)-1)
	for _, r := range rows[from:to] {
		lines = append(lines, t.row(&r, width))
	}
	if len(rows) == 0 {
		lines = append(lines, wrapped(stylePlain, "no function has this text; Esc removes the filter", width)...)
	}
	return screenOf(lines, t.footer(width), width, height)
}

// header returns the lines above the table.
func (t *liveTop) header(width int) []screenLine {
	return []screenLine{lineOf(styleBold, fitText(t.title("top"), width)), lineOf(stylePlain, fitText(t.summary(), width))}
}

// summary describes the samples that are shown.
func (t *liveTop) summary() string {
	var list []string
	if !t.running {
		list = append(list, "THE SESSION HAS ENDED")
	}
	if s := t.shown; s != nil {
		one, several := s.Kind.Noun(1), s.Kind.Noun(2)
		if s.Kind == sample.Wall {
			one, several = "sample", "samples"
		}
		text := fmt.Sprintf("last %v: %s", time.Duration(t.length), message.Count(int64(s.Samples), one, several))
		if s.Type.Unit != "count" {
			text += ", " + message.Quantity(float64(s.Total), s.Type.Unit) + " " + s.Type.Type
		}
		if s.Kind == sample.Wall && !t.all {
			text += " of running threads"
		}
		list = append(list, text)
	}
	list = append(list, message.Count(t.events, "event"))
	if t.lost > 0 {
		list = append(list, message.Group(t.lost)+" lost")
	}
	return strings.Join(list, "; ")
}

// nothing says why there are no rows, and what to do.
func (t *liveTop) nothing() string {
	switch k := t.kinds[t.kind]; {
	case t.shown == nil:
		return "waiting for the first events"
	case k == sample.Wall && !t.all:
		return "no thread ran managed code; s also counts threads that wait"
	default:
		return fmt.Sprintf("no %s in the last %v", k.Noun(2), time.Duration(t.length))
	}
}

// narrow is the width from which on a table has values in addition to percentages.
const narrow = 64

// columns returns the header of the table.
func (t *liveTop) columns(width int) string {
	flat, cum := "flat", "cum"
	if t.rank.options.Cum {
		cum = "▼" + cum
	} else {
		flat = "▼" + flat
	}
	if width < narrow {
		return rightText(flat+"%", 7) + rightText(cum+"%", 8) + "  function"
	}
	return rightText(flat, 10) + "  flat%" + rightText(cum, 11) + "    cum%  function"
}

// row returns a line of the table.
func (t *liveTop) row(r *live.Row, width int) screenLine {
	s := t.shown
	percent := func(v int64) string {
		if s.Total == 0 {
			return "0%"
		}
		return fmt.Sprintf("%.2f%%", 100*float64(v)/float64(s.Total))
	}
	numbers := rightText(percent(r.Flat), 7) + rightText(percent(r.Cum), 8) + "  "
	if width >= narrow {
		value := func(v int64) string { return message.Quantity(float64(v), s.Type.Unit) }
		numbers = rightText(value(r.Flat), 10) + rightText(percent(r.Flat), 7) + rightText(value(r.Cum), 11) + rightText(percent(r.Cum), 8) + "  "
	}
	return screenLine{{numbers, stylePlain}, {fitText(r.Function, width-textWidth(numbers)), stylePlain}}
}

// footer returns the last line of the screen.
func (t *liveTop) footer(width int) screenLine {
	if t.typing {
		return t.prompt(width)
	}
	sorted, threads := "c cum", "s all threads"
	if t.rank.options.Cum {
		sorted = "c flat"
	}
	if t.all {
		threads = "s running"
	}
	keys := append(t.state(), "q quit", sorted)
	if t.kinds[t.kind] == sample.Wall {
		keys = append(keys, threads)
	}
	keys = append(keys, "/ filter", "p pause")
	if len(t.kinds) > 1 {
		keys = append(keys, "k "+t.kinds[(t.kind+1)%len(t.kinds)].String())
	}
	return keysLine(width, append(keys, "arrows scroll")...)
}

// plainEvery implements liveView.
func (t *liveTop) plainEvery() time.Duration {
	if t.every > 0 {
		return time.Duration(t.every)
	}
	return time.Duration(t.length)
}

// lines implements liveView. A block right before the last one would have nearly the same samples.
func (t *liveTop) lines(last bool) (string, error) {
	now := time.Now()
	if last && now.Sub(t.printed) < t.plainEvery()/10 {
		return "", nil
	}
	t.refresh(!last)
	t.running, t.printed = true, now // that it has ended is clear
	if t.asJSON {
		return t.json(now)
	}
	var b strings.Builder
	for _, k := range t.eachKind() {
		t.kind = k
		t.compute()
		fmt.Fprintf(&b, "%s  %s\n", now.UTC().Format(time.RFC3339), message.Line(t.target.String()))
		for _, line := range t.table(120, t.limit) {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// eachKind returns the indices of the kinds.
func (t *liveTop) eachKind() (list []int) {
	for i := range t.kinds {
		list = append(list, i)
	}
	return list
}

// table returns the table as text, with at most a number of rows, 0 for all.
func (t *liveTop) table(width, limit int) []string {
	lines := []string{t.summary()}
	if t.shown == nil || t.shown.Samples == 0 {
		return append(lines, t.nothingPlain())
	}
	lines = append(lines, strings.TrimRight(t.columns(width), " "))
	for i, r := range t.matching() {
		if limit > 0 && i == limit {
			break
		}
		lines = append(lines, t.row(&r, max(width, narrow)).String())
	}
	return lines
}

// nothingPlain is nothing without the names of keys.
func (t *liveTop) nothingPlain() string {
	if t.shown != nil && t.kinds[t.kind] == sample.Wall && !t.all {
		return "no thread ran managed code; --" + flagWaiting + " also counts threads that wait"
	}
	return t.nothing()
}

// final implements liveView.
func (t *liveTop) final(width int) []string {
	t.running = true // that it has ended is clear
	if t.shown == nil {
		t.compute()
	}
	return append([]string{fitText(t.target.String(), width)}, t.table(width, t.limit)...)
}

// liveTopJSON is a line of top --live --json. The help describes it.
type liveTopJSON struct {
	Time       string    `json:"time"`
	PID        int       `json:"pid"`
	Process    string    `json:"process"`
	Kind       string    `json:"kind"`
	Threads    string    `json:"threads,omitempty"` // running or all, of kind wall
	SampleType string    `json:"sample_type"`
	Unit       string    `json:"unit"`
	Window     int64     `json:"window_ns"`
	Samples    uint64    `json:"samples"`
	Events     int64     `json:"events"`
	Lost       int64     `json:"lost"`
	Total      int64     `json:"total"`
	Functions  int       `json:"functions"`
	Rows       []rowJSON `json:"rows"`
}

// json returns a line per kind.
func (t *liveTop) json(now time.Time) (string, error) {
	var b bytes.Buffer
	for _, k := range t.eachKind() {
		t.kind = k
		t.compute()
		o := liveTopJSON{
			Time: now.UTC().Format(time.RFC3339Nano), PID: t.target.PID, Process: t.target.Name, Kind: t.kinds[k].String(),
			Window: int64(t.length), Events: t.events, Lost: t.lost, Rows: []rowJSON{},
		}
		if t.kinds[k] == sample.Wall {
			o.Threads = map[bool]string{true: "all", false: "running"}[t.all]
		}
		if s := t.shown; s != nil {
			o.SampleType, o.Unit, o.Samples, o.Total, o.Functions = s.Type.Type, s.Type.Unit, s.Samples, s.Total, len(s.Rows)
			for i, r := range s.Rows {
				if t.limit > 0 && i == t.limit {
					break
				}
				o.Rows = append(o.Rows, rowJSON{r.Function, r.Flat, percentOf(r.Flat, o.Total), r.Cum, percentOf(r.Cum, o.Total)})
			}
		}
		if err := writeJSONLine(&b, o); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// writeJSONLine writes a value as a line.
func writeJSONLine(b *bytes.Buffer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Write(message.JSON(line.Bytes()))
	return nil
}
