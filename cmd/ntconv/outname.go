package main

import (
	"errors"
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
		return fmt.Errorf(
			"one input and one output, IN OUT, not %d arguments: %s; ntconv to nettrace IN... -o both.nettrace makes one of several inputs",
			len(args),
			strings.Join(args, " "),
		)
	case len(args) == 2 && cmd.Flags().Changed("output"):
		return fmt.Errorf("two outputs: %s, and %s with -o", args[1], cmd.Flag("output").Value)
	case len(args) == 2 && args[1] == "":
		return fmt.Errorf("output: %w", input.ErrNoName)
	}
	return nil
}

// output returns the name of the output. If the user gave none, the output is named after the input, and standard input
// goes to standard output. It is an error if that name is the input itself.
func (c *conversion) output() (string, error) {
	c.chooseByName()
	to, flag := c.creator.Destination()
	if to == formats.ToNothing {
		if c.out != "" {
			return "", failf(exitUsage, "-o %s: %s writes no file", c.out, flag)
		}
		return "", nil
	}
	switch {
	case to == formats.ToDir && (isStdout(c.out) || c.out == "" && c.in == "-"):
		return "", failf(exitUsage, "%s writes a directory; name it with -o DIR/", flag)
	case to == formats.ToFile && (strings.HasSuffix(c.out, "/") || strings.HasSuffix(c.out, string(filepath.Separator))):
		return "", failf(
			exitUsage,
			"-o %s: the output is a file, and this is the name of a directory; name a file",
			c.out,
		)
	case c.out != "":
		return c.out, nil
	case c.in == "-":
		return "-", nil
	case to == formats.ToDir && c.byName:
		return c.to.OutputFor(c.in) + string(filepath.Separator), nil
	case to == formats.ToDir:
		return formats.DirFor(c.in), nil
	}
	name := c.to.OutputFor(c.in)
	if sameFile(c.in, name) {
		return "", failf(
			exitUsage,
			"%s: the output would be called %s, which is the input; name another one with -o",
			c.in,
			name,
		)
	}
	return name, nil
}

// chooseByName lets the format decide by the name of the output what it writes.
func (c *conversion) chooseByName() {
	c.when = c.to.Out.Names
	chooser, ok := c.creator.(formats.NameChooser)
	if !ok {
		return
	}
	c.byName = true
	out := c.out
	if out == "" && c.in == "-" || isStdout(out) {
		out = "-"
	}
	info, err := os.Stat(out)
	c.when = chooser.ChooseByName(out, err == nil && info.IsDir())
}

// misnamed returns a note on an output whose name states another format or compression, "" if it does not. It is not an
// error.
func misnamed(to *formats.Format, out string) string {
	if isStdout(out) {
		return ""
	}
	return to.Mismatch(out)
}

// checkCompression refuses the name of an output that states the format and a compression that its outputs do not have.
func checkCompression(to *formats.Format, out string) error {
	named, compression := formats.ByOutput(out)
	if rest := strings.TrimSuffix(out, filepath.Ext(out)); formats.IsForeignCompression(filepath.Ext(out)) &&
		formats.ByFile(formats.All(), rest) != nil {
		return failf(exitUsage, "%s: ntconv compresses outputs with gzip and zstd only; name the output %s", out, rest)
	}
	if named == nil || named.Name != to.Name || compression == "" || to.Compresses(compression) {
		return nil
	}
	rest, _ := formats.CutCompression(out)
	return failf(exitUsage, "%s: %s is not compressed as a whole; name the output %s", out, to.Name, rest)
}

// checkOutput refuses, before anything is read, an output that would take the place of an input, with or without -f: a
// recording cannot be made again. It refuses one in a folder that does not exist, too.
func checkOutput(out string, inputs ...string) error {
	if isStdout(out) || out == "" {
		return nil
	}
	// The folder as it was said: z/../x is for the system in z, and in none for package filepath.
	if dir, _ := filepath.Split(strings.TrimRight(out, string(filepath.Separator))); dir != "" && isAbsent(dir) {
		if len(dir) > 1 {
			dir = dir[:len(dir)-1]
		}
		return failf(exitOutput, "%s: directory %s does not exist", out, dir)
	}
	for _, in := range inputs {
		if sameFile(in, out) {
			return failf(
				exitUsage,
				"%s: the output would take the place of the input (%s); name another output",
				out,
				input.NameOf(in, 0),
			)
		}
	}
	return nil
}

// exists reports whether there is a file or folder of a name. isAbsent reports whether a name does not exist. A name
// that cannot be examined may exist: whoever opens it gets the error.
func isAbsent(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

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
	if err != nil || !x.Mode().IsRegular() && !x.IsDir() {
		return false
	}
	y, err := os.Stat(out)
	return err == nil && os.SameFile(x, y)
}
