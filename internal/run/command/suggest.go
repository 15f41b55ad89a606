package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// didYouMean returns a hint with the names that a word may mean: those that differ in few letters, or else those that
// begin with it. It is "" if there are none or too many.
func didYouMean(word string, names []string) string {
	similar := where.Nearest(word, names, maxSimilar)
	if len(similar) == 0 && len(word) > 1 {
		similar = withPrefix(names, word)
	}
	if len(similar) == 0 || len(similar) > maxSimilar {
		return ""
	}
	return "; similar: " + strings.Join(similar, ", ")
}

// subcommandNames returns the names of the subcommands that the help lists.
func subcommandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// isFile reports whether a word of the command line names a file rather than a command.
func isFile(name string) bool {
	info, err := store.Stat(name)
	return err == nil && !info.IsDir()
}

// noCommand returns the error for an unknown word in place of a command.
func noCommand(root *cobra.Command, word string) error {
	if f := formats.ByName(formats.Writable(), word); f != nil {
		return fmt.Errorf("%q is a format, not a command; run: ntconv to %s IN", word, word)
	}
	if isFile(word) {
		return fmt.Errorf("missing command before %s; to describe the file, run: ntconv info %s", word,
			message.ShellWord(word))
	}
	return fmt.Errorf("no such command: %q%s", word, didYouMean(word, subcommandNames(root)))
}

func noSubcommand(cmd *cobra.Command, word string) error {
	return fmt.Errorf("%s has no command %q%s", cmd.CommandPath(), word, didYouMean(word, subcommandNames(cmd)))
}

// noFormat returns the error for a word that is not a writable format.
func noFormat(to *cobra.Command, word string) error {
	if isFile(word) {
		return fmt.Errorf("%s is a file; the format goes before it: ntconv to pprof %s", word, message.ShellWord(word))
	}
	return fmt.Errorf("%s: no such format; these can be written: %s%s", word, formats.List(formats.Writable()),
		didYouMean(word, subcommandNames(to)))
}

// flagError returns the error for an invalid flag, with hints. args are the arguments of the whole command line.
func flagError(cmd *cobra.Command, err error, args []string) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &invalid):
		return wanted(invalid)
	case !errors.As(err, &unknown):
		return err
	}
	if cmd.HasAvailableSubCommands() {
		if other := misplaced(cmd, args, err); other != nil {
			return other
		}
	}
	name := unknown.GetSpecifiedShortnames() // as symbols of -symbols
	if name == "" {
		name = unknown.GetSpecifiedName()
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, didYouMean("--"+name, flags))
}

// wanted replaces the errors of strconv and other packages by the form of value that the flag accepts.
func wanted(err *pflag.InvalidValueError) error {
	flag, cause := err.GetFlag(), errors.Unwrap(err)
	var number *strconv.NumError
	var list *csv.ParseError
	isNumber := errors.As(cause, &number)
	want := "want a number"
	switch kind := flag.Value.Type(); {
	case errors.As(cause, &list):
		want = "want names with commas between them; a quotation mark must open and close a name"
	case kind == "duration":
		want = "want a number with a unit, as 1ms, 2.5s or 1m30s"
	case !isNumber:
		return err
	case errors.Is(number, strconv.ErrRange):
		want = "the number is too large or too small"
	case kind == "uintSlice":
		want += ", or several with commas between them: 4711,4712"
	case kind == "bool":
		want = "want true or false"
	}
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand + ", " + name
	}
	return fmt.Errorf("invalid argument %q for %q flag: %s", err.GetValue(), name, want)
}

// misplaced returns the error for flags before a command, or for an unknown command; nil if all words are valid. err is
// the error of the first flag.
func misplaced(cmd *cobra.Command, args []string, err error) error {
	what, missing := "command", noCommand
	if cmd.HasParent() {
		args = args[slices.Index(args, cmd.Name())+1:]
		what, missing = "format", noFormat
	}
	for _, word := range args {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if sub, _, wrong := cmd.Find([]string{word}); wrong == nil && sub != cmd {
			return fmt.Errorf("%w; flags come after the %s: %s FLAGS", err, what, sub.CommandPath())
		}
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return missing(cmd, args[0])
	}
	return nil
}

// oneInput is the argument check of commands that read one input.
func oneInput(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("no input given: name a trace, or - for standard input")
	case 1:
		return nil
	}
	err := fmt.Errorf("%s reads one input, got %d (%s)", cmd.CommandPath(), len(args), strings.Join(args, " "))
	if last := args[len(args)-1]; len(args) == 2 && cmd.Flag("output") != nil && meantAsOutput(cmd, last) {
		return fmt.Errorf("%w; if %s is the output, use -o %s", err, last, message.ShellWord(last))
	}
	return fmt.Errorf("%w; %s", err, wayForSeveral(cmd, args))
}

// wayForSeveral returns the command that merges several inputs, and the same command for the merged trace. It repeats
// the flags of the command line, without headers, which may be secrets.
func wayForSeveral(cmd *cobra.Command, args []string) string {
	var in strings.Builder
	for _, name := range args {
		in.WriteString(message.ShellWord(name) + " ")
	}
	again := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != flagEach && f.Name != "header" {
			again += " " + flagWords(f)
		}
	})
	way := fmt.Sprintf("to merge them, run: ntconv merge %sboth.nettrace && %s both.nettrace", in.String(), again)
	if len(args) == 2 && cmd.Flags().Lookup(flagDiff) != nil {
		return fmt.Sprintf("to compare them, run: %s --%s %s; %s", cmd.CommandPath(), flagDiff, strings.TrimSpace(in.String()), way)
	}
	return way
}

// meantAsOutput reports whether a surplus argument looks like an output: it has the extension of an output and does not
// exist. An existing file may be an input, which the output would replace.
func meantAsOutput(cmd *cobra.Command, name string) bool {
	f, _ := formats.ByOutput(name)
	return (f != nil || cmd.Name() == "print") && !exists(name)
}
