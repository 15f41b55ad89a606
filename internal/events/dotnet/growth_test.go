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
	for _, row := range readTable(t, "testdata/repeated.tsv", 4) {
		r := spelled{row[0], row[1], row[2], row[3]}
		for _, n := range []int{n, 2 * n} {
			names = append(names, spelled{r.Call, copies(r.A, n), copies(r.B, n), copies(r.C, n)})
		}
	}
	steps := countSteps(t, names)
	for i, row := range readTable(t, "testdata/repeated.tsv", 4) {
		small, large := steps[2*i], steps[2*i+1]
		if ratio := float64(large) / float64(small); ratio > 2.2 {
			t.Errorf("%q: %d steps for %d copies, %d for twice as many", row, small, n, large)
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
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
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
