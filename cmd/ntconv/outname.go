package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// packings are the extensions of what an input may be packed with.
var packings = []string{".gz", ".zst"}

// A fileName is a flag that takes the name of a file.
type fileName string

var errNoName = errors.New("the name is empty")

func (n *fileName) Set(s string) error {
	if s == "" {
		return errNoName
	}
	*n = fileName(s)
	return nil
}

func (n *fileName) String() string { return string(*n) }
func (n *fileName) Type() string   { return "file" }

// bindOut defines the flag that names the output.
func (c *conversion) bindOut(flags *pflag.FlagSet, usage string) {
	flags.VarP((*fileName)(&c.out), "output", "o", usage)
}

// take takes the arguments IN [OUT].
func (c *conversion) take(args []string) {
	c.in = args[0]
	if len(args) > 1 {
		c.out = args[1]
	}
}

// inAndOut is the argument check of verbs that take IN [OUT], and OUT with -o as well.
func inAndOut(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return oneInput(cmd, args)
	case len(args) > 2:
		return fmt.Errorf("one input and one output, IN OUT, not %d arguments: %s", len(args), strings.Join(args, " "))
	case len(args) == 2 && cmd.Flags().Changed("output"):
		return fmt.Errorf("two outputs: %s, and %s with -o", args[1], cmd.Flag("output").Value)
	case len(args) == 2 && args[1] == "":
		return fmt.Errorf("output: %w", errNoName)
	}
	return nil
}

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
