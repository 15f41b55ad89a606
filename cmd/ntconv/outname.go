package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
)

// packings are the extensions of what an input may be packed with.
var packings = []string{".gz", ".zst"}

// output returns the name of the output. Without one given, it is the input's in the current directory, with the format's
// extension: trace.nettrace.gz becomes trace.pb.gz. Standard input goes to standard output. A name that would be the input's
// own is an error: nobody has asked to replace it.
func (c *conversion) output() (string, error) {
	if c.out != "" {
		return c.out, nil
	}
	if c.in == "-" {
		return "-", nil
	}
	name := stem(filepath.Base(c.in)) + c.to.Exts[0]
	if sameFile(c.in, name) {
		return "", failf(exitUsage, "%s: the output would be called %s, which is the input; name another one with -o", c.in, name)
	}
	return name, nil
}

// stem returns a name without the extension of a format and, behind that, of what it is packed with. An extension of a format is
// looked for first: that of pprof ends as one of gzip does.
func stem(base string) string {
	if s, ok := formats.CutExt(formats.All(), base); ok {
		return s
	}
	for _, packed := range packings {
		base = strings.TrimSuffix(base, packed)
	}
	s, _ := formats.CutExt(formats.All(), base)
	return s
}

// sameFile reports whether two names are of one file that exists.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
