package repository_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ntconv/ntconv"

type importRule struct {
	of     []string // the packages that the rule is about
	except []string // and those it is not about
	only   []string // what they may import; nil: anything but never
	never  []string
	but    []string // exceptions of never
	direct bool     // concerns only the imports of the packages' own files
	why    string
}

// A listed is the part of the output of go list for a package.
type listed struct {
	ImportPath, Name, Dir string
	Standard              bool
	GoFiles, Imports      []string
	Deps                  []string
	DepOnly               bool
	Module                *struct{ Path string } // nil for the standard library
}

func listPackages(t *testing.T) map[string]*listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Dir,Standard,GoFiles,Imports,Deps,DepOnly,Module", "./...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Skipf("the go command cannot be run: %v", err)
	}
	all := map[string]*listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := dec.Decode(p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// matches reports whether a package is one of those that patterns describe.
func matches(p *listed, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "std" {
			return p.Standard
		}
		if rest, ok := strings.CutPrefix(pattern, "./"); ok {
			pattern = strings.TrimSuffix(module+"/"+rest, "/")
		}
		prefix, tree := strings.CutSuffix(pattern, "/...")
		return p.ImportPath == prefix || tree && strings.HasPrefix(p.ImportPath, prefix+"/")
	})
}

func TestImportRules(t *testing.T) {
	all := listPackages(t)
	for _, rule := range importRules {
		concerned := 0
		for _, p := range all {
			if p.DepOnly || !matches(p, rule.of) || matches(p, rule.except) {
				continue
			}
			concerned++
			imports := p.Deps
			if rule.direct {
				imports = p.Imports
			}
			for _, path := range imports {
				q := all[path]
				if q == nil {
					if path != "C" {
						t.Fatalf("%s imports %s, which is not listed", p.ImportPath, path)
					}
					continue
				}
				if only := withModel(rule.only); only != nil && !matches(q, only) || matches(q, rule.never) && !matches(q, rule.but) {
					t.Errorf("%s must not import %s (%s): %s", p.ImportPath, path, chain(all, p, path), rule.why)
				}
			}
		}
		if concerned == 0 {
			t.Errorf("no package matches %q: the rule is out of date", rule.of)
		}
	}
}

// TestFormatsHaveImportRules checks that each exporter and importer has its own rule that lists all permitted imports.
func TestFormatsHaveImportRules(t *testing.T) {
	for path, p := range listPackages(t) {
		name, ok := strings.CutPrefix(path, module)
		if p.DepOnly || !ok || !strings.HasPrefix(name, "/exporters/") && !strings.HasPrefix(name, "/importers/") {
			continue
		}
		if !slices.ContainsFunc(importRules, func(r importRule) bool { return r.only != nil && slices.Equal(r.of, []string{"." + name}) }) {
			t.Errorf("imports_test.go has no rule that lists what .%s may import", name)
		}
	}
}

// withModel adds what the root package imports to patterns that allow the root package, and the library of JSON to those
// that allow the group data, which uses it.
func withModel(only []string) []string {
	only = slices.Clip(only)
	if slices.Contains(only, "./") {
		only = append(only, "./internal/data/bin")
	}
	if slices.Contains(only, "./internal/data/...") {
		only = append(only, "github.com/go-json-experiment/json/...")
	}
	return only
}

// chain returns a way by which p comes to import path.
func chain(all map[string]*listed, p *listed, path string) string {
	from := map[string]string{p.ImportPath: ""}
	for queue := []string{p.ImportPath}; len(queue) > 0; queue = queue[1:] {
		for _, next := range all[queue[0]].Imports {
			if _, seen := from[next]; seen || all[next] == nil {
				continue
			}
			from[next] = queue[0]
			queue = append(queue, next)
		}
	}
	way := path
	for at := from[path]; at != ""; at = from[at] {
		way = at + " -> " + way
	}
	return way
}

// eachFile parses every Go file of the module that is not a test.
func eachFile(t *testing.T, visit func(p *listed, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, p := range listPackages(t) {
		if p.DepOnly {
			continue
		}
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			visit(p, fset, f)
		}
	}
}

// TestPackagesDoNothingOnTheirOwn checks that no package acts because it is imported, and that only commands exit.
func TestPackagesDoNothingOnTheirOwn(t *testing.T) {
	eachFile(t, func(p *listed, fset *token.FileSet, f *ast.File) {
		for _, imp := range f.Imports {
			if path, _ := strconv.Unquote(imp.Path.Value); imp.Name != nil && imp.Name.Name == "_" && path != "embed" {
				t.Errorf("%v: blank import of %s", fset.Position(imp.Pos()), path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%v: func init", fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && p.Name != "main" && p.ImportPath != module+"/internal/run/command" && slices.Contains([]string{"Exit", "Stderr", "Args"}, n.Sel.Name) {
					t.Errorf("%v: os.%s outside a program", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	})
}

// TestFormatsAreNotNamed checks that only the table of formats contains "pprof"; all others use the user's choice.
func TestFormatsAreNotNamed(t *testing.T) {
	calls := 0
	eachFile(t, func(p *listed, fset *token.FileSet, f *ast.File) {
		if p.ImportPath == module+"/internal/run/formats" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "ByName" {
				return true
			}
			calls++
			if _, literal := call.Args[1].(*ast.BasicLit); literal {
				t.Errorf("%v: a format is asked for by its name", fset.Position(call.Pos()))
			}
			return true
		})
	})
	if calls == 0 {
		t.Error("no package asks for a format by name; update this test")
	}
}
