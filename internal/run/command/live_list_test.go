package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/show/live"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/sample"
)

// checkScreen checks that a screen has exactly its size, without control characters.
func checkScreen(t *testing.T, lines []screenLine, width, height int) {
	t.Helper()
	if len(lines) != max(1, height) {
		t.Errorf("%dx%d: %d lines", width, height, len(lines))
	}
	for _, l := range lines {
		if text := l.String(); textWidth(text) > width || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%dx%d: %d columns: %q", width, height, textWidth(text), text)
		}
	}
}

// screenText returns the lines of a screen below the title.
func screenText(lines []screenLine) string {
	var b strings.Builder
	for _, l := range lines[1:] {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

func TestFitText(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abcd", 1, "…"}, {"abcd", 0, ""}, {"汉字汉字", 5, "汉字…"}, {"a\x1b[2Jb", 20, `a\u001b[2Jb`},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
	} {
		if got := fitText(c.text, c.width); got != c.want && !strings.Contains(c.text, "\x1b") || textWidth(got) > c.width || strings.Contains(got, "\x1b") {
			t.Errorf("%q in %d columns: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// topOf returns a view without a process.
func topOf(rows ...live.Row) *liveTop {
	t := &liveTop{rank: new(ranking), length: recordTime(10 * time.Second), kinds: []sample.Kind{sample.Wall}, running: true}
	t.target, t.rec = &record.Target{PID: 42, Name: "shop\x1b]0;x\a"}, new(record.Recording)
	if rows != nil {
		t.shown = &live.Ranking{Kind: sample.Wall, Type: sample.Type{Type: "wall", Unit: "nanoseconds"}, Total: 4e9, Samples: 4000, Rows: rows}
		t.shown.Sort(false)
	}
	return t
}

func press(v liveScreen, keys ...string) {
	for _, k := range keys {
		v.press(k)
	}
}

// The screen of top in several widths, with filters and names of an attacker.
func TestLiveTopScreen(t *testing.T) {
	v := topOf(live.Row{Function: "Shop.Cart.Add(int)", Flat: 3e9, Cum: 3e9}, live.Row{Function: "evil\x1b[2J\nname", Flat: 1e9, Cum: 4e9})
	want := `last 10s: 4,000 samples, 4s wall of running threads; 0 events
     ▼flat  flat%        cum    cum%  function
        3s 75.00%         3s  75.00%  Shop.Cart.Add(int)
        1s 25.00%         4s 100.00%  ` + message.Line("evil\x1b[2J\nname") + `


q quit  c cum  s all threads  / filter  p pause  arrows scroll
`
	if got := screenText(v.draw(80, 8)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v.press("c"); !strings.Contains(v.columns(80), "▼cum") {
		t.Error(v.columns(80))
	}
	press(v, "/", "C", "A", "R", "T", "x", "backspace", "enter")
	if got := screenText(v.draw(40, 6)); !strings.Contains(got, " 75.00%  75.00%  Shop.Cart.Add(int)\n") || strings.Contains(got, "evil") ||
		!strings.Contains(got, "filter: CART") {
		t.Errorf("got\n%s", got)
	}
	press(v, "/", "q")
	if v.filter != "CARTq" || !v.isTyping() {
		t.Errorf("filter %q", v.filter)
	}
	if got := screenText(v.draw(40, 6)); !strings.Contains(got, "no function has this text") || !strings.Contains(got, "/CARTq_") {
		t.Errorf("got\n%s", got)
	}
	press(v, "esc", "p")
	if got := screenText(v.draw(40, 6)); !strings.Contains(got, "PAUSED") || !strings.Contains(got, "evil") {
		t.Errorf("got\n%s", got)
	}
	for _, width := range []int{1, 10, 20, 39, 40, 63, 64, 80, 200} {
		for _, height := range []int{1, 2, 3, 4, 5, 24} {
			checkScreen(t, v.draw(width, height), width, height)
			checkScreen(t, topOf().draw(width, height), width, height)
		}
	}
}

// A list scrolls to its end and no further.
func TestScroller(t *testing.T) {
	var rows []live.Row
	for i := range 100 {
		rows = append(rows, live.Row{Function: fmt.Sprintf("f%02d", i), Flat: int64(100 - i), Cum: 100})
	}
	v := topOf(rows...)
	for keys, first := range map[string]string{
		"": "f00", "down": "f01", "down up up": "f00", "pgdn": "f20", "end": "f80", "end pgup": "f60", "end pgdn down": "f80", "end home": "f00",
	} {
		v.offset = 0
		v.draw(80, 24)
		press(v, strings.Fields(keys)...)
		if got := v.draw(80, 24)[3].String(); !strings.Contains(got, first) {
			t.Errorf("%s: %s", keys, got)
		}
	}
}

// countersOf returns a view with points.
func countersOf(points ...metrics.Point) *liveCounters {
	c := &liveCounters{table: live.NewInstruments(), every: recordTime(time.Second)}
	c.target, c.rec = &record.Target{PID: 42, Name: "shop"}, new(record.Recording)
	for i := range points {
		c.table.Add(&points[i])
	}
	c.refresh(true)
	return c
}

func point(meter, name, unit string, value float64, tags ...string) metrics.Point {
	p := metrics.Point{Scope: &span.Scope{Name: meter}, Time: 1e18, Number: metrics.Number{Float: value}}
	p.Metric = metrics.Metric{Name: name, Unit: unit, Kind: metrics.KindGauge}
	for i := 0; i+1 < len(tags); i += 2 {
		p.Attributes = append(p.Attributes, span.Attribute{Key: tags[i], Value: span.String(tags[i+1])})
	}
	return p
}

// The screen of counters in several widths: groups, tags, rates and quantiles.
func TestLiveCountersScreen(t *testing.T) {
	sum := point("Shop", "orders", "{order}", 10, "c", "red")
	sum.Kind, sum.Temporality, sum.Monotonic = metrics.KindSum, metrics.TemporalityCumulative, true
	later := sum
	later.Time, later.Float = sum.Time+2e9, 16
	histogram := point("Shop", "price", "By", 0)
	histogram.Kind, histogram.Count, histogram.Sum, histogram.Start, histogram.Time = metrics.KindSummary, 4, 4096, 1e18, 1e18+2e9
	histogram.Quantiles = []metrics.Quantile{{Quantile: 0.5, Value: 1000}, {Quantile: 0.99, Value: 2048}}
	v := countersOf(sum, later, histogram, point("A", "evil\n\x1b", "s", 0.25))
	got := screenText(v.draw(120, 12))
	for _, want := range []string{
		"3 time series", "\nA\n", "250ms", "\nShop\n  orders\n    c=red", "16          3/s\n", "price", "1 KiB", "2/s  p50 0.98 KiB, p99 2 KiB\n", "q quit",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := screenText(v.draw(40, 14)); !strings.Contains(got, "\n      p50 0.98 KiB, p99 2 KiB\n") {
		t.Errorf("got\n%s", got)
	}
	press(v, "/", "r", "e", "d", "enter")
	if got := screenText(v.draw(80, 12)); strings.Contains(got, "price") || !strings.Contains(got, "c=red") {
		t.Errorf("got\n%s", got)
	}
	for _, width := range []int{1, 10, 40, 59, 60, 109, 110, 200} {
		for _, height := range []int{1, 2, 3, 4, 24} {
			checkScreen(t, v.draw(width, height), width, height)
			checkScreen(t, countersOf().draw(width, height), width, height)
		}
	}
	v.filter, v.target.Name = "", "shop\x1b"
	v.refresh(true)
	for _, line := range v.final(60) {
		if strings.Contains(line, "\x1b") {
			t.Errorf("%q", line)
		}
	}
}

// Without instruments, the screen says what to do.
func TestNoInstruments(t *testing.T) {
	v := countersOf()
	if got := screenText(v.draw(80, 5)); !strings.Contains(got, "--counters names the meters") {
		t.Errorf("got\n%s", got)
	}
	v.names = []string{"Shop"}
	if got := screenText(v.draw(80, 6)); !strings.Contains(got, "no meter or event source called Shop") {
		t.Errorf("got\n%s", got)
	}
}

// 10,000 instruments are drawn in less time than a refresh.
func TestManyInstruments(t *testing.T) {
	var points []metrics.Point
	for i := range 10_000 {
		points = append(points, point(fmt.Sprint("meter", i%7), fmt.Sprint("instrument", i), "", float64(i), "k", fmt.Sprint(i)))
	}
	v := countersOf(points...)
	begin := time.Now()
	for range 5 {
		v.refresh(true)
		checkScreen(t, v.draw(120, 50), 120, 50)
	}
	press(v, "end", "/", "9", "9", "9", "9")
	if got := screenText(v.draw(120, 50)); !strings.Contains(got, "instrument9999") {
		t.Errorf("got\n%s", got)
	}
	if took := time.Since(begin) / 5; took > screenEvery/2 {
		t.Errorf("%v per refresh", took)
	}
	v.filter = ""
	v.refresh(true)
	if n := len(v.final(80)); n != maxFinal+2 {
		t.Errorf("%d lines remain", n)
	}
}
