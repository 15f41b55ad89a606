package inventory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
)

// Names that are too long for a line are truncated after the same number of characters in all alphabets.
func TestTextTruncates(t *testing.T) {
	d := Description{Processes: []Process{
		{PID: 1, CommandLine: strings.Repeat("é", maxText)}, {PID: 2, CommandLine: "x" + strings.Repeat("é", 10*maxText), Host: "h"},
	}}
	text := string(d.Text(&Page{Report: new(ntconv.Report)}))
	for _, want := range []string{"  " + strings.Repeat("é", maxText) + "\n", "  x" + strings.Repeat("é", maxText-1) + "… on h\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The rest of a list is one line with totals. With All, all lines are printed.
func TestTextShortensLists(t *testing.T) {
	for _, n := range []int{1, maxTypes, maxTypes + 1, maxTypes + 2, 100} {
		for _, all := range []bool{false, true} {
			p := Provider{Name: "P"}
			for i := range n {
				p.Types = append(p.Types, Type{ID: uint32(i), Name: fmt.Sprintf("E%dx", i), Tally: Tally{Events: 1, Bytes: 2, Stacks: 1}})
				p.Add(p.Types[i].Tally)
			}
			d := Description{Providers: []Provider{p}}
			text := string(d.Text(&Page{Report: new(ntconv.Report), All: all}))
			shown := 0
			for _, e := range p.Types {
				if strings.Contains(text, " "+e.Name+"\n") {
					shown++
				}
			}
			rest := fmt.Sprintf("%d more; --all lists them\n", n-shown)
			limit := maxTypes + 1
			if all {
				limit = n
			}
			if shown > limit || shown < min(n, maxTypes) || all && shown < n ||
				strings.Contains(text, rest) != (shown < n) || strings.Contains(text, " 0 more") {
				t.Errorf("%d types, %d shown:\n%s", n, shown, text)
			}
			for line := range strings.Lines(text) {
				f := strings.Fields(line)
				if strings.HasSuffix(line, rest) && (f[0] != fmt.Sprint(n-shown) || f[1] != fmt.Sprint(2*(n-shown)) || f[2] != f[0]) {
					t.Errorf("%d types, %d shown: rest %q", n, shown, line)
				}
			}
		}
	}
}

// No name or content of the trace begins a line or reaches a terminal as a control sequence, and no line ends in a
// space.
func TestTextIsPrintable(t *testing.T) {
	const bad = "a\nb\x1b[2J "
	r := new(ntconv.Report)
	r.Note(ntconv.CodeEventsLost, 2, 5, bad)
	text := func(s string) string {
		d := Description{
			Format: "nettrace 6", Events: Events{Tally: Tally{Events: 1}},
			attrs:     ntconv.Attrs{{Key: s, Value: s}},
			clock:     ntconv.Clock{Freq: 1e9, Wall: time.Unix(0, 0).UTC()},
			Processes: []Process{{Name: s, Host: s}},
			Threads:   []Thread{{Name: s, Lost: 1}, {Name: s}},
			Providers: []Provider{{Name: s, Types: []Type{{Name: s}}}},
			Extract:   []Extractable{{What: "samples", Command: s}},
		}
		return string(d.Text(&Page{File: s, Size: 10, Notes: []string{s}, Report: r, All: true}))
	}
	got, want := text(bad), text("ab")
	if strings.Contains(got, "\x1b") || strings.Count(got, "\n") != strings.Count(want, "\n") || strings.Contains(got, " \n") {
		t.Errorf("%q\nwith a plain name:\n%s", got, want)
	}
	if n := strings.Count(got, `a\nb\x1b[2J`); n != 12 {
		t.Errorf("%d names:\n%s", n, got)
	}
}
