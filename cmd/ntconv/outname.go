package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// packings are the extensions of what an input may be packed with.
var packings = []string{".gz", ".zst"}

// A fileName is a flag that takes the name of a file.
type fileName string

func (n *fileName) Set(s string) error {
	if s == "" {
		return input.ErrNoName
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
		return fmt.Errorf("one input and one output, IN OUT, not %d arguments: %s; ntconv to nettrace IN... -o both.nettrace makes one of several inputs",
			len(args), strings.Join(args, " "))
	case len(args) == 2 && cmd.Flags().Changed("output"):
		return fmt.Errorf("two outputs: %s, and %s with -o", args[1], cmd.Flag("output").Value)
	case len(args) == 2 && args[1] == "":
		return fmt.Errorf("output: %w", input.ErrNoName)
	}
	return nil
}

// output returns the name of the output. Without one given, it is the input's in the current directory, with the format's
// extension: trace.nettrace.gz becomes trace.pb.gz. Standard input goes to standard output. A name that would be the input's
// own is an error: nobody has asked to replace it.
func (c *conversion) output() (string, error) {
	dir := c.creator.Dir()
	switch {
	case dir != "" && (isStdout(c.out) || c.out == "" && c.in == "-"):
		return "", failf(exitUsage, "%s writes a directory; name it with -o DIR/", dir)
	case c.out != "":
		return c.out, nil
	case c.in == "-":
		return "-", nil
	case dir != "":
		return stem(filepath.Base(c.in)) + string(filepath.Separator), nil
	}
	name := stem(filepath.Base(c.in)) + c.to.Exts[0]
	if sameFile(c.in, name) {
		return "", failf(exitUsage, "%s: the output would be called %s, which is the input; name another one with -o", c.in, name)
	}
	return name, nil
}

// cutPacking returns a name without the extension of what it is packed with, and that extension, "" if it has none.
func cutPacking(name string) (rest, packed string) {
	for _, ext := range packings {
		if n := len(name) - len(ext); n > 0 && strings.EqualFold(name[n:], ext) {
			return name[:n], ext
		}
	}
	return name, ""
}

// namedAfter returns the format that an output's name tells, or nil, and the extension in the name of what no output of that format
// is packed with, "" if there is none.
func namedAfter(out string) (f *formats.Format, packed string) {
	if f = formats.ByFile(formats.All(), out); f != nil {
		return f, ""
	}
	rest, packed := cutPacking(out)
	return formats.ByFile(formats.All(), rest), packed
}

// packs reports whether a format is packed by itself with what the extension stands for.
func packs(f *formats.Format, packed string) bool { return strings.HasSuffix(f.Exts[0], packed) }

// misnamed tells that an output is called something else than it is, and returns "" if not. Users may call files what they like.
func misnamed(to *formats.Format, out string) string {
	if isStdout(out) {
		return ""
	}
	f, packed := namedAfter(out)
	switch {
	case f != nil && f.Name != to.Name:
		return fmt.Sprintf("the name %s says %s, but this is %s", out, f.Name, to.Name)
	case packed != "" && !packs(to, packed):
		return fmt.Sprintf("the name %s says that it is packed, but it is not packed with that", out)
	}
	return ""
}

// stem returns a name without the extension of a format and, behind that, of what it is packed with. An extension of a format is
// looked for first: that of pprof ends as one of gzip does.
func stem(base string) string {
	if s, ok := formats.CutExt(formats.All(), base); ok {
		return s
	}
	base, _ = cutPacking(base)
	s, _ := formats.CutExt(formats.All(), base)
	return s
}

// checkOutput refuses, before anything is read, an output that would take the place of an input, with or without -f: a recording
// cannot be made again. It refuses one in a folder that does not exist, too.
func checkOutput(out string, inputs ...string) error {
	if isStdout(out) {
		return nil
	}
	// The folder as it was said: z/../x is for the system in z, and in none for package filepath.
	if dir, _ := filepath.Split(strings.TrimRight(out, string(filepath.Separator))); dir != "" && !exists(dir) {
		if len(dir) > 1 {
			dir = dir[:len(dir)-1]
		}
		return failf(exitOutput, "create %s: %w; the folder %s does not exist", out, fs.ErrNotExist, dir)
	}
	for _, in := range inputs {
		if sameFile(in, out) {
			return failf(exitUsage, "%s: the output would take the place of the input (%s); name another output", out, input.NameOf(in, 0))
		}
	}
	return nil
}

// exists reports whether there is a file or folder of a name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// sameFile reports whether an input and an output are one file, by whatever names. Devices may well be both.
func sameFile(in, out string) bool {
	x, err := os.Stat(in)
	if in == "-" {
		x, err = os.Stdin.Stat()
	}
	if err != nil || !x.Mode().IsRegular() {
		return false
	}
	y, err := os.Stat(out)
	return err == nil && os.SameFile(x, y)
}
