// Command licenses lists the licenses of the modules that are compiled into a program on any platform. It fails if a
// license is not allowed. With -write it writes the license files to THIRD_PARTY.md in the directory of the program's
// module, which is distributed with binaries; with -check it compares them with this file.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/.ci/programs"
)

// allowed are the licenses that a binary under the license of ntconv may contain, each with a passage that identifies
// its text.
var allowed = []struct{ name, passage string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{
		"MIT",
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
	},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms, with or without modification, are permitted"},
	{
		"ISC",
		"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted",
	},
	{"blessing", "sqlite is public domain"},
}

// mozilla is a license per file, which programs with copyleft may contain: source must be available, so document says where it is.
const mozilla = "MPL-2.0"

var mozillaTitle = regexp.MustCompile(`^(copyright \(c\) [^.]*\. )?mozilla public license,? version 2\.0`)

// refused are passages of licenses that are not allowed, even if the text also contains an allowed license.
var refused = []string{
	"gnu general public license",
	"gnu lesser general public license",
	"gnu affero",
	"mozilla public license",
	"server side public license",
	"business source license",
}

func main() {
	write := flag.Bool("write", false, "write the license files to THIRD_PARTY.md of the program")
	check := flag.Bool("check", false, "compare the license files with THIRD_PARTY.md of the program")
	platforms := flag.String("platforms", runtime.GOOS+"/"+runtime.GOARCH, "os/arch `pairs`, with spaces between them")
	name := flag.String("program", programs.List[0].Name, "`name` of the program")
	flag.Parse()
	list, err := programs.Named(*name)
	if err == nil && len(list) != 1 {
		err = errors.New("want one program")
	}
	if err == nil {
		err = run(&list[0], strings.Fields(*platforms), *write, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(p *programs.Program, platforms []string, write, check bool) error {
	modules, err := compiled(p, platforms)
	if err != nil {
		return err
	}
	bundled, err := libraries(modules)
	if err != nil {
		return err
	}
	var bad []error
	for _, m := range modules {
		if err := m.read(p.Copyleft); err != nil {
			bad = append(bad, err)
			continue
		}
		fmt.Printf("%-14s %s %s\n", m.license, m.path, m.version)
	}
	for _, l := range bundled {
		fmt.Printf("%-14s %s %s\n", l.license, bundledPrefix+l.name, duckdbVersion(modules))
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	name, text := filepath.Join(p.Dir, "THIRD_PARTY.md"), document(p, modules, bundled)
	if write {
		return os.WriteFile(name, text, 0o666)
	}
	if check {
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, text) {
			return fmt.Errorf("%s is not up to date (%w): run make licenses",
				name, cmp.Or(err, errors.New("it differs")))
		}
	}
	return nil
}

// A module is a dependency, or the standard library.
type module struct {
	path, version, dir string
	packages           map[string]bool // directories of the compiled packages
	license            string
	licenseTexts       []string // contents of all files with licenses and notices
}

// own is the prefix of the modules of this repository.
const own = "github.com/ntconv/ntconv"

// compiled returns the modules that contain packages of the program, and the library of the pages if it has them.
func compiled(program *programs.Program, platforms []string) ([]*module, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	found, pages := map[string]*module{}, false
	for _, p := range platforms {
		goos, arch, _ := strings.Cut(p, "/")
		if !program.Builds(goos, arch) {
			continue
		}
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,Standard,Module", program.Package)
		cmd.Dir = program.Dir
		cmd.Env = append(os.Environ(), program.Environment(goos, arch)...)
		cmd.Stderr = os.Stderr
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", p, err)
		}
		for d := json.NewDecoder(bytes.NewReader(list)); ; {
			var pkg struct {
				Dir, ImportPath string
				Standard        bool
				Module          *struct {
					Path, Version, Dir string
				}
			}
			if err := d.Decode(&pkg); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			m := module{path: "Go standard library and runtime", dir: strings.TrimSpace(string(goroot))}
			if !pkg.Standard {
				if pages = pages || pkg.ImportPath == own+"/exporters/html"; pkg.Module == nil || strings.HasPrefix(pkg.Module.Path, own) {
					continue
				}
				m = module{path: pkg.Module.Path, version: pkg.Module.Version, dir: pkg.Module.Dir}
			}
			if found[m.path] == nil {
				m.packages = map[string]bool{}
				found[m.path] = &m
			}
			if !pkg.Standard {
				found[m.path].packages[pkg.Dir] = true
			}
		}
	}
	var list []*module
	for _, m := range found {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	if !pages {
		return list, nil
	}
	chart, err := embedded()
	return append(list, chart), err
}

// embedded returns the library of npm that is part of the pages of ntconv to html.
func embedded() (*module, error) {
	const page = "exporters/html/page"
	data, err := os.ReadFile(filepath.Join(page, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("%s/package-lock.json: %w", page, err)
	}
	return &module{path: "uplot (npm)", version: lock.Packages["node_modules/uplot"].Version, dir: filepath.Join(page, "vendor")}, nil
}

// licenseFile matches the names of files with licenses and notices. Those of documents and logos concern nothing that is compiled.
var licenseFile = regexp.MustCompile(`(?i)^(.*[-_.])?(licen[cs]e|copying|notice|patents)([-_.].*)?$`)

// read collects license files from the directory of the module and from the parent directories of compiled packages.
// Licenses with copyleft are an error unless they are allowed.
func (m *module) read(copyleft bool) error {
	dirs := map[string]bool{m.dir: true}
	for p := range m.packages {
		for dir := p; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	names := map[string]bool{}
	for _, dir := range sorted(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licenseFile.MatchString(e.Name()) || slices.Contains([]string{".go", ".docs"}, filepath.Ext(e.Name())) || strings.HasSuffix(e.Name(), "-LOGO") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			m.licenseTexts = append(m.licenseTexts, text)
			if lower := strings.ToLower(e.Name()); strings.Contains(lower, "notice") ||
				strings.Contains(lower, "patents") || strings.Contains(lower, "3rd-party") {
				continue
			}
			name, err := classify(text, copyleft)
			if err != nil {
				return fmt.Errorf("%s %s: %s: %w", m.path, m.version, e.Name(), err)
			}
			names[name] = true
		}
	}
	m.license = strings.Join(sorted(names), ", ")
	if m.license == "" {
		return fmt.Errorf("%s %s: there is no file with a license", m.path, m.version)
	}
	return nil
}

func sorted(set map[string]bool) (list []string) {
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// classify returns the name of a license, or an error if it is not allowed.
func classify(text string, copyleft bool) (string, error) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if copyleft && mozillaTitle.MatchString(words) {
		return mozilla, nil // its text names the GNU licenses
	}
	for _, r := range refused {
		if strings.Contains(words, r) {
			return "", fmt.Errorf("a license that is not allowed: %s", r)
		}
	}
	for _, a := range allowed {
		if strings.Contains(words, a.passage) {
			return a.name, nil
		}
	}
	return "", errors.New("an unknown license")
}

// document returns the file that lists modules and license files, each distinct file once.
func document(p *programs.Program, modules []*module, bundled []library) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Third-party software\n\nBinaries of %s contain these modules. `make licenses` writes this file.\n\n| module | version | license |\n|---|---|---|\n", p.Name)
	users := map[string][]string{}
	var distinct, covered []string
	for _, m := range modules {
		version := m.version
		if version == "" {
			version = "the version that built the binary"
		}
		path := platformOfModule.ReplaceAllString(m.path, "$1/OS-ARCH") // the file is the same on all platforms
		fmt.Fprintf(&b, "| %s | %s | %s |\n", path, version, m.license)
		if strings.Contains(m.license, mozilla) {
			covered = append(covered, fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", m.path, m.version))
		}
		for _, t := range m.licenseTexts {
			if users[t] == nil {
				distinct = append(distinct, t)
			}
			if !slices.Contains(users[t], path) {
				users[t] = append(users[t], path)
			}
		}
	}
	if len(covered) > 0 {
		fmt.Fprintf(&b, "\nThe files under the Mozilla Public License are unchanged. Their source is at %s.\n", strings.Join(covered, " and "))
	}
	if len(bundled) > 0 {
		version := duckdbVersion(modules)
		fmt.Fprintf(&b, "\nDuckDB %s contains these libraries. Their licenses are in the directories `third_party` and `extension` of its source,\nhttps://github.com/duckdb/duckdb/tree/v%s.\n\n| library | license |\n|---|---|\n", version, version)
		for _, l := range bundled {
			fmt.Fprintf(&b, "| %s | %s |\n", l.name, l.license)
		}
	}
	for _, t := range distinct {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", strings.Join(users[t], ", "), t)
	}
	return b.Bytes()
}
