package repository_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// codeTwins pairs the model's constants with those of the wire that have the same value. The reader and the writer
// convert between them by value.
var codeTwins = []struct {
	model, wire string // the constants' type; on the wire, a prefix of their names if they have no type
	below       int64  // model constants from this value on have no twin; 0 means that all have one
	twins       map[string]string
}{
	{"TypeCode", "TypeCode", 128, map[string]string{
		"TypeObject": "TypeObject", "TypeBool32": "TypeBoolean32", "TypeUTF16Unit": "TypeUTF16CodeUnit", "TypeInt8": "TypeSByte",
		"TypeUint8": "TypeByte", "TypeInt16": "TypeInt16", "TypeUint16": "TypeUInt16", "TypeInt32": "TypeInt32", "TypeUint32": "TypeUInt32",
		"TypeInt64": "TypeInt64", "TypeUint64": "TypeUInt64", "TypeFloat32": "TypeSingle", "TypeFloat64": "TypeDouble",
		"TypeDecimal": "TypeDecimal", "TypeDateTime": "TypeDateTime", "TypeGUID": "TypeGuid", "TypeUTF16String": "TypeUTF16String",
		"TypeArray": "TypeArray", "TypeVarInt": "TypeVarInt", "TypeVarUint": "TypeVarUInt", "TypeFixedArray": "TypeFixedLengthArray",
		"TypeUTF8Unit": "TypeUTF8CodeUnit", "TypeRelLoc": "TypeRelLoc", "TypeDataLoc": "TypeDataLoc", "TypeBool8": "TypeBoolean8",
	}},
	{"LabelKind", "LabelKind", 0, map[string]string{
		"LabelActivityID": "LabelActivityID", "LabelRelatedActivityID": "LabelRelatedActivityID", "LabelTraceID": "LabelTraceID",
		"LabelSpanID": "LabelSpanID", "LabelString": "LabelString", "LabelInt": "LabelNumber", "LabelOpcode": "LabelOpcode",
		"LabelKeywords": "LabelKeywords", "LabelLevel": "LabelLevel", "LabelVersion": "LabelVersion",
	}},
	{"MarkFlags", "Flush", 0, map[string]string{"MarkFlushThreads": "FlushThreads", "MarkFlushTypes": "FlushMetadata"}},
}

// TestCodesOfModelAndWire fails if a code is added, removed or changed on one side only.
func TestCodesOfModelAndWire(t *testing.T) {
	model, wire := packageScope(t, "."), packageScope(t, "internal/trace/wire")
	for _, group := range codeTwins {
		ours := constantsOf(model, group.model)
		theirs := constantsOf(wire, group.wire)
		for name, value := range ours {
			twin := group.twins[name]
			other, found := theirs[twin]
			switch {
			case group.below > 0 && value >= group.below:
				if twin != "" {
					t.Errorf("%s is %d: no file has such a code", name, value)
				}
			case !found:
				t.Errorf("%s: no constant of package wire is its twin", name)
			case other != value:
				t.Errorf("%s is %d, wire.%s is %d", name, value, twin, other)
			}
			delete(theirs, twin)
		}
		for name := range theirs {
			t.Errorf("wire.%s: no %s of the model is its twin", name, group.model)
		}
		for name := range group.twins {
			if _, ok := ours[name]; !ok {
				t.Errorf("%s does not exist", name)
			}
		}
	}
}

// noImports lets a package be checked without those that it imports: constants do not need them.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

func packageScope(t *testing.T, dir string) *types.Scope {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	config := types.Config{Importer: noImports{}, Error: func(error) {}, IgnoreFuncBodies: true}
	pkg, _ := config.Check(dir, fset, files, nil)
	return pkg.Scope()
}

// constantsOf returns the constants whose type has that name, and those without a type whose names begin with it.
func constantsOf(scope *types.Scope, name string) map[string]int64 {
	out := map[string]int64{}
	for _, id := range scope.Names() {
		c, ok := scope.Lookup(id).(*types.Const)
		if !ok {
			continue
		}
		named, typed := c.Type().(*types.Named)
		if typed && named.Obj().Name() == name || !typed && strings.HasPrefix(id, name) {
			out[id], _ = constant.Int64Val(c.Val())
		}
	}
	return out
}
