// Package agreement compares what the outputs of a trace state about it: the same pauses, waits, allocations, spans and
// samples appear in profiles, timelines, tables and reports, and must be equal.
//
// One function per output reads it with code other than the one that wrote it, and returns an Answer: the facts that
// the output states. Compare compares all answers about one trace. Differences on purpose are listed in a table of
// docs/agreement.md, which Page reads.
package agreement

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Fact is a number that an output states about a trace, such as the time of garbage collections of generation 2.
type Fact struct {
	Name string // for example "gc pause time"
	By   string // what the number is restricted by, for example "generation"; empty for totals
	Key  string // for example "gen2"
}

// Statement returns the name of the fact without the key, such as "gc pause time by generation".
func (f Fact) Statement() string {
	if f.By == "" {
		return f.Name
	}
	return f.Name + " by " + f.By
}

// A Value is the value of a fact. Integer facts have F = 0, others N = 0.
type Value struct {
	N     int64 // nanoseconds, bytes or a count
	F     float64
	Items int64 // how many numbers were added up
}

func (v Value) String() string {
	if v.F != 0 {
		return strconv.FormatFloat(v.F, 'g', -1, 64)
	}
	return strconv.FormatInt(v.N, 10)
}

// distance returns by how much two values differ.
func (v Value) distance(w Value) float64 { return math.Abs(float64(v.N-w.N) + (v.F - w.F)) }

// An Answer is what one output states about a trace.
type Answer struct {
	Output string
	facts  map[Fact]Value
	stated map[string]bool // by Fact.Statement
}

// NewAnswer returns the answer of an output that states the given facts, even if it then mentions none of them: what it
// does not mention is 0.
func NewAnswer(output string, statements ...string) *Answer {
	a := &Answer{Output: output, facts: map[Fact]Value{}, stated: map[string]bool{}}
	for _, s := range statements {
		a.stated[s] = true
	}
	return a
}

// add adds n to a fact.
func (a *Answer) add(f Fact, n int64) {
	v := a.facts[f]
	a.set(f, Value{N: v.N + n, Items: v.Items + 1})
}

func (a *Answer) set(f Fact, v Value) {
	a.stated[f.Statement()] = true
	a.facts[f] = v
}

// total adds n to a fact without a key, and to the same fact for each key that is not empty.
func (a *Answer) total(name string, n int64, keys map[string]string) {
	a.add(Fact{Name: name}, n)
	for by, key := range keys {
		if key != "" {
			a.add(Fact{name, by, key}, n)
		}
	}
}

// Compare returns the differences between answers about one trace, one line per fact, without those that the page
// lists. name is the name of the trace.
func Compare(name string, answers []*Answer, page *Page) (differences []string) {
	facts := map[Fact]bool{}
	for _, a := range answers {
		for f := range a.facts {
			facts[f] = true
		}
	}
	byStatement := map[string][]string{}
	for _, f := range slices.SortedFunc(maps.Keys(facts), func(a, b Fact) int { return strings.Compare(a.Key, b.Key) }) {
		if line := compareFact(name, f, answers, page); line != "" {
			byStatement[f.Statement()] = append(byStatement[f.Statement()], line)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(byStatement)) {
		lines := byStatement[s]
		if n := len(lines) - maxKeys; n > 0 {
			lines = append(lines[:maxKeys], fmt.Sprintf("%s: %s: %d more", name, s, n))
		}
		differences = append(differences, lines...)
	}
	return differences
}

// maxKeys is the maximum number of keys of a fact that Compare lists.
const maxKeys = 3

// compareFact returns a line with the values of a fact if two answers differ, and "" otherwise.
func compareFact(name string, f Fact, answers []*Answer, page *Page) string {
	statement, differ := f.Statement(), false
	byValue := map[string][]string{}
	var stating []*Answer
	for _, a := range answers {
		if a.stated[statement] {
			stating = append(stating, a)
			byValue[a.facts[f].String()] = append(byValue[a.facts[f].String()], a.Output)
		}
	}
	for i, a := range stating {
		for _, b := range stating[:i] {
			d := a.facts[f].distance(b.facts[f])
			if d != 0 && !page.allows(name, statement, a.Output, b.Output, d, max(a.facts[f].Items, b.facts[f].Items), a.facts[f]) {
				differ = true
			}
		}
	}
	if !differ {
		return ""
	}
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(byValue)) {
		parts = append(parts, v+" ("+strings.Join(byValue[v], ", ")+")")
	}
	what := statement
	if f.Key != "" {
		what += " " + strconv.Quote(f.Key)
	}
	return fmt.Sprintf("%s: %s: %s", name, what, strings.Join(parts, ", "))
}
