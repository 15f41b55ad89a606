package repository_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPublicPackagesHaveExamples checks that each public package has an example whose output go test compares.
func TestPublicPackagesHaveExamples(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.DepOnly || p.Name == "main" || isInternal(p.ImportPath) || strings.Contains(p.ImportPath, "/examples/") {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		if !slices.ContainsFunc(doc.Examples(files...), func(e *doc.Example) bool { return e.Output != "" }) {
			t.Errorf("%s has no example with output", p.ImportPath)
		}
	}
}

// namesFlag matches the name of a flag in a text.
var namesFlag = regexp.MustCompile(`(^|[^-\w])--[a-z]`)

// TestLibraryNamesNoFlags checks that no string of a package that library users compile names a flag of the command,
// because a program has none: such a string belongs into the command, or into the tables that convert translates. Commands that
// record traces are advice for everybody. Package convert compiles these tables; its own tests check its errors.
func TestLibraryNamesNoFlags(t *testing.T) {
	all := listPackages(t)
	used := map[string]bool{}
	for path, p := range all {
		if p.DepOnly || p.Name == "main" || isInternal(path) || path == module+"/convert" {
			continue
		}
		used[path] = true
		for _, dep := range p.Deps {
			used[dep] = true
		}
	}
	// Strings of these packages document the command: the tables that it writes, and what it overlooks.
	except := []string{module + "/internal/tables", module + "/internal/trace/tracecmp"}
	checked := 0
	eachFile(t, func(p *listed, fset *token.FileSet, f *ast.File) {
		if !used[p.ImportPath] && p.ImportPath != module+"/convert" || slices.Contains(except, p.ImportPath) {
			return
		}
		checked++
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && namesFlag.MatchString(text) && !strings.HasPrefix(text, "dotnet-trace ") && !strings.HasPrefix(text, "ntconv collect ") {
					t.Errorf("%v: %q names a flag", fset.Position(lit.Pos()), text)
				}
			}
			return true
		})
	})
	if checked < 100 {
		t.Errorf("only %d files", checked)
	}
}
