package command

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// complete sets the completions of a flag. For a flag with comma-separated values, it completes each of them.
func complete(cmd *cobra.Command, flag string, values []string) {
	completeWith(cmd, flag, func() []string { return values })
}

// completeWith is complete for values that are computed only when a shell asks for completions.
func completeWith(cmd *cobra.Command, flag string, values func() []string) {
	completeBy(cmd, flag, func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		if !isList(cmd.Flag(flag)) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
		lists := completeList(values(), word)
		if flag == formats.FlagSpanLink && strings.Contains(word, ",") {
			lists = slices.DeleteFunc(lists, func(list string) bool { // auto and off cannot be part of a list
				return strings.HasSuffix(list, ",auto") || strings.HasSuffix(list, ",off")
			})
		}
		return lists, cobra.ShellCompDirectiveNoFileComp
	})
}

func completeBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // a bug of this package: the flag is undefined, or has completions already
	}
}

// isList reports whether the flag accepts comma-separated values.
func isList(f *pflag.Flag) bool {
	_, ok := f.Value.(pflag.SliceValue)
	return ok && f.Value.Type() != "stringArray" || f.Name == formats.FlagSpanLink
}

// completeList returns the lists that continue word with one of values. word is a list whose last value is incomplete.
func completeList(values []string, word string) (lists []string) {
	done, last := "", word
	if i := strings.LastIndexByte(word, ','); i >= 0 {
		done, last = word[:i+1], word[i+1:]
	}
	given := strings.Split(done, ",")
	for _, v := range values {
		if strings.HasPrefix(v, last) && !slices.Contains(given, v) {
			lists = append(lists, done+v)
		}
	}
	return lists
}

// inputCompletion completes names of files with an extension of a readable format.
func inputCompletion(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return formats.InputExts(formats.Readable()), cobra.ShellCompDirectiveFilterFileExt
}

// isCompletion reports whether a shell asks for completions.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// prepareCompletion prepares the flags of a command and of its subcommands for completion: cobra shows their usage
// including the back quotes around the name of the value, and completes file names for flags without completions.
func prepareCompletion(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		f.Usage = usage
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); ok {
			return
		}
		switch value {
		case "file", "directory", "program":
		case "input":
			completeBy(cmd, f.Name, anyCompletion)
		default:
			completeBy(cmd, f.Name, cobra.NoFileCompletions)
		}
	})
	for _, c := range cmd.Commands() {
		prepareCompletion(c)
	}
}

// completeHelp completes the arguments of help to commands and topics.
func completeHelp(root *cobra.Command) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) (names []string, _ cobra.ShellCompDirective) {
		cmd, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, c := range cmd.Commands() {
			if (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(c.Name(), word) {
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
