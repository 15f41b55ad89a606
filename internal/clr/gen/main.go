// Command gen turns the event texts beside it into the tables of package clr. It is run by go generate in that package's
// directory and writes tables.go there.
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
	var all []*provider
	for _, s := range sources {
		b, err := os.ReadFile(filepath.Join("gen", s.file))
		if err != nil {
			log.Fatal(err)
		}
		found, err := parse(string(b))
		if err != nil {
			log.Fatalf("%s: %v", s.file, err)
		}
		for _, p := range found {
			p.native = s.native || p.name == "Microsoft-DotNETCore-SampleProfiler"
		}
		all = append(all, found...)
	}
	var out bytes.Buffer
	write(&out, all)
	src, err := format.Source(out.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("tables.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println("tables.go:", len(src), "bytes")
}
