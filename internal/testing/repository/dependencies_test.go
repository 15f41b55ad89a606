//go:build unix

package repository_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// dependencies are the modules that packages of this one import, without those that only tests do, and why. A module
// that is not here needs a reason first: everything that is compiled in can have vulnerabilities, and must be kept up
// to date.
var dependencies = map[string]string{
	"github.com/andybalholm/brotli":      "Parquet pages compressed with Brotli; parquet-go needs it, too",
	"github.com/gdamore/tcell/v3":        "screens on terminals of all platforms: top --live and counters",
	"github.com/go-json-experiment/json": "jsontext: tokens of JSON with offsets and paths, numbers and invalid UTF-8 as they are, which encoding/json does not have; its authors propose it as encoding/json/v2",
	"github.com/google/pprof":            "the web view, and the formats that preceded profile.proto",
	"github.com/ianlancetaylor/demangle": "names of C++ and Rust functions; pprof needs it, too",
	"github.com/klauspost/compress":      "zstd, which the standard library does not have, and gzip at several times its speed",
	"github.com/parquet-go/parquet-go":   "writing Parquet",
	"github.com/pierrec/lz4/v4":          "Parquet pages compressed with LZ4; parquet-go needs it, too",
	"github.com/spf13/cobra":             "commands, help and completion",
	"github.com/spf13/pflag":             "flags; cobra needs it, too",
	"github.com/ulikunitz/xz":            "the LZMA2 decoder for MiniDebugInfo, which distributions compress with xz",
	"golang.org/x/sys":                   "file locks, memory maps and free space on all platforms",
	"golang.org/x/term":                  "whether a file is a terminal",
	"google.golang.org/protobuf":         "the wire format of protobuf",
}

// TestDependencies checks that the imported modules are those with a reason.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if and .Module (not .Module.Main)}}{{.ImportPath}} {{.Module.Path}}{{end}}", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if pkg, mod, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			owner[pkg] = mod
		}
	}
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		if p.DepOnly || strings.HasPrefix(p.ImportPath, module+"/internal/testing/") {
			continue
		}
		for _, imp := range p.Imports {
			if mod := owner[imp]; mod != "" && !used[mod] {
				used[mod] = true
				if dependencies[mod] == "" {
					t.Errorf("%s imports %s of module %s, which no reason is given for", p.ImportPath, imp, mod)
				}
			}
		}
	}
	for _, mod := range slices.Sorted(maps.Keys(dependencies)) {
		if !used[mod] {
			t.Errorf("no package imports module %s", mod)
		}
	}
}

// TestLibraryModules checks that modules of their own keep their dependencies to themselves: a user of the library, whose go.sum has
// lines of that of this module only, gets none for the clients of object stores, catalogs, pipelines and DuckDB.
func TestLibraryModules(t *testing.T) {
	has := make(map[string]bool)
	for line := range strings.Lines(page(t, "go.sum")) {
		name, _, _ := strings.Cut(line, " ")
		has[name] = true
	}
	shared := make(map[string]bool) // what the modules themselves need of the same libraries
	for name := range required(t, "go.mod") {
		shared[name] = true
	}
	for _, own := range []string{"fleet/go.mod", "duckdb/go.mod"} {
		n := 0
		for name := range required(t, own) {
			if name == module || shared[name] || !isHeavy(name) {
				continue
			}
			if n++; has[name] {
				t.Errorf("go.sum has %s, which only %s needs", name, own)
			}
		}
		if n == 0 {
			t.Errorf("%s requires none of the modules that it is there for", own)
		}
	}
	for name := range has {
		if isHeavy(name) {
			t.Errorf("go.sum has %s", name)
		}
	}
}

// isHeavy reports whether a module belongs to a client of a cloud, a catalog, a runner of pipelines or a database.
func isHeavy(name string) bool {
	for _, prefix := range []string{
		"cloud.google.com/", "github.com/Azure/", "github.com/apache/", "github.com/aws/", "github.com/duckdb/", "gocloud.dev", "google.golang.org/api",
		"modernc.org/",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// TestModuleVersions checks that the tests with other programs use the versions of this module, so that they test the same
// code and compile no package a second time.
func TestModuleVersions(t *testing.T) {
	theirs, shared := required(t, "e2e/go.mod"), 0
	for name, version := range required(t, "go.mod") {
		if other, ok := theirs[name]; ok {
			if shared++; other != version {
				t.Errorf("e2e/go.mod requires %s %s, go.mod %s", name, other, version)
			}
		}
	}
	if shared < 5 {
		t.Errorf("the modules share only %d others", shared)
	}
}

// required returns the versions of the modules that a go.mod requires, directly or not.
func required(t *testing.T, name string) map[string]string {
	t.Helper()
	versions := make(map[string]string)
	for line := range strings.Lines(page(t, name)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "require ")
		if mod, version, ok := strings.Cut(line, " "); ok && strings.HasPrefix(version, "v") {
			versions[mod], _, _ = strings.Cut(version, " ")
		}
	}
	return versions
}
