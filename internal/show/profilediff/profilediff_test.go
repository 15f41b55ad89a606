package profilediff

import (
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// Slices cover all times in order. Each is short compared with the time before it, so that a recording of any length
// has few slices but more than the comparison needs.
func TestSlices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	last := int64(0)
	for at := int64(0); at < 1<<34; at += 1 + rng.Int64N(at/2000+1) {
		n := sliceOf(at)
		if n < last || n > last+1 {
			t.Fatalf("time %d: slice %d after %d", at, n, last)
		}
		last = n
		if d := middleOf(n) - float64(at); d > 1+float64(at)/256 || d < -1-float64(at)/256 {
			t.Fatalf("time %d: slice %d has the middle %g", at, n, middleOf(n))
		}
	}
	if n := sliceOf(3600 * 1000); n > 10_000 {
		t.Errorf("an hour has %d slices", n)
	}
	if sliceOf(-5) != 0 || sliceOf(1<<62) != maxSlice {
		t.Errorf("times outside: %d, %d", sliceOf(-5), sliceOf(1<<62))
	}
}

// Divide changes nothing but the labels: it adds one.
func TestDivide(t *testing.T) {
	file := corpus.Trace(t, "cpu-env")
	open := func() ntconv.Source {
		r, err := reader.NewBytes(file.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain, divided := open(), Divide(open())
	for {
		want, errWant := plain.Next()
		got, err := divided.Next()
		if err != errWant {
			t.Fatalf("error %v, want %v", err, errWant)
		}
		if err != nil {
			return
		}
		if want.Kind != ntconv.KindEvent {
			continue
		}
		labels := got.Labels.List()
		if n := len(labels) - 1; n < 0 || labels[n].Key != LabelSlice || !slices.Equal(labels[:n], want.Labels.List()) {
			t.Fatalf("labels %v, want %v and the slice", labels, want.Labels.List())
		}
		if got.Time != want.Time || got.Type.ID != want.Type.ID || got.Thread.TID != want.Thread.TID || string(got.Payload) != string(want.Payload) {
			t.Fatalf("event %+v, want %+v", got, want)
		}
	}
}

// Functions that differ in ordinals only are one function if it is clear which is which.
func TestMatch(t *testing.T) {
	of := func(names ...string) map[string]*function {
		m := map[string]*function{}
		for _, n := range names {
			m[n] = &function{name: n}
		}
		return m
	}
	before := of("A.M()", "A.M.lambda_0()", "A+<>c.<N>b__4_0()", "A+<>c__DisplayClass8_0.<P>b__1()", "A.<Q>g__Local|5_0(int)", "A+<R>d__9.MoveNext()",
		"main.run.func9", "main.run.func10", "A.S.lambda_0()", "A.S.lambda_1()", "Gone1()", "Name2()")
	after := of("A.M()", "A.M.lambda_1()", "A+<>c.<N>b__5_0()", "A+<>c__DisplayClass9_0.<P>b__0()", "A.<Q>g__Local|6_0(int)", "A+<R>d__10.MoveNext()",
		"main.run.func10", "main.run.func11", "A.S.lambda_2()", "New1()", "Name3()")
	got := map[string]string{}
	for _, p := range match(before, after) {
		switch {
		case p.before == nil:
			got[p.name] = "new"
		case p.after == nil:
			got[p.name] = "gone"
		default:
			got[p.name] = p.renamed
		}
	}
	want := map[string]string{
		"A.M()": "", "A.M.lambda_1()": "A.M.lambda_0()", "A+<>c.<N>b__5_0()": "A+<>c.<N>b__4_0()",
		"A+<>c__DisplayClass9_0.<P>b__0()": "A+<>c__DisplayClass8_0.<P>b__1()", "A.<Q>g__Local|6_0(int)": "A.<Q>g__Local|5_0(int)",
		"A+<R>d__10.MoveNext()": "A+<R>d__9.MoveNext()", "main.run.func10": "", "main.run.func11": "main.run.func9",
		"A.S.lambda_0()": "gone", "A.S.lambda_1()": "gone", "A.S.lambda_2()": "new",
		"Gone1()": "gone", "New1()": "new", "Name2()": "gone", "Name3()": "new", // numbers of other names have a meaning
	}
	for name, how := range want {
		if g, ok := got[name]; !ok || g != how {
			t.Errorf("%s: %q, want %q", name, g, how)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d functions, want %d: %v", len(got), len(want), got)
	}
}

// hostileNames have characters with a meaning in Markdown, HTML and terminals.
var hostileNames = []string{
	"<script>alert(1)</script>", "a|b|c", "`x` **b** __init__", "</code></details><img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
	"@user #1 https://example.com www.example.com a@example.com", "line\nfeed\r\x1b[31m", "~~s~~ &lt; &amp; $x$ \\| ![i](u)", "\u202egnirts", "```\ncode",
}

// hostile returns a comparison whose names are hostile.
func hostile(t *testing.T) *Comparison {
	before, after := newProfileBuilder(), newProfileBuilder()
	for i := range int64(1000) {
		for j, name := range hostileNames {
			before.add(i, 1, 1e6, name, "main")
			after.add(i, 1, 1e6*int64(1+j%3), name, "main")
		}
	}
	c := Compare(Read(before.profile(true), 1, Accuracy{}), Read(after.profile(true), 1, Accuracy{}), &Options{})
	c.Before.Input, c.After.Input = hostileNames[0], hostileNames[1]
	for _, name := range hostileNames {
		c.Sections = append(c.Sections, Section{Name: "Counters", Rows: []Row{{Name: name, Unit: name, Change: Change{Before: 1, After: 2}}}})
	}
	c.Sort(false)
	return c
}

// Markdown has no markup but its own: after its elements are removed, no character of names has a meaning, and as HTML
// the names are those of the profile.
func TestMarkdownIsSafe(t *testing.T) {
	text := hostile(t).Markdown(0)
	rest := regexp.MustCompile(`</?(code|details|summary)>|<details open>|(?m)^\|(\s*:?-+:?\s*\|)+$|&#\d+;`).ReplaceAllString(text, "")
	rest = regexp.MustCompile(`(?m)^#{3,4} | \| |^\| | \|$|\*\*`).ReplaceAllString(rest, "\n")
	if i := strings.IndexAny(rest, "<>&`[]@\\~$!\x1b\r"); i >= 0 {
		t.Errorf("markup in Markdown: %q", rest[max(0, i-60):min(len(rest), i+60)])
	}
	if strings.Contains(rest, "https:") || strings.Contains(rest, "www.") {
		t.Error("a link in Markdown")
	}
	codes := regexp.MustCompile(`<code>(.*?)</code>`).FindAllStringSubmatch(text, -1)
	for _, name := range hostileNames {
		if !slices.ContainsFunc(codes, func(m []string) bool {
			shown := html.UnescapeString(m[1])
			return shown == name || strings.ContainsAny(name, "\n\x1b\u202e") && !strings.ContainsAny(shown, "\n\x1b\u202e")
		}) {
			t.Errorf("%q is not in the Markdown", name)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := strings.Count(line, "|"); strings.HasPrefix(line, "|") && n != 4 && n != 5 && n != 7 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// Text has at most 100 columns and no control characters, whatever the names are.
func TestTextFits(t *testing.T) {
	for _, c := range []*Comparison{hostile(t), compared(t, typical(5).run(rand.New(rand.NewPCG(1, 1))), typical(5).run(rand.New(rand.NewPCG(2, 2))))} {
		for line := range strings.Lines(c.Text(0)) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > 100 || strings.ContainsAny(line, "\r\x1b\u202e") {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}
