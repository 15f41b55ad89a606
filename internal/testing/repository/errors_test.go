package repository_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNoWordsOfErrors checks that no function searches the text of an error, which may contain the name of a file.
// Programs decide by the types and sentinels of errors.
func TestNoWordsOfErrors(t *testing.T) {
	checked := 0
	eachFile(t, func(_ *listed, fset *token.FileSet, f *ast.File) {
		for _, at := range searchedErrors(f) {
			t.Errorf("%v: searches the text of an error", fset.Position(at))
		}
		checked++
	})
	if checked < 100 {
		t.Errorf("only %d files were checked", checked)
	}
	bad := "package p\nfunc f(err error) bool { s := err.Error(); return strings.Contains(s, \"x\") || strings.HasPrefix(err.Error(), \"x\") || err.Error() == \"x\" }"
	f, err := parser.ParseFile(token.NewFileSet(), "bad.go", bad, parser.SkipObjectResolution)
	if err != nil || len(searchedErrors(f)) != 3 {
		t.Error("what is forbidden is not found")
	}
}

// searchedErrors returns where a file searches or compares the text of errors: directly, or through a variable of the
// same function.
func searchedErrors(f *ast.File) (found []token.Pos) {
	for _, decl := range f.Decls {
		errorTexts := map[string]bool{}
		holds := func(n ast.Node) (yes bool) {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Error" && len(n.Args) == 0 {
						yes = true
					}
				case *ast.Ident:
					yes = yes || errorTexts[n.Name]
				}
				return !yes
			})
			return yes
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, right := range n.Rhs {
					if id, ok := n.Lhs[i].(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && n.Tok == token.DEFINE && holds(right) {
						errorTexts[id.Name] = true
					}
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && isSearch(s) && len(n.Args) > 0 && holds(n.Args[0]) {
					found = append(found, n.Pos())
				}
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && !isNil(n.Y) && (holds(n.X) || holds(n.Y)) {
					found = append(found, n.Pos())
				}
			}
			return true
		})
	}
	return found
}

// isNil reports whether an expression is nil. A string cannot be nil: the compared value is an error, such as the one
// that the method Error of csv.Writer returns.
func isNil(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "nil"
}

// isSearch reports whether a function of the standard library looks for something in its first argument.
func isSearch(s *ast.SelectorExpr) bool {
	pkg, ok := s.X.(*ast.Ident)
	if !ok || pkg.Name != "strings" && pkg.Name != "bytes" {
		return false
	}
	for _, prefix := range []string{"Contains", "Has", "Index", "LastIndex", "Cut", "Split", "Trim", "EqualFold", "Count", "Replace"} {
		if strings.HasPrefix(s.Sel.Name, prefix) {
			return true
		}
	}
	return false
}

// TestLimitNames checks that no two limits of the module have the same name, so that a name identifies the limit.
func TestLimitNames(t *testing.T) {
	names := map[string]string{}
	eachFile(t, func(p *listed, _ *token.FileSet, f *ast.File) {
		for name, text := range limitNames(f) {
			name = p.ImportPath + "." + name
			if other, taken := names[text]; taken {
				t.Errorf("%s and %s are both %s", other, name, text)
			}
			names[text] = name
		}
	})
	if len(names) < 30 {
		t.Errorf("only %d names of limits: %v", len(names), names)
	}
}

// limitNames returns the values of the constants of a file whose names start with Limit or limit.
func limitNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i >= len(v.Values) || !strings.HasPrefix(strings.ToLower(name.Name), "limit") {
					continue
				}
				if text, ok := v.Values[i].(*ast.BasicLit); ok && text.Kind == token.STRING {
					names[name.Name] = text.Value
				}
			}
		}
	}
	return names
}
