package dotnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A spelled is a call of a function of the package, with its arguments.
type spelled struct{ Call, A, B, C string }

// repeated lists names in which a part is repeated n times. % represents n copies of the text in the braces after it.
var repeated = []spelled{
	{"pretty", "N", "m", "void (%{a,}a)"},
	{"pretty", "N", "m", "void (%{a,}a%{ })"},
	{"pretty", "N", "m", "void (%{ a ,}a%{ })%{ }"},
	{"pretty", "N", "m", "void (%{,})"},
	{"pretty", "N", "m", "void (%{(}%{)})"},
	{"pretty", "N", "m", "void (%{(})"},
	{"pretty", "N", "m", "%{(}void (%{)}"},
	{"pretty", "N", "m", "void (%{A<}B%{>})"},
	{"pretty", "N", "m", "void (%{A`1<B,}%{>})"},
	{"pretty", "N", "m", "void (%{A`1<}B%{,B>})"},
	{"pretty", "N", "m", "void (%{class A<B[]>&,}B)"},
	{"pretty", "N", "m", "void (A%{[]}&)"},
	{"pretty", "N", "m", "void (A%{[,,]})"},
	{"pretty", "N", "m", "void (A[%{,}])"},
	{"pretty", "N", "m", "void (A%{*}%{ }&)"},
	{"pretty", "N", "m", "void (A%{ modreq(B)})"},
	{"pretty", "N", "m", "void (A%{ modreq(})"},
	{"pretty", "N", "m", "void (%{class }A)"},
	{"pretty", "N", "m", "void (%{value class }A)"},
	{"pretty", "N", "m", "void (%{required_modifier A }B)"},
	{"pretty", "N", "m", "void (%{unsigned })"},
	{"pretty", "N", "m", "void (%{native }int)"},
	{"pretty", "N", "m", "void (%{[A]}B)"},
	{"pretty", "N", "m", "void (%{[A]B,}C)"},
	{"pretty", "N", "m", "void (%{[[A], B],}C)"},
	{"pretty", "N", "m", "void (%{pMT: 0x1<}A%{>})"},
	{"pretty", "N", "m", "void (%{pMT: 0x1,}A)"},
	{"pretty", "N", "m", "void (%{fnptr void(}A%{)})"},
	{"pretty", "N", "m", "void (%{fnptr })"},
	{"pretty", "N", "m", "void (%{A /* x */<B>,}A)"},
	{"pretty", "N", "m", "void (A%{ /* })"},
	{"pretty", "N", "m", "void (%{!!1,}!!1)"},
	{"pretty", "N", "m", "void (%{!!})"},
	{"pretty", "N", "m", "void (!!%{0})"},
	{"pretty", "N`1[%{A}]", "m", "void (%{!0,}!0)"},
	{"pretty", "N`1[%{A,}A]", "m", "void (%{!0,}!0)"},
	{"pretty", "N", "m", "%{generic }void ()"},
	{"pretty", "N", "m", "void (System.ValueTuple`2<%{A,}A>)"},
	{"pretty", "N", "m", "void (%{System.Nullable`1<}A%{>})"},
	{"pretty", "N", "m", "void (%{A/}B)"},
	{"pretty", "N", "m", "void (%{A.}B)"},
	{"pretty", "N", "m", "void (%{A+}B`1<C>)"},
	{"pretty", "N", "m", "void (%{<<a>b__0>d/}B)"},
	{"pretty", "N", "m", "void (%{A`255,}A)"},
	{"pretty", "N", "m", "void %{x}"},
	{"pretty", "N", "m", "%{ }"},
	{"pretty", "%{A+}B`1", "m", "void ()"},
	{"pretty", "%{A`1+}B", "m", "void ()"},
	{"pretty", "%{A`1+}B[%{A,}C]", "m", "void ()"},
	{"pretty", "%{A`255+}B", "m", "void ()"},
	{"pretty", "%{A`+}B`1", "m", "void ()"},
	{"pretty", "%{`}", "m", "void ()"},
	{"pretty", "%{A.}B", "m", "void ()"},
	{"pretty", "%{+}", "m", "void ()"},
	{"pretty", "%{\\}", "m", "void ()"},
	{"pretty", "%{<}", "m", "void ()"},
	{"pretty", "A+%{<}a%{>d__1}", "MoveNext", "void ()"},
	{"pretty", "A%{+<>c}", "<M>b__0", "void ()"},
	{"pretty", "A%{+<>c__DisplayClass1_0`1}[%{A,}A]", "<M>b__0", "void ()"},
	{"pretty", "A%{+<M>d__1`1}[%{A,}A]", "MoveNext", "void ()"},
	{"pretty", "A%{+<>c`1}+B[%{A,}A]", "M", "void ()"},
	{"pretty", "A%{+<F>FAB__T}", "M", "void ()"},
	{"pretty", "%{A[}%{]}", "m", "void ()"},
	{"pretty", "A[%{[B, C],}[B, C]]", "m", "void ()"},
	{"pretty", "A[%{System.__Canon,}B]", "m", "void ()"},
	{"pretty", "dynamicClass", "%{`1}", "void ()"},
	{"pretty", "N", "%{`255}", "void ()"},
	{"pretty", "N", "%{`9}", "void ()"},
	{"pretty", "N", "%{A.}B", "void ()"},
	{"pretty", "N", "%{A<}B%{>}.C", "void ()"},
	{"pretty", "N", "%{<}a%{>b__0}", "void ()"},
	{"pretty", "N", "%{<}a%{>g__L|0_0}", "void ()"},
	{"pretty", "N", "%{<A.}a%{>b__0}", "void ()"},
	{"pretty", "N", "<%{A.}B>b__0", "void ()"},
	{"pretty", "N", "<%{-}>d__0", "void ()"},
	{"pretty", "N", "<M>b__%{_}", "void ()"},
	{"pretty", "N", "<M>F%{A}", "void ()"},
	{"pretty", "N", "<M>%{b}", "void (%{<>c__DisplayClass1_0&,}A)"},
	{"pretty", "N", "m[%{A,}B]", "void (%{!!0,}!!0)"},
	{"pretty", "N", "m[%{A<!!0,!!0>,}B]", "void ()"},
	{"pretty", "N", "m%{[A]}", "void ()"},
	{"raw", "%{A}", "%{b}", "%{(}"},
	{"symbol", "void %{[A}]%{ }B::C(int32)[T]", "", ""},
	{"symbol", "void%{ [A} ]x[T]", "", ""},
	{"symbol", "void%{ [A]}x[T]", "", ""},
	{"symbol", "void%{ [} [A] B::C()[T]", "", ""},
	{"symbol", "void [A] B::C%{[}[T]", "", ""},
	{"symbol", "void [A] B::C(%{int32,}int32)[T]", "", ""},
	{"symbol", "void [A] %{B/}C::D(valuetype [E]%{F/}G)[T]", "", ""},
	{"symbol", "%{void }[A] B::C%{::}()[T]", "", ""},
	{"symbol", "%{]}", "", ""},
	{"symbol", "%{[]}", "", ""},
	{"symbol", "%{ }[T]", "", ""},
	{"split", "%{a.}x", "%{a.}y", ""},
	{"split", "%{a.}x", "%{a.}%{b.}y", ""},
	{"split", "%{a<}", "%{a+}b", ""},
	{"split", "%{a.}", "%{a+}b.c", ""},
	{"split", "%{A.}B(%{(})", "%{A.}B(%{)})", ""},
	{"split", "%{.}", "%{.}", ""},
	{"split", "%{A}", "%{<}%{A.}", ""},
	{"split", "x", "%{::}", ""},
	{"split", "x", "%{!}", ""},
	{"module", "%{/}%{a}%{.dll}", "", ""},
}

// copies returns a pattern with n copies of its repeated part.
func copies(pattern string, n int) string {
	for {
		before, rest, ok := strings.Cut(pattern, "%{")
		if !ok {
			return pattern
		}
		text, after, _ := strings.Cut(rest, "}")
		pattern = before + strings.Repeat(text, n) + after
	}
}

// The number of steps for a name is proportional to its length, regardless of the repeated part.
func TestGrowth(t *testing.T) {
	const n = 4000
	var names []spelled
	for _, r := range repeated {
		for _, n := range []int{n, 2 * n} {
			names = append(names, spelled{r.Call, copies(r.A, n), copies(r.B, n), copies(r.C, n)})
		}
	}
	steps := countSteps(t, names)
	for i, r := range repeated {
		small, large := steps[2*i], steps[2*i+1]
		if ratio := float64(large) / float64(small); ratio > 2.2 {
			t.Errorf("%s %q %q %q: %d steps for %d copies, %d for twice as many", r.Call, r.A, r.B, r.C, small, n, large)
		}
	}
}

// countSteps returns the steps of calls: executed blocks, bytes that functions of package strings examine, and one step
// per 8 allocated bytes.
func countSteps(t *testing.T, names []spelled) (steps []int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/steps")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dotnet"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			write(filepath.Join("dotnet", file), counted(t, file))
		}
	}
	write("dotnet/steps.go", []byte("package dotnet\n\nvar Steps int\n"))
	write("go.mod", []byte("module steps\n\ngo 1.26\n"))
	build := exec.Command("go", "build", "-o", "steps.exe", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	in, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(filepath.Join(dir, "steps.exe"))
	run.Stdin, run.Stderr = bytes.NewReader(in), os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &steps); err != nil || len(steps) != len(names) {
		t.Fatalf("%v: %d counts of %d names", err, len(steps), len(names))
	}
	return steps
}

// counted returns a source file in which every block counts its executions, and package strings is the one in testdata.
func counted(t *testing.T, file string) []byte {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		if spec.Path.Value == `"strings"` {
			spec.Path.Value = `"steps/strings"`
		}
	}
	step := func(list []ast.Stmt) []ast.Stmt {
		return append([]ast.Stmt{&ast.IncDecStmt{X: ast.NewIdent("Steps"), Tok: token.INC}}, list...)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SwitchStmt: // its body contains only clauses
			for _, c := range n.Body.List {
				clause := c.(*ast.CaseClause)
				clause.Body = step(clause.Body)
			}
			n.Body.Lbrace = token.NoPos
		case *ast.BlockStmt:
			if n.Lbrace != token.NoPos {
				n.List = step(n.List)
			}
		}
		return true
	})
	var b bytes.Buffer
	if err := format.Node(&b, set, f); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", file, err))
	}
	return b.Bytes()
}
