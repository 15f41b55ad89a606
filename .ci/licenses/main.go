// Command licenses lists the licenses of the modules that are compiled into ntconv on any platform. It fails if a
// license is not allowed. With -o it writes the license files, which are distributed with binaries; with -check it
// compares them with the file.
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
}

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
	out := flag.String("o", "", "write the license files to this `file`")
	check := flag.String("check", "", "compare the license files with this `file`")
	platforms := flag.String("platforms", runtime.GOOS+"/"+runtime.GOARCH, "os/arch `pairs`, with spaces between them")
	flag.Parse()
	if err := run(strings.Fields(*platforms), *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(platforms []string, out, check string) error {
	modules, err := compiled(platforms)
	if err != nil {
		return err
	}
	chart, err := embedded()
	if err != nil {
		return err
	}
	modules = append(modules, chart)
	var bad []error
	for _, m := range modules {
		if err := m.read(); err != nil {
			bad = append(bad, err)
			continue
		}
		fmt.Printf("%-14s %s %s\n", m.license, m.path, m.version)
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	text := document(modules)
	if out != "" {
		return os.WriteFile(out, text, 0o666)
	}
	if check != "" {
		if have, err := os.ReadFile(check); err != nil || !bytes.Equal(have, text) {
			return fmt.Errorf("%s is not up to date (%w): run make licenses",
				check, cmp.Or(err, errors.New("it differs")))
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

// compiled returns the modules that contain packages of the command.
func compiled(platforms []string) ([]*module, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	found := map[string]*module{}
	for _, p := range platforms {
		goos, arch, _ := strings.Cut(p, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "./cmd/ntconv")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", p, err)
		}
		for d := json.NewDecoder(bytes.NewReader(list)); ; {
			var pkg struct {
				Dir      string
				Standard bool
				Module   *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&pkg); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			m := module{path: "Go standard library and runtime", dir: strings.TrimSpace(string(goroot))}
			if !pkg.Standard {
				if pkg.Module == nil || pkg.Module.Main {
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
	return list, nil
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

var licenseFile = regexp.MustCompile(`(?i)^(.*[-_.])?(licen[cs]e|copying|notice|patents)([-_.].*)?$`)

// read collects license files from the directory of the module and from the parent directories of compiled packages.
func (m *module) read() error {
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
			if e.IsDir() || !licenseFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			m.licenseTexts = append(m.licenseTexts, text)
			if lower := strings.ToLower(e.Name()); strings.Contains(lower, "notice") ||
				strings.Contains(lower, "patents") {
				continue
			}
			name, err := classify(text)
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
func classify(text string) (string, error) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
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
func document(modules []*module) []byte {
	var b bytes.Buffer
	b.WriteString(
		"# Third-party software\n\nBinaries of ntconv contain these modules. `make licenses` writes this file.\n\n| module | version | license |\n|---|---|---|\n",
	)
	users := map[string][]string{}
	var distinct []string
	for _, m := range modules {
		version := m.version
		if version == "" {
			version = "the version that built the binary"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.path, version, m.license)
		for _, t := range m.licenseTexts {
			if users[t] == nil {
				distinct = append(distinct, t)
			}
			if !slices.Contains(users[t], m.path) {
				users[t] = append(users[t], m.path)
			}
		}
	}
	for _, t := range distinct {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", strings.Join(users[t], ", "), t)
	}
	return b.Bytes()
}
