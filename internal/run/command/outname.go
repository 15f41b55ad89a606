package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A fileName is a flag for a file name, which must not be empty.
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

// bindOut defines the flag --output.
func (c *conversion) bindOut(flags *pflag.FlagSet, usage string) {
	flags.VarP((*fileName)(&c.out), "output", "o", usage)
}

// take sets input and output from the arguments IN [OUT].
func (c *conversion) take(args []string) {
	c.in = args[0]
	if len(args) > 1 {
		c.out = args[1]
	}
}

// inAndOut is the argument check of commands with the arguments IN [OUT] and the flag -o.
func inAndOut(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return oneInput(cmd, args)
	case len(args) > 2:
		return fmt.Errorf(
			"want one input and one output (IN OUT), got %d arguments: %s; to merge inputs, run: ntconv merge IN... both.nettrace",
			len(args),
			strings.Join(args, " "),
		)
	case len(args) == 2 && cmd.Flags().Changed("output"):
		return fmt.Errorf("two outputs given: %s and -o %s", args[1], cmd.Flag("output").Value)
	case len(args) == 2 && args[1] == "":
		return fmt.Errorf("output: %w", input.ErrNoName)
	}
	return nil
}

// output returns the name of the output. By default it is derived from the name of the input, and standard input is
// converted to standard output. It is an error if the derived name is that of the input.
func (c *conversion) output() (string, error) {
	c.chooseByName()
	to, flag := c.Output.Destination, c.Output.Flag
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
		return "", failf(exitUsage, "-o %s: the output is a file, but the name is that of a directory; name a file",
			c.out)
	case to == formats.ToDir && !c.Output.ByName && namesFile(c.To, c.out):
		return "", failf(exitUsage, "-o %s: %s writes a directory; name it as -o DIR/", c.out, flag)
	case c.out != "":
		return c.out, nil
	case c.in == "-":
		return "-", nil
	case to == formats.ToDir && c.Output.ByName:
		return c.To.OutputFor(c.in) + string(filepath.Separator), nil
	case to == formats.ToDir:
		return formats.DirFor(c.in), nil
	}
	name := c.To.OutputFor(c.in)
	if fileio.Same(c.in, name) {
		return "", failf(exitUsage, "%s: the default output %s is the input itself; choose another output with -o",
			c.in, name)
	}
	return name, nil
}

// namesFile reports whether a name looks like that of a file of a format: it has the format's extension, no slash at
// the end, and is not a directory.
func namesFile(to *formats.Format, name string) bool {
	f, _ := formats.ByOutput(name)
	info, err := store.Stat(name)
	return f != nil && f.Name == to.Name && (err != nil || !info.IsDir())
}

// chooseByName lets the format determine from the name of the output whether it is a directory.
func (c *conversion) chooseByName() {
	out := c.out
	if out == "" && c.in == "-" || isStdout(out) {
		out = "-"
	}
	c.Name(out, fileio.IsDir(out))
}

// misnamed returns a note on an output whose name states another format or compression, or "". It is not an error.
func misnamed(to *formats.Format, out string) string {
	if isStdout(out) {
		return ""
	}
	return to.Mismatch(out)
}

// checkCompression rejects an output name with a compression that the format does not support.
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

// checkOutput rejects, before anything is read, an output that would replace an input, even with -f, because a
// recording cannot be restored. It also rejects an output in a directory that does not exist.
func checkOutput(out string, inputs ...string) error {
	if isStdout(out) || out == "" {
		return nil
	}
	if err := fileio.CheckAddress(out); err != nil {
		return failf(exitOutput, "%s: %w", out, err)
	}
	// Keep the directory as it was given: the system resolves z in z/../x, but filepath.Clean removes it.
	if dir, _ := filepath.Split(strings.TrimRight(out, string(filepath.Separator))); dir != "" && !store.Is(out) && isAbsent(dir) {
		if len(dir) > 1 {
			dir = dir[:len(dir)-1]
		}
		return failf(exitOutput, "%s: directory %s does not exist", out, dir)
	}
	for _, in := range inputs {
		if fileio.Same(in, out) {
			return failf(exitUsage, "%s: output and input are the same file (%s); choose another output", out,
				input.NameOf(in, 0))
		}
	}
	return nil
}

// isAbsent reports whether a name does not exist, and exists whether it does. Neither is true if a name cannot be
// examined: opening it returns the error.
func isAbsent(name string) bool {
	_, err := store.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

func exists(name string) bool {
	_, err := store.Stat(name)
	return err == nil
}
