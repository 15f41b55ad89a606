package growth

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretext"
)

// inputsText describes inputs that are text; it explains its format.
//
//go:embed testdata/inputs.txt
var inputsText string

// textHead begins an input or a macro.
var textHead = regexp.MustCompile(`(?m)^(?:# (\S+) (\w+) (\d+)|@(\w+)|(?://.*))\n`)

// textInputs returns the inputs of testdata/inputs.txt whose name has one of the prefixes.
func textInputs(prefixes ...string) (list []Input) {
	macros := map[string]string{}
	heads := textHead.FindAllStringSubmatchIndex(inputsText, -1)
	for i, h := range heads {
		end := len(inputsText)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		body := strings.TrimRight(inputsText[h[1]:end], "\n")
		group := func(g int) string { return inputsText[max(h[2*g], 0):max(h[2*g+1], 0)] }
		if h[8] >= 0 {
			macros[group(4)] = body
		}
		for _, p := range prefixes {
			if h[2] < 0 || !strings.HasPrefix(group(1), p) {
				continue
			}
			n, _ := strconv.Atoi(group(3))
			in := Input{Name: group(1), Ext: group(2), N: n}
			in.Write = func(w io.Writer, n int) error {
				t := template{text: applied(body, macros)}
				t.expand(map[string]int{"n": n}, true)
				out := []byte(t.out.String() + "\n")
				if in.Ext == "nettrace" {
					var err error
					if out, err = wiretext.Assemble(string(out)); err != nil {
						return err
					}
				}
				_, err := w.Write(out)
				return err
			}
			list = append(list, in)
		}
	}
	return list
}

var macroCall = regexp.MustCompile(`\$([a-tvw]\w*|T)\(`)

// applied replaces the calls of macros.
func applied(text string, macros map[string]string) string {
	for {
		call := macroCall.FindStringSubmatchIndex(text)
		if call == nil {
			return text
		}
		end := call[1] + matching(text[call[1]:])
		body := macros[text[call[2]:call[3]]]
		for i, arg := range arguments(text[call[1]:end]) {
			body = strings.ReplaceAll(body, fmt.Sprint("$", i+1), arg)
		}
		text = text[:call[0]] + body + text[end+1:]
	}
}

// matching returns the index of the parenthesis that closes one before s.
func matching(s string) int {
	depth := 1
	return strings.IndexFunc(s, func(c rune) bool {
		depth += strings.Count("(", string(c)) - strings.Count(")", string(c))
		return depth == 0
	})
}

// arguments divides the arguments of a macro, which may contain calls.
func arguments(s string) []string {
	depth, last := 0, 0
	var list []string
	for i, c := range s {
		depth += strings.Count("(", string(c)) - strings.Count(")", string(c))
		if c == ';' && depth == 0 {
			list, last = append(list, s[last:i]), i+1
		}
	}
	return append(list, s[last:])
}

// A template is a text with expressions and loops that is being expanded.
type template struct {
	text string
	out  strings.Builder
}

var directive = regexp.MustCompile(`^\$(\*?<([^|]*)\||>|\(|[xyz]\(|u(16|32)\()`)

// expand expands the text up to the end of a loop, or to its end. Without emit it only skips the text.
func (t *template) expand(vars map[string]int, emit bool) {
	for t.text != "" {
		before, rest, _ := strings.Cut(t.text, "$")
		t.write(before, emit)
		t.text = strings.TrimPrefix(t.text, before)
		m := directive.FindStringSubmatch(t.text)
		if m == nil { // a dollar sign of the text
			t.write(t.text[:min(len(t.text), 1)], emit)
			t.text = rest
			continue
		}
		t.text = t.text[len(m[0]):]
		switch m[1][0] {
		case '>':
			return
		case '<', '*':
			t.loop(vars, m, emit)
		default:
			end := matching(t.text)
			if m[3] != "" && emit {
				size, _ := strconv.Atoi(m[3])
				t.write(hex.EncodeToString(bin.AppendU32(nil, uint32(evaluate(t.text[:end], vars))))[:size/4], true)
				t.text = t.text[end+1:]
				continue
			}
			format := map[byte]string{'(': "%d", 'x': "%x", 'y': "%08x", 'z': "%016x"}[m[1][0]]
			if emit {
				t.write(fmt.Sprintf(format, evaluate(t.text[:end], vars)), true)
			}
			t.text = t.text[end+1:]
		}
	}
}

func (t *template) write(s string, emit bool) {
	if emit {
		t.out.WriteString(s)
	}
}

func (t *template) loop(vars map[string]int, m []string, emit bool) {
	body, count := t.text, 0
	if emit {
		count = evaluate(m[2], vars)
	}
	for i := range count {
		t.text = body
		if i > 0 && m[1][0] == '<' {
			t.out.WriteByte(',')
		}
		t.expand(map[string]int{"n": vars["n"], "k": vars["i"], "i": i}, true)
	}
	if count <= 0 {
		t.expand(vars, false)
	}
}

// evaluate returns the value of an expression.
func evaluate(text string, vars map[string]int) int {
	e, err := parser.ParseExpr(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err)) // a mistake in testdata/inputs.txt
	}
	return value(e, vars)
}

func value(e ast.Expr, vars map[string]int) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return value(e.X, vars)
	case *ast.Ident:
		return vars[e.Name]
	case *ast.BasicLit:
		n, _ := strconv.ParseInt(e.Value, 0, 64)
		return int(n)
	}
	b := e.(*ast.BinaryExpr)
	x, y := value(b.X, vars), value(b.Y, vars)
	return map[token.Token]func() int{
		token.ADD: func() int { return x + y }, token.SUB: func() int { return x - y }, token.MUL: func() int { return x * y },
		token.QUO: func() int { return x / y }, token.REM: func() int { return x % y },
	}[b.Op]()
}
