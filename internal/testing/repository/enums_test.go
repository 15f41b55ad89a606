package repository_test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// enums has a value of each exported type of a public package whose values are numbers with names.
var enums = []any{
	ntconv.Code(0), ntconv.Kind(0), ntconv.LabelKind(0), ntconv.MarkKind(0), ntconv.Severity(0), ntconv.TypeCode(0), ntconv.ValueKind(0),
	sample.Kind(0), schema.Key(0), otlp.Signal(0), diagnostics.State(0),
}

// TestEnumsOutOfRange calls all methods without parameters of each enum with all values of 8 bits, defined or not: none
// panics, and every value has a name that no other one has. Programs print values that a later version has defined.
func TestEnumsOutOfRange(t *testing.T) {
	for _, zero := range enums {
		typ := reflect.TypeOf(zero)
		names := map[string]int{}
		for i := range 256 {
			v := reflect.New(typ).Elem()
			v.SetUint(uint64(i))
			for m := range typ.NumMethod() {
				if method := v.Method(m); method.Type().NumIn() == 0 {
					func() {
						defer func() {
							if r := recover(); r != nil {
								t.Errorf("%v(%d).%s panics: %v", typ, i, typ.Method(m).Name, r)
							}
						}()
						method.Call(nil)
					}()
				}
			}
			if t.Failed() {
				break
			}
			name := v.MethodByName("String").Call(nil)[0].String()
			if other, taken := names[name]; taken || name == "" {
				t.Errorf("%v: %d and %d have the name %q", typ, other, i, name)
			}
			names[name] = i
		}
	}
}

// TestEnumsAreComplete checks that enums has all exported types of public packages with numeric values and a method
// String.
func TestEnumsAreComplete(t *testing.T) {
	listed := map[string]bool{}
	for _, zero := range enums {
		typ := reflect.TypeOf(zero)
		listed[typ.PkgPath()+"."+typ.Name()] = true
	}
	files, public := exportData(t)
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range pkg.Scope().Names() {
			name, ok := pkg.Scope().Lookup(id).(*types.TypeName)
			if !ok || !name.Exported() || name.IsAlias() {
				continue
			}
			basic, ok := name.Type().Underlying().(*types.Basic)
			if !ok || basic.Info()&types.IsInteger == 0 {
				continue
			}
			method, _, _ := types.LookupFieldOrMethod(name.Type(), false, pkg, "String")
			if full := path + "." + id; method != nil && !listed[full] {
				t.Errorf("%s has a method String and is not in enums", full)
			}
			delete(listed, path+"."+id)
		}
	}
	for full := range listed {
		t.Errorf("enums lists %s, which is not an exported type of numbers", full)
	}
}
