package agreement

import (
	"slices"
	"strings"
	"testing"
)

const testPage = `
text
` + pageHeader + `
|---|---|---|---|---|
| wait time*, waits | chrome, firefox | 1 µs per item | ` + "`waits`" + ` and others | microseconds |
| wait time* | otlp | | ` + "`y`" + ` | elsewhere |
| spans | info | | ` + "`spans`" + ` | other spans |

| another | table |
`

func parsed(t *testing.T, text string) *Page {
	t.Helper()
	p, err := ParsePage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func answer(output string, values map[Fact]Value) *Answer {
	a := NewAnswer(output)
	for f, v := range values {
		a.set(f, v)
	}
	return a
}

// A difference is reported once, with all values, unless a row of the page lists the fact and one of the two outputs.
func TestCompare(t *testing.T) {
	total, bySource := Fact{Name: "wait time"}, Fact{"wait time", "source", "Monitor"}
	for _, c := range []struct {
		name   string
		values map[string]Value
		fact   Fact
		want   string
	}{
		{"equal", map[string]Value{"pprof": {N: 5, Items: 1}, "otlp": {N: 5, Items: 3}}, total, ""},
		{"undocumented", map[string]Value{"pprof": {N: 5}, "otlp": {N: 4}, "info": {N: 5}}, total, "x: wait time: 4 (otlp), 5 (info, pprof)"},
		{"documented", map[string]Value{"pprof": {N: 3000, Items: 3}, "chrome": {N: 1, Items: 3}}, bySource, ""},
		{"too large", map[string]Value{"pprof": {N: 3002, Items: 3}, "chrome": {N: 1, Items: 3}}, bySource, `x: wait time by source "Monitor": 1 (chrome), 3002 (pprof)`},
		{"both listed", map[string]Value{"firefox": {N: 2, Items: 3}, "chrome": {N: 1, Items: 3}}, bySource, `x: wait time by source "Monitor": 1 (chrome), 2 (firefox)`},
		{"another fact", map[string]Value{"pprof": {N: 2}, "chrome": {N: 1}}, Fact{Name: "spans"}, "x: spans: 1 (chrome), 2 (pprof)"},
		{"decimals", map[string]Value{"pprof": {F: 2.5}, "info": {F: 2.25}}, Fact{Name: "counter"}, "x: counter: 2.25 (info), 2.5 (pprof)"},
	} {
		var answers []*Answer
		for output, v := range c.values {
			answers = append(answers, answer(output, map[Fact]Value{c.fact: v}))
		}
		slices.SortFunc(answers, func(a, b *Answer) int { return strings.Compare(a.Output, b.Output) })
		if got := strings.Join(Compare("x", answers, parsed(t, testPage)), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// What an output states but does not mention is 0; what it does not state is not compared.
func TestCompareStated(t *testing.T) {
	some := answer("info", map[Fact]Value{{Name: "waits"}: {N: 2, Items: 2}})
	page := parsed(t, testPage)
	if got := Compare("x", []*Answer{some, NewAnswer("otlp")}, page); got != nil {
		t.Errorf("got %q, want no difference", got)
	}
	if got := Compare("x", []*Answer{some, NewAnswer("otlp", "waits")}, page); len(got) != 1 {
		t.Errorf("got %q, want the difference between 2 and 0", got)
	}
}

// A row is obsolete if its example was compared and shows no difference.
func TestObsolete(t *testing.T) {
	page := parsed(t, testPage)
	Compare("waits", []*Answer{
		answer("info", map[Fact]Value{{Name: "waits"}: {N: 2, Items: 2}}), answer("chrome", map[Fact]Value{{Name: "waits"}: {N: 1, Items: 1}}),
	}, page)
	if got := page.Obsolete(map[string]bool{"waits": true}); got != nil {
		t.Errorf("got %q, want no obsolete row", got)
	}
	if got := page.Obsolete(map[string]bool{"waits": true, "spans": true}); len(got) != 1 || !strings.Contains(got[0], "spans") {
		t.Errorf("got %q, want the row of spans", got)
	}
}

// A page without the table, and a row that cannot be read, are errors, so that a difference cannot be allowed by accident.
func TestParsePageErrors(t *testing.T) {
	for _, text := range []string{"", pageHeader, pageHeader + "\n| a | b |", pageHeader + "\n| a | b | about 3 | c | d |"} {
		if _, err := ParsePage([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
