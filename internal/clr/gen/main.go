// Command gen turns the event texts beside it into the tables of package clr. It is run by go generate in that
// package's directory and writes tables.go there.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

// sources are the texts in the order of the tables, and whether their providers are parts of the runtime itself, whose
// events have neither names nor fields in a trace.
var sources = []struct {
	file   string
	native bool
}{
	{"clr-events.txt", true},
	{"managed-events.txt", false},
	{"unlisted-events.txt", false},
}

func main() {
	log.SetFlags(0)
	src, err := tables("gen")
	if err == nil {
		err = os.WriteFile("tables.go", src, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// tables makes tables.go from the texts in a directory.
func tables(dir string) ([]byte, error) {
	var all []*provider
	for _, s := range sources {
		b, err := os.ReadFile(filepath.Join(dir, s.file))
		if err != nil {
			return nil, err
		}
		found, err := parse(string(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.file, err)
		}
		for _, p := range found {
			p.native = s.native || p.name == "Microsoft-DotNETCore-SampleProfiler"
		}
		all = append(all, found...)
	}
	var out bytes.Buffer
	write(&out, all)
	return format.Source(out.Bytes())
}
