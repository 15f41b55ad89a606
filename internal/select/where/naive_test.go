package where

import (
	"bytes"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"pgregory.net/rapid"
)

// naive evaluates a node without any preparation: it looks up names and converts values for each event again.
func naive(x *Expr, n *node, e *ntconv.Event, clock ntconv.Clock) bool {
	switch n.kind {
	case nodeAnd:
		return naive(x, n.left, e, clock) && naive(x, n.right, e, clock)
	case nodeOr:
		return naive(x, n.left, e, clock) || naive(x, n.right, e, clock)
	case nodeNot:
		return !naive(x, n.left, e, clock)
	}
	t := x.tests[n.test]
	return slices.ContainsFunc(naiveValues(t, e, clock), func(v any) bool { return naiveTest(t, v) })
}

// nan represents NaN, which big.Float does not have.
type nan struct{}

// naiveValues returns the values of an operand, with lists flattened: *big.Float, string, bool, ntconv.GUID, time.Time,
// time.Duration, nan, or nil for a value that only has can test.
func naiveValues(t *test, e *ntconv.Event, clock ntconv.Clock) []any {
	exact := func(n uint64) []any { return []any{new(big.Float).SetPrec(200).SetUint64(n)} }
	switch t.attr {
	case attrTime:
		return []any{clock.Since(clock.Tick, e.Time)}
	case attrTID:
		if e.Thread.TID != ntconv.TIDUnknown {
			return exact(e.Thread.TID)
		}
		return nil
	case attrSize:
		return exact(uint64(len(e.Payload)))
	case attrKeywords:
		return exact(e.Keywords())
	case attrProvider:
		return []any{e.Type.Provider}
	case attrNone:
		return naiveFields(e.Fields(), t.path, t.op == opHas)
	}
	panic("unexpected property")
}

func naiveFields(fields func(func(*ntconv.Field, ntconv.Value) bool), path []string, has bool) []any {
	for n := len(path); n > 0; n-- {
		name := strings.Join(path[:n], ".")
		for f, v := range fields {
			if f.Name != name {
				continue
			}
			if n == len(path) {
				return naiveFlat(v, nil, has)
			}
			if out := naiveFlat(v, path[n:], has); out != nil {
				return out
			}
			break
		}
	}
	for f, v := range fields {
		if f.Name == "" && (v.Kind() == ntconv.ValueObject || v.Kind() == ntconv.ValueList) {
			if out := naiveFlat(v, path, has); out != nil {
				return out
			}
		}
	}
	return nil
}

func naiveFlat(v ntconv.Value, path []string, has bool) (out []any) {
	switch v.Kind() {
	case ntconv.ValueNull, ntconv.ValueError:
		return nil
	case ntconv.ValueList:
		if has && path == nil {
			out = append(out, nil)
		}
		for e := range v.Elems() {
			out = append(out, naiveFlat(e, path, has)...)
		}
		return out
	case ntconv.ValueObject:
		if path == nil {
			return []any{nil}
		}
		return naiveFields(v.Fields(), path, has)
	}
	if path != nil {
		return nil
	}
	switch v.Kind() {
	case ntconv.ValueBool:
		return []any{v.Bool()}
	case ntconv.ValueInt:
		return []any{new(big.Float).SetPrec(200).SetInt64(v.Int())}
	case ntconv.ValueUint:
		return []any{new(big.Float).SetPrec(200).SetUint64(v.Uint())}
	case ntconv.ValueFloat:
		if v.Float() != v.Float() {
			return []any{nan{}}
		}
		return []any{new(big.Float).SetPrec(200).SetFloat64(v.Float())}
	case ntconv.ValueString:
		return []any{v.String()}
	case ntconv.ValueGUID:
		return []any{v.GUID()}
	case ntconv.ValueTime:
		return []any{v.Time()}
	}
	return []any{nil}
}

func naiveTest(t *test, v any) bool {
	if t.op == opHas {
		return true
	}
	for i := range t.lits {
		if naiveCompare(t, v, &t.lits[i]) {
			return true
		}
	}
	return false
}

func naiveCompare(t *test, v any, l *literal) bool {
	by := func(c int) bool {
		return map[op]bool{opEq: c == 0, opIn: c == 0, opNe: c != 0, opLt: c < 0, opLe: c <= 0, opGt: c > 0, opGe: c >= 0}[t.op]
	}
	same := t.op == opEq || t.op == opIn || t.op == opNe
	switch v := v.(type) {
	case *big.Float:
		return l.kind == litNumber && by(v.Cmp(naiveNumber(l)))
	case bool:
		one := big.NewFloat(0)
		if v {
			one = big.NewFloat(1)
		}
		if l.kind == litNumber {
			return by(one.Cmp(naiveNumber(l)))
		}
		return l.kind == litBool && same && (v == l.yes) == (t.op != opNe)
	case string:
		if t.op == opMatch {
			return regexp.MustCompile(l.text).MatchString(v)
		}
		return l.kind == litString && by(strings.Compare(v, l.text))
	case ntconv.GUID:
		if t.op == opMatch {
			return regexp.MustCompile(l.text).MatchString(v.String())
		}
		g, err := ntconv.ParseGUID(l.text)
		return l.kind == litString && err == nil && same && by(bytes.Compare(v[:], g[:]))
	case time.Time:
		d, err := time.Parse(time.RFC3339Nano, l.text)
		return l.kind == litString && err == nil && by(v.Compare(d))
	case nan:
		return l.kind == litNumber && t.op == opNe
	case time.Duration:
		return by(new(big.Int).SetInt64(int64(v)).Cmp(new(big.Int).SetInt64(int64(l.dur))))
	}
	return false
}

func naiveNumber(l *literal) *big.Float {
	text := l.String()
	if strings.ContainsAny(text, ".e") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		return big.NewFloat(f)
	}
	f, _, err := big.ParseFloat(text, 10, 200, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

// drawn generates expressions about the contents of the events of a trace.
type drawn struct {
	t      *rapid.T
	events []*ntconv.Event
}

func (d *drawn) expr(depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(d.t, "node") {
		case 0:
			return "(" + d.expr(depth-1) + ") && (" + d.expr(depth-1) + ")"
		case 1:
			return "(" + d.expr(depth-1) + ") || (" + d.expr(depth-1) + ")"
		case 2:
			return "!(" + d.expr(depth-1) + ")"
		}
	}
	return d.test()
}

func (d *drawn) test() string {
	e := rapid.SampledFrom(d.events).Draw(d.t, "event")
	switch rapid.IntRange(0, 9).Draw(d.t, "operand") {
	case 0:
		return "$time " + d.order() + " " + time.Duration(e.Time).String()
	case 1:
		return "$tid " + d.order() + " " + strconv.FormatUint(e.Thread.TID, 10)
	case 2:
		return "$size " + d.order() + " " + strconv.Itoa(len(e.Payload))
	case 3:
		return "$keywords " + d.order() + " " + strconv.FormatUint(e.Keywords(), 10)
	case 4:
		return "$provider " + d.order() + " " + strconv.Quote(e.Type.Provider)
	}
	path, v := d.field(e.Fields(), e)
	if path == "" {
		return "has(Nothing)"
	}
	if rapid.IntRange(0, 5).Draw(d.t, "has") == 0 {
		return "has(" + path + ")"
	}
	if v.Kind() == ntconv.ValueString && rapid.IntRange(0, 2).Draw(d.t, "match") == 0 {
		return path + " =~ " + strconv.Quote(regexp.QuoteMeta(strings.ToValidUTF8(v.String(), "")))
	}
	lits := []string{d.literal(v), "7", "-2.5", "true", `"x"`, `"` + guid + `"`, `"2026-11-21T06:00:00Z"`, "18446744073709551615"}
	one := func() string {
		if rapid.Bool().Draw(d.t, "own") {
			return lits[0]
		}
		return rapid.SampledFrom(lits).Draw(d.t, "literal")
	}
	if rapid.IntRange(0, 4).Draw(d.t, "in") == 0 {
		return path + " in (" + one() + ", " + one() + ")"
	}
	return path + " " + d.order() + " " + one()
}

func (d *drawn) order() string {
	return rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(d.t, "order")
}

// field returns the path to a field, and one of its values.
func (d *drawn) field(fields func(func(*ntconv.Field, ntconv.Value) bool), e *ntconv.Event) (string, ntconv.Value) {
	var names []string
	var values []ntconv.Value
	for f, v := range fields {
		names, values = append(names, f.Name), append(values, v)
	}
	if len(names) == 0 {
		return "", ntconv.Value{}
	}
	i := rapid.IntRange(0, len(names)-1).Draw(d.t, "field")
	path, v := strconv.Quote(names[i]), values[i]
	for v.Kind() == ntconv.ValueList {
		var first ntconv.Value
		for first = range v.Elems() {
			break
		}
		v = first
	}
	if v.Kind() == ntconv.ValueObject && rapid.IntRange(0, 4).Draw(d.t, "stop") > 0 {
		if rest, inner := d.field(v.Fields(), e); rest != "" {
			return path + "." + rest, inner
		}
	}
	return path, v
}

func (d *drawn) literal(v ntconv.Value) string {
	switch v.Kind() {
	case ntconv.ValueBool, ntconv.ValueInt, ntconv.ValueUint:
		return v.String()
	case ntconv.ValueFloat:
		if f := v.Float(); f-f == 0 { // finite
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return "0"
	case ntconv.ValueGUID, ntconv.ValueTime, ntconv.ValueString:
		return strconv.Quote(v.String())
	}
	return "0"
}

// A Matcher agrees with naive about every event.
func TestMatchesNaive(t *testing.T) {
	held, failed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		d := &drawn{t: t}
		for _, e := range tr.Events {
			if e.Kind == ntconv.KindEvent {
				d.events = append(d.events, e)
			}
		}
		if len(d.events) == 0 {
			return
		}
		x, err := Parse(d.expr(3))
		if err != nil {
			t.Fatal(err)
		}
		m, err := x.Bind(tr.Info.Clock)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.events {
			want := naive(x, x.root, e, tr.Info.Clock)
			if got := m.Match(e); got != want {
				t.Fatalf("%v: %v for %s/%d", x, got, e.Type.Provider, e.Type.ID)
			}
			if want {
				held++
			} else {
				failed++
			}
		}
	})
	if held == 0 || failed == 0 {
		t.Errorf("%d held and %d did not, which shows nothing", held, failed)
	}
}
