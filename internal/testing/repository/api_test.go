package repository_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// exportData returns the files with the type information of all packages of this module and of all packages that they
// import, by import path, and the import paths of the public packages of this module.
func exportData(t *testing.T) (files map[string]string, public []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,DepOnly", "./...").Output()
	if err != nil {
		t.Skipf("the go command cannot be run: %v", err)
	}
	files = map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Export string
			DepOnly                  bool
		}
		if err := dec.Decode(&p); err == io.EOF {
			return files, public
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
		if !p.DepOnly && p.Name != "main" && !isInternal(p.ImportPath) {
			public = append(public, p.ImportPath)
		}
	}
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// An exposure finds types of internal packages in what users of a package can name, call or read.
type exposure struct {
	pkg   *types.Package
	seen  map[types.Type]bool
	found map[string]string // where, by type
}

// exposed returns the internal types that a package exposes, and where.
func exposed(pkg *types.Package) map[string]string {
	x := &exposure{pkg, map[types.Type]bool{}, map[string]string{}}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			x.visit(name, o.Type())
		}
	}
	return x.found
}

// visit walks over the exported parts of a type.
func (x *exposure) visit(where string, t types.Type) {
	t = types.Unalias(t)
	if x.seen[t] {
		return
	}
	x.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		x.named(where, t)
	case *types.Struct:
		for f := range t.Fields() {
			switch {
			case f.Exported():
				x.visit(where+"."+f.Name(), f.Type())
			case f.Embedded():
				x.promoted(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				x.visit(where+"."+m.Name(), m.Type())
			}
		}
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				x.visit(where, v.Type())
			}
		}
		for p := range t.TypeParams().TypeParams() {
			x.visit(where, p.Constraint())
		}
	case *types.Map:
		x.visit(where, t.Key())
		x.visit(where, t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		x.visit(where, t.Elem())
	}
}

// named walks over a type with a name. Those of other public packages are walked over there.
func (x *exposure) named(where string, t *types.Named) {
	for a := range t.TypeArgs().Types() {
		x.visit(where, a)
	}
	pkg := t.Obj().Pkg()
	switch {
	case pkg == nil: // error, comparable
	case isInternal(pkg.Path()):
		x.found[t.String()] = where
	case pkg == x.pkg:
		x.promoted(where, t)
	}
}

// promoted walks over what a type exports. Users who cannot name an embedded type have its methods and fields.
func (x *exposure) promoted(where string, t types.Type) {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	x.visit(where, t.Underlying())
	if t, ok := t.(*types.Named); ok {
		for m := range t.Methods() {
			if m.Exported() {
				x.visit(where+"."+m.Name(), m.Type())
			}
		}
	}
}

// TestPublicAPI checks that users can name every type that the public packages have in their API: no exported
// identifier is an alias of a type of an internal package or exposes one.
func TestPublicAPI(t *testing.T) {
	files, public := exportData(t)
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	if len(public) < 7 {
		t.Errorf("only %d public packages: %v", len(public), public)
	}
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for typ, where := range exposed(pkg) {
			t.Errorf("%s.%s exposes %s", path, where, typ)
		}
	}
}

// TestExposureIsFound checks that TestPublicAPI finds what it looks for, wherever it is.
func TestExposureIsFound(t *testing.T) {
	files, _ := exportData(t)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for code, want := range map[string]string{
		"type A = bin.Cursor":                                                              "A",
		"type hidden struct { F *bin.Cursor }; var V hidden":                               "V.F",
		"type S struct { E }; type E = map[int][]bin.Cursor":                               "E",
		"type S struct { inner }; type inner struct { bin.Cursor }":                        "S.inner.Cursor",
		"type S struct { inner }; type inner = bin.Cursor":                                 "S.inner.At",
		"func (T) M() (func(chan bin.Cursor), error) { panic(0) }; type T int":             "T.M",
		"type I interface { M([2]bin.Cursor) }":                                            "I.M",
		"func F[P interface{ M(bin.Cursor) }](P) {}":                                       "F.M",
		"type S struct { f bin.Cursor }; func (S) m(bin.Cursor) {}; func f(bin.Cursor) {}": "",
	} {
		f, err := parser.ParseFile(fset, "p.go", "package p; import \""+module+"/internal/data/bin\"; "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		pkg, err := (&types.Config{Importer: imports}).Check("p", fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if got := strings.Join(slices.Collect(maps.Values(exposed(pkg))), " "); got != want {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
	}
}
