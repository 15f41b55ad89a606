package callgrind

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// stack returns frames, leaf first, from names with lines: "leaf:3 caller:7".
func stack(functions map[string]*ntconv.Function, words ...string) (frames []ntconv.Frame) {
	for _, w := range words {
		name, line, _ := strings.Cut(w, ":")
		f := functions[name]
		if f == nil {
			f = &ntconv.Function{Name: name, File: "shop.cs"}
			functions[name] = f
		}
		frame := ntconv.Frame{Func: f, Mapping: &ntconv.Mapping{File: "/opt/shop.dll"}}
		for _, d := range line {
			frame.Line = frame.Line*10 + d - '0'
		}
		frames = append(frames, frame)
	}
	return frames
}

func write(t *testing.T, g *graph, p *profile.Profile) string {
	t.Helper()
	var out bytes.Buffer
	e := newEncoder(&out, g, p)
	e.header([]string{"one\ntwo"})
	for i := range g.functions {
		e.function(&g.functions[i])
	}
	e.footer()
	if err := e.flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The file has the own costs by line, the calls by line and callee, and the main type first. Direct recursion adds no
// call, and a function that is called twice in a stack has the cost of one call.
func TestFile(t *testing.T) {
	g, functions := newGraph(2), map[string]*ntconv.Function{}
	g.add(stack(functions, "add:3", "main:9"), []int64{1, 50})
	g.add(stack(functions, "add:4", "main:9"), []int64{1, 70})
	g.add(stack(functions, "walk:6", "walk:5", "walk:5", "main:8"), []int64{2, 10})
	g.add(stack(functions, "add:3", "walk:5", "add:4", "main:8"), []int64{1, 5})
	g.add(nil, []int64{1, 1})
	g.add([]ntconv.Frame{{Func: &ntconv.Function{Name: "(12) odd\nname"}}, {}}, []int64{1, -4})
	got := write(t, g, &profile.Profile{
		Types: []sample.Type{{Type: "samples", Unit: "count"}, {Type: "wall time", Unit: "nano\nseconds"}}, Main: 1,
	})
	const want = `# callgrind format
version: 1
creator: ntconv
desc: Unit: wall_time in nano seconds
desc: Unit: samples in count
desc: Comment: one two
positions: line
events: wall_time samples
summary: 136 7

fl=(1) ???
fn=(1) (root)
cob=(1) /opt/shop.dll
cfi=(2) shop.cs
cfn=(2) main
calls=1 0
0 135 5
cfn=(3) [no stack]
calls=1 0
0 1 1
cfn=(4) (no name)
calls=1 0
0 0 1

ob=(1)
fl=(2)
fn=(2)
cfn=(5) add
calls=1 0
8 5 1
cfn=(6) walk
calls=1 0
8 10 2
cfn=(5)
calls=1 0
9 120 2

fl=(2)
fn=(5)
3 55 2
4 70 1
cfn=(6)
calls=1 0
4 5 1

fl=(2)
fn=(6)
6 10 2

ob=(2) ???
fl=(1)
fn=(3)
0 1 1

fl=(1)
fn=(4)
cfn=(7) (12) odd name
calls=1 0
0 0 1

fl=(1)
fn=(7)
0 0 1

totals: 136 7
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if g.negative != 1 {
		t.Errorf("%d negative values, want 1", g.negative)
	}
}

// The calls to a function add up to the samples that it is in, and own costs to all samples: also if functions call
// themselves by way of others.
func TestCostsOfCalls(t *testing.T) {
	g, functions := newGraph(1), map[string]*ntconv.Function{}
	stacks := [][]string{{"c:1", "a:2", "b:3", "a:4"}, {"a:1", "b:2", "c:3"}, {"b:1"}, {"b:9", "b:1", "c:1"}}
	want := map[string]int64{}
	for i, words := range stacks {
		v := int64(1) << i
		g.add(stack(functions, words...), []int64{v})
		seen := map[string]bool{}
		for _, w := range words {
			if name := w[:1]; !seen[name] {
				seen[name] = true
				want[name] += v
			}
		}
	}
	got, own := map[string]int64{}, int64(0)
	for i := range g.functions {
		for _, c := range g.functions[i].costs {
			if c.callee == 0 {
				own += c.values[0]
			} else {
				got[g.functions[c.callee-1].name] += c.values[0]
			}
		}
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("calls of %s: %d, want %d", name, got[name], v)
		}
	}
	if own != 15 || g.totals[0] != 15 {
		t.Errorf("own costs %d, total %d, want 15", own, g.totals[0])
	}
}

// Names that are equal in the file are one function: readers know only the text, and would count a call between the two
// twice.
func TestNamesOnOneLine(t *testing.T) {
	g := newGraph(1)
	frame := func(name, file string) ntconv.Frame {
		return ntconv.Frame{Func: &ntconv.Function{Name: name, File: file}}
	}
	g.add([]ntconv.Frame{frame("a\nb", "x\t.cs"), frame("a b", "x .cs"), frame("main", "")}, []int64{3})
	g.add([]ntconv.Frame{frame("", ""), frame("(no name)", "???")}, []int64{4})
	got := write(t, g, &profile.Profile{Types: []sample.Type{{Type: "samples", Unit: "count"}}})
	if n := strings.Count(got, "calls="); n != 3 || g.count() != 3 {
		t.Errorf("%d calls of %d functions:\n%s", n, g.count(), got)
	}
}

// Names of events consist of letters, digits and underscores, and are distinct.
func TestEventNames(t *testing.T) {
	got := strings.Join(eventNames([]string{"wall", "a b", "a-b", "1st", "", "inuse_space#2"}), " ")
	if want := "wall a_b a_b_ e_1st e_ inuse_space_2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
