// Command gen converts the text files next to it to the tables of package clr. go generate runs it in the directory of
// that package, and it writes tables.go there.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

// sources lists the text files in the order of the tables. The events of native providers, those of the runtime itself,
// have neither names nor fields in a trace.
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

// tables returns tables.go for the text files in a directory.
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
