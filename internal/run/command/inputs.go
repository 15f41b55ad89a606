package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags for several inputs.
const (
	flagEach      = "each"
	flagJobs      = "jobs"
	flagFilesFrom = "files-from"
)

// inputFlags are the flags for several inputs of a conversion.
type inputFlags struct {
	each      bool
	filesFrom string
	jobs      int
}

// defaultJobs is half of the cores, because a conversion uses several: decompression and each table run in goroutines
// of their own. It is at least 2, so that one job computes while another waits for the disk. Measured on 2 cores: a
// second job makes traces of 160 kB 1.2 to 2 times as fast and traces of 50 MB no faster, and needs a third more
// memory.
func defaultJobs() int { return max(2, runtime.GOMAXPROCS(0)/2) }

func (s *inputFlags) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&s.each, flagEach, false,
		"convert each input into an output of its own in the directory of -o (default: if -o names a directory); "+
			"existing outputs are skipped unless -f is set")
	flags.StringVar(&s.filesFrom, flagFilesFrom, "",
		"read names of further inputs from this `file`, one per line; - is standard input")
	flags.IntVarP(&s.jobs, flagJobs, "j", defaultJobs(), "convert this many inputs at a time")
}

// inputsHelp describes several inputs in the help of a command.
const inputsHelp = "An input may be a directory, which means the traces in it and below it, or a quoted pattern such as 'runs/**/*.nettrace'.\n" +
	"If -o names a directory (an existing one, or a name with / at its end), each input gets an output of its own in it, a\n" +
	"failure does not stop the others, and a table at the end lists all inputs. The exit code is the worst one."

// check rejects invalid values.
func (s *inputFlags) check(args []string) error {
	switch {
	case s.jobs < 1:
		return failf(exitUsage, "--%s %d: want at least 1", flagJobs, s.jobs)
	case s.filesFrom == "-" && slices.Contains(args, "-"):
		return failf(exitUsage, "standard input is both an input and the list of --%s", flagFilesFrom)
	}
	return nil
}

// anyInputs is the argument check of a command that reads several inputs.
func (s *inputFlags) anyInputs(cmd *cobra.Command, args []string) error {
	if s.filesFrom == "" || len(args) > 0 {
		return someInputs(cmd, args)
	}
	return nil
}

// inputs are what the arguments of a command line represent.
type inputs struct {
	*input.Found
	expanded bool // an argument is a directory of traces or a pattern
}

// inputs returns the inputs of a command. Arguments that are all names of inputs are returned unchanged.
func (s *inputFlags) inputs(a *app, args []string) (*inputs, error) {
	args, err := s.withList(args)
	if err != nil {
		return nil, err
	}
	return a.findInputs(args)
}

// withList returns the arguments and the names in the file of --files-from.
func (s *inputFlags) withList(args []string) ([]string, error) {
	if s.filesFrom == "" {
		return args, nil
	}
	more, err := readNames(s.filesFrom)
	if err != nil {
		return nil, fail(exitInput, err)
	}
	if args = append(slices.Clip(args), more...); len(args) == 0 {
		return nil, failf(exitInput, "%s: the list is empty", s.filesFrom)
	}
	return args, nil
}

// findInputs returns the inputs that arguments represent. Arguments that are all names of inputs are returned
// unchanged.
func (a *app) findInputs(args []string) (*inputs, error) {
	if !slices.ContainsFunc(args, a.isExpanded) {
		found := &input.Found{Names: args}
		for _, name := range args {
			found.Below = append(found.Below, fileio.Base(name))
		}
		return &inputs{found, false}, nil
	}
	found, err := input.Find(args, formats.Readable())
	if err != nil {
		return nil, inputFailure(err, false)
	}
	return &inputs{found, true}, nil
}

// isExpanded reports whether an argument represents the traces in a directory or the matches of a pattern. Directories
// that are inputs or datasets are not expanded.
func (a *app) isExpanded(word string) bool {
	if input.IsPattern(word) {
		return true
	}
	info, err := store.Stat(word)
	if word == "-" || err != nil || !info.IsDir() {
		return false
	}
	if f := formats.ByName(formats.Readable(), a.from); f != nil && f.In.SniffDir != nil {
		return false // every directory is an input of the named format
	}
	return !input.IsDir(word, formats.Readable())
}

// oneByOne reports whether each input gets an output of its own. The output decides: a directory holds one output per
// input, a file holds the merged inputs.
func (s *inputFlags) oneByOne(cmd *cobra.Command, c *conversion, in *inputs) (bool, error) {
	if err := s.check(cmd.Flags().Args()); err != nil {
		return false, err
	}
	c.chooseByName()
	to := c.Output.Destination
	switch {
	case cmd.Flags().Changed(flagEach):
		if s.each && isStdout(c.out) {
			return false, failf(exitUsage, "--%s: name a directory with -o DIR/", flagEach)
		}
		return s.each, nil
	case to == formats.ToFile && c.out != "":
		return isDirName(c.out), nil
	case in.expanded && c.To.Out.Merges:
		return false, failf(exitUsage, "%s: --%s converts each input into an output of its own, %s merges them into one",
			severalName(in), flagEach, mergeFlags(to, c.out))
	}
	return in.expanded, nil
}

// mergeFlags returns the flags that merge inputs into one output.
func mergeFlags(to formats.Destination, out string) string {
	const merge = "--" + flagEach + "=false"
	switch {
	case out != "" || to == formats.ToNothing:
		return merge
	case to == formats.ToDir:
		return merge + " -o DIR/"
	}
	return "-o FILE"
}

// severalName describes inputs in a message.
func severalName(in *inputs) string {
	return message.Count(int64(len(in.Names)), "input") + " (" + firstNames(in.Names) + ")"
}

// isDirName reports whether the name of an output is that of a directory.
func isDirName(name string) bool {
	if isStdout(name) || exists(name) {
		return fileio.IsDir(name)
	}
	return os.IsPathSeparator(name[len(name)-1]) && !exists(name[:len(name)-1])
}

// convertSeveral converts the inputs that args represent, into one output or one by one.
func (a *app) convertSeveral(cmd *cobra.Command, c *conversion, s *inputFlags, args []string) error {
	in, err := s.inputs(a, args)
	if err != nil {
		return err
	}
	each, err := s.oneByOne(cmd, c, in)
	if err != nil {
		return err
	}
	switch n := len(in.Names); {
	case each && (n > 1 || in.expanded):
		return a.convertEach(cmd, c, s, in)
	case each:
		return a.convertInto(cmd, c, in)
	case n > 1 && in.expanded && !c.To.Out.Merges && !c.To.Out.Compares:
		return failf(exitUsage, "%s and one output: %s converts each by itself, or merge them first: ntconv merge IN... both.nettrace",
			severalName(in), eachFlag(cmd, c))
	case n == 2 && !c.To.Out.Merges && meantAsOutput(cmd, in.Names[1]):
		return fail(exitUsage, oneInput(cmd, in.Names))
	case n == 2 && c.To.Out.Compares:
		return a.convertCompared(cmd, c, in.Names)
	case n > 1 && !c.To.Out.Merges:
		return fail(exitUsage, fmt.Errorf("%w; %s converts each by itself", oneInput(cmd, in.Names), eachFlag(cmd, c)))
	}
	return a.convertAll(cmd, c, in.Names)
}

// eachFlag returns the flag that converts each input by itself. An output that is not a file takes no -o, and
// --each=false overrides -o DIR/.
func eachFlag(cmd *cobra.Command, c *conversion) string {
	if to := c.Output.Destination; to == formats.ToNothing || cmd.Flags().Changed(flagEach) {
		return "--" + flagEach
	}
	return "-o DIR/"
}

// convertInto converts one input into an output in the directory that -o names.
func (a *app) convertInto(cmd *cobra.Command, c *conversion, in *inputs) error {
	b, dir := new(batch), c.out
	if c.out = c.outputIn(dir, in.Names[0], in.Below[0]); dir != "" {
		if err := b.makeDirs(dir); err != nil {
			return outputFailure(err)
		}
	}
	defer b.removeEmptyDirs()
	return a.convertAll(cmd, c, in.Names)
}

// outputIn returns the name of the output for an input in a directory, "" for the current one. below is the path of the
// input below the argument that represents it.
func (c *conversion) outputIn(dir, in, below string) string {
	if in == "-" {
		below = "stdin"
	}
	one := *c
	one.in, one.out = in, ""
	one.chooseByName()
	dir = store.Join(dir, filepath.Dir(below))
	switch to := one.Output.Destination; {
	case to == formats.ToNothing:
		return ""
	case to == formats.ToDir && one.Output.ByName:
		return store.Join(dir, c.To.OutputFor(below)) + string(filepath.Separator)
	case to == formats.ToDir:
		return store.Join(dir, formats.DirFor(below)) + string(filepath.Separator)
	}
	return store.Join(dir, c.To.OutputFor(below))
}

// distinct returns the paths below the output directory that the outputs are named after: in.Below, except for inputs
// that would have the same output. They keep as many of their last directories as distinguish them. Of inputs that
// differ in extensions only, the first keeps its output, and the others keep their extensions: a-nettrace-gz.pb.gz.
func (c *conversion) distinct(in *inputs) []string {
	below := slices.Clone(in.Below)
	counts := func() map[string]int {
		n := make(map[string]int)
		for i, name := range in.Names {
			n[c.outputIn("", name, below[i])]++
		}
		return n
	}
	const maxDirs = 4
	for dirs := 1; dirs <= maxDirs; dirs++ {
		n := counts()
		for i, name := range in.Names {
			if n[c.outputIn("", name, below[i])] > 1 && name != "-" {
				below[i] = lastElements(name, dirs+1)
			}
		}
	}
	n := counts()
	same := func(i int) bool { return n[c.outputIn("", in.Names[i], below[i])] > 1 }
	seen := make(map[string]bool)
	for i, name := range in.Names {
		if same(i) { // directories do not distinguish them
			below[i] = in.Below[i]
		}
		out := c.outputIn("", name, below[i])
		if seen[out] && name != "-" {
			dir, base := filepath.Split(in.Below[i])
			below[i] = filepath.Join(dir, strings.ReplaceAll(base, ".", "-"))
		}
		seen[out] = true
	}
	return below
}

// lastElements returns the last n elements of a path, without those before the last "..".
func lastElements(name string, n int) string {
	parts := strings.Split(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name[len(filepath.VolumeName(name)):])), "/"), "/")
	parts = parts[max(0, len(parts)-n):]
	for i := len(parts) - 2; i >= 0; i-- {
		if parts[i] == ".." {
			parts = parts[i+1:]
			break
		}
	}
	return filepath.Join(parts...)
}

// find returns the inputs of a collection.
func (s *inputFlags) find(args []string) (*input.Found, error) {
	args, err := s.withList(args)
	if err != nil {
		return nil, err
	}
	found, err := input.Find(args, formats.Readable())
	if err != nil {
		return nil, inputFailure(err, false)
	}
	return found, nil
}

// readNames returns the lines of a file.
func readNames(file string) (names []string, err error) {
	r := io.Reader(os.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if line := strings.TrimSuffix(lines.Text(), "\r"); line != "" {
			names = append(names, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return names, nil
}

// withoutOutputs removes the inputs in the directory of the outputs, which an earlier run may have written.
func (in *inputs) withoutOutputs(dir string) {
	if !in.expanded || dir == "" || !fileio.IsDir(dir) {
		return
	}
	var names, below []string
	for i, name := range in.Names {
		if !isInside(name, dir) {
			names, below = append(names, name), append(below, in.Below[i])
		}
	}
	in.Names, in.Below = names, below
}
