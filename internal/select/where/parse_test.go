package where

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// equalNodes reports whether two expressions are the same tree with the same tests.
func equalNodes(x, y *Expr, a, b *node) bool {
	if a == nil || b == nil || a.kind != b.kind {
		return a == b
	}
	if a.kind == nodeTest {
		return equalTests(x.tests[a.test], y.tests[b.test])
	}
	return equalNodes(x, y, a.left, b.left) && equalNodes(x, y, a.right, b.right)
}

func equalTests(a, b *test) bool {
	return a.op == b.op && a.attr == b.attr && slices.Equal(a.path, b.path) && (a.re == nil) == (b.re == nil) &&
		slices.EqualFunc(a.lits, b.lits, func(a, b literal) bool {
			return a.kind == b.kind && a.num == b.num && a.text == b.text && a.dur == b.dur && a.yes == b.yes
		})
}

func equalExprs(x, y *Expr) bool {
	return len(x.tests) == len(y.tests) && equalNodes(x, y, x.root, y.root)
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`Size>1000`:                          `Size > 1000`,
		`a==1||b==2&&c==3`:                   `a == 1 || b == 2 && c == 3`,
		`(a==1||b==2)&&c==3`:                 `(a == 1 || b == 2) && c == 3`,
		`a==1&&(b==2&&c==3)`:                 `a == 1 && (b == 2 && c == 3)`,
		`(a==1&&b==2)&&c==3`:                 `a == 1 && b == 2 && c == 3`,
		`!a==1 && !!(b == 2)`:                `!(a == 1) && !!(b == 2)`,
		`a in (1,"x", true)`:                 `a in (1, "x", true)`,
		`has(a.b)`:                           `has(a.b)`,
		`has($label.http.method)`:            `has($label."http.method")`,
		`$label."a b" == 'it"s'`:             `$label."a b" == "it\"s"`,
		`"field with spaces"."x".y >= -1.50`: `"field with spaces".x.y >= -1.5`,
		`"in" == 0x1F`:                       `"in" == 31`,
		`a.in == 1 && has("has")`:            `a."in" == 1 && has("has")`,
		`$time < 1m30s`:                      `$time < 1m30s`,
		`$time >= "2026-11-21T06:52:53Z"`:    `$time >= "2026-11-21T06:52:53Z"`,
		`a == 1e3 || a < 1.5e-3`:             `a == 1000 || a < 0.0015`,
		`a == 18446744073709551615`:          `a == 18446744073709551615`,
		`a == -9223372036854775808`:          `a == -9223372036854775808`,
		`a == 1e+30`:                         `a == 1e+30`,
		`a == -0.0`:                          `a == 0`,
		`Größe == 1`:                         `Größe == 1`,
		`a =~ '^\\d+$'`:                      `a =~ "^\\d+$"`,
		`a == "\xff\u00e9\n"`:                `a == "\xffé\n"`,
	} {
		x, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if x.String() != want || x.Text() != text {
			t.Errorf("%s: printed as %s, want %s", text, x, want)
		}
		again, err := Parse(x.String())
		if err != nil || !equalExprs(x, again) {
			t.Errorf("%s: %v parses to a different expression: %v", text, x, err)
		}
	}
}

// An error has the position of the mistake.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		pos  int // counted from 1, as the message does
		want string
	}{
		{``, 1, "empty"},
		{`   `, 1, "empty"},
		{`Size`, 5, "has(Size)"},
		{`Size = 5`, 6, "equality is =="},
		{`Size >< 5`, 7, "want a number"},
		{`a == 1 & b == 2`, 8, "and is &&"},
		{`a == 1 b == 2`, 8, "want && or ||"},
		{`a == foo`, 6, `"foo"`},
		{`a == $tid`, 6, `on the right`},
		{`5 < a`, 1, "on the left"},
		{`(a == 1`, 1, "missing"},
		{`a == 1)`, 7, "want && or ||"},
		{`(a == 1 5`, 9, "want )"},
		{`a == "x`, 6, `missing "`},
		{`a == "\q"`, 7, "escape"},
		{`a =~ "("`, 6, "missing closing )"},
		{`é =~ "("`, 6, "missing closing )"},
		{`a =~ 5`, 6, "regular expression"},
		{`a == 1x`, 6, "neither a number"},
		{`a == 0xfffffffffffffffff`, 6, "64 bits"},
		{`a == 1e999`, 6, "too large"},
		{`a == 5s`, 6, "units"},
		{`a in 5`, 6, "want ("},
		{`a in ()`, 7, "want a number"},
		{`a in (1 2)`, 9, "want )"},
		{`has`, 1, "has(FIELD)"},
		{`has()`, 5, "want a field"},
		{`true == 1`, 1, "reserved word"},
		{`$foo == 1`, 1, "$time $tid"},
		{`$ == 1`, 1, "unknown property"},
		{`$label == 1`, 8, "key"},
		{`$label. == 1`, 9, "name"},
		{`a. == 1`, 4, "name"},
		{`$tid == "x"`, 9, "number"},
		{`$provider == 5`, 14, "string"},
		{`$provider in ("a", 5)`, 20, "string"},
		{`$time > 5`, 9, "duration"},
		{`$time > "today"`, 9, "duration"},
		{`$time =~ "x"`, 10, "not a string"},
		{`!`, 2, "want a field"},
		{`a == 1 &&`, 10, "want a field"},
		{`a == #`, 6, "unexpected"},
		{strings.Repeat("(", 300) + "a == 1" + strings.Repeat(")", 300), 201, "nested"},
		{strings.Repeat("!", 300) + "a == 1", 201, "consecutive !"},
		{strings.Repeat(" ", maxText) + "a == 1", 1, "too long"},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%.40s: %v, want %s", c.text, err, c.want)
			continue
		}
		lines := strings.Split(e.Error(), "\n")
		if at := len(lines[len(lines)-1]) - 2; at != c.pos {
			t.Errorf("%.40s: the caret is at %d, want %d:\n%v", c.text, at, c.pos, e)
		}
	}
}

func TestErrorIsReadable(t *testing.T) {
	_, err := Parse("größe >\t< 5")
	want := "position 9: want a number, a string in quotes or a duration, got \"<\"\n  größe > < 5\n          ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// A long chain does not count as nesting.
func TestLongChain(t *testing.T) {
	text := "a == 1" + strings.Repeat(" && a == 1", 5000)
	x, err := Parse(text)
	if err != nil || x.String() != text {
		t.Errorf("%v", err)
	}
}

// Parsing a printed expression yields an equal expression, and no input makes the parser panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`Size > 1000 && (TypeName =~ "x" || !has(a.b))`, `$time <= 1.5ms || $label.a.b in (1, -2.5, 0xff, 'x')`, `"a b".c != true`,
		`a == 1e300 && $trace_id == "AB"`, `$time > "2026-11-21T06:52:53.5+01:00"`, "a==\"\\xff\\u1234\"", `((a == -0.0))`, `a == 1 &`, `!!!a<1`,
		`has("")`, `a == 0x`, `a == -5h3m`, `é.ü == "\"" || "\n" == '\''`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(text) || e.Error() == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(x.String())
		// The printed form may exceed the limits: it is longer, and each not adds parentheses.
		if err != nil && len(x.String()) <= maxText && strings.Count(text, "(") < maxDepth {
			t.Fatalf("%q: printed as %s, which is refused: %v", text, x, err)
		}
		if err == nil && (!equalExprs(x, again) || again.String() != x.String()) {
			t.Fatalf("%q: printed as %s, read as %s", text, x, again)
		}
	})
}
