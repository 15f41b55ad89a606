package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The types are the part of CycloneDX 1.5 that the bill uses (https://cyclonedx.org/docs/1.5/json/).
type billOfMaterials struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// bill returns the software bill of materials of a binary. The modules are those that the linker has recorded in it, so
// the bill cannot differ from the binary.
func (p *program) bill(path string, binary []byte, goos, arch string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(binary)
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // UUID version 8, RFC 9562, so that equal binaries have equal bills
	main := component{
		Type: "application", Name: p.Name, Version: p.version, PURL: "pkg:golang/" + info.Main.Path + "@" + p.version,
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(binary))}}, Licenses: licensesOf("Apache-2.0"),
		Properties: []property{{"ntconv:platform", goos + "/" + arch}, {"ntconv:commit", p.commit}},
	}
	main.Ref = main.PURL
	b := billOfMaterials{
		Format: "CycloneDX", Spec: "1.5", Version: 1, Serial: fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		Metadata: metadata{p.date.Format(time.RFC3339), main},
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	version, _, _ = strings.Cut(version, " ")
	b.Components = append(b.Components, library("std", version, "BSD-3-Clause"))
	for _, m := range info.Deps {
		if m.Replace != nil && strings.HasPrefix(m.Replace.Path, "../") { // a directory of this repository
			b.Components = append(b.Components, library(m.Path, p.version, "Apache-2.0"))
			continue
		}
		name := p.licenses[m.Path]
		if m.Replace != nil {
			m = m.Replace
		}
		if name == "" {
			return nil, fmt.Errorf("module %s is in the binary, but the license check does not list it", m.Path)
		}
		c := library(m.Path, m.Version, name)
		c.Properties = []property{{"ntconv:go.sum", m.Sum}}
		b.Components = append(b.Components, c)
	}
	b.Components = append(b.Components, p.bundled...)
	all := dependency{Ref: main.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(&b)
	return out.Bytes(), err
}

// library describes a module. licenses are a comma-separated list.
func library(path, version, licenses string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{
		Type: "library", Ref: purl, Name: path, Version: version, Scope: "required", PURL: purl, Licenses: licensesOf(licenses),
	}
}

// bundledLibrary describes a library that a version of DuckDB contains.
func bundledLibrary(name, version, licenses string) component {
	purl := "pkg:github/duckdb/duckdb@v" + version + "#" + url.PathEscape(name)
	return component{
		Type: "library", Ref: purl, Name: name, Version: "of DuckDB " + version, Scope: "required", PURL: purl, Licenses: licensesOf(licenses),
	}
}

// licensesOf returns the licenses in a comma-separated list of SPDX identifiers.
func licensesOf(names string) (list []license) {
	for name := range strings.SplitSeq(names, ",") {
		var l license
		l.License.ID = name
		list = append(list, l)
	}
	return list
}
