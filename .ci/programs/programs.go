// Package programs lists the programs of a release, for the checks of licenses and for the builder of packages.
package programs

import (
	"fmt"
	"runtime"
	"strings"
)

// A Program is a command that is packaged on its own.
type Program struct {
	Name    string
	Dir     string // of its module, relative to the root of the repository
	Package string // relative to Dir
	// Cgo means that it needs a C compiler, and is built only for the platform of this machine.
	Cgo     bool
	LDFlags string
	// Complete means that the program writes manual pages and completions, which its package has.
	Complete bool
	// Copyleft means that the program may contain files under the Mozilla Public License, whose source is available unchanged.
	Copyleft bool
	Summary  string // for lists of packages
	Text     string // one sentence about it
}

// List has all programs; the first one needs no other.
var List = []Program{
	{
		Name: "ntconv", Dir: ".", Package: "./cmd/ntconv", Complete: true,
		Summary: "Convert and inspect .NET traces",
		Text:    "ntconv reads .NET traces (nettrace, netperf), pprof profiles and other formats, and writes what other tools understand.",
	},
	{
		Name: "ntconv-duckdb", Dir: "duckdb", Package: ".", Cgo: true, LDFlags: staticFlags(),
		Summary: "DuckDB for ntconv sql",
		Text:    "ntconv sql runs its queries with this program if there is no duckdb.",
	},
	{
		Name: "ntconv-fleet", Dir: "fleet", Package: ".", LDFlags: "-s -w", Copyleft: true,
		Summary: "ntconv with object stores, Apache Iceberg and Apache Beam",
		Text:    "ntconv-fleet has all commands of ntconv, and reads and writes object stores, publishes Iceberg tables and runs pipelines.",
	},
}

// staticFlags returns the flags of the linker for a program with C++, as in the Makefile.
func staticFlags() string {
	if runtime.GOOS == "linux" {
		return "-s -w -linkmode external -extldflags=-static"
	}
	return "-s -w"
}

// Named returns the programs with the names, which have spaces between them.
func Named(names string) (list []Program, err error) {
	for name := range strings.FieldsSeq(names) {
		found := false
		for _, p := range List {
			if p.Name == name {
				list, found = append(list, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no program %s", name)
		}
	}
	return list, nil
}

// Names returns the names of all programs, with spaces between them.
func Names() string {
	var names []string
	for _, p := range List {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// Builds reports whether this machine can build the program for a platform.
func (p *Program) Builds(goos, arch string) bool {
	return !p.Cgo || goos == runtime.GOOS && arch == runtime.GOARCH
}

// Environment returns the variables of the go command for a platform.
func (p *Program) Environment(goos, arch string) []string {
	cgo := "0"
	if p.Cgo {
		cgo = "1"
	}
	return []string{"GOOS=" + goos, "GOARCH=" + arch, "CGO_ENABLED=" + cgo}
}
