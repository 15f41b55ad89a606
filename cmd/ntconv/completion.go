package main

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// complete makes a flag complete to values. A flag that takes several completes each of them.
func complete(cmd *cobra.Command, flag string, values []string) {
	completeWith(cmd, flag, func() []string { return values })
}

// completeWith is complete for values that are made when a shell asks for them.
func completeWith(cmd *cobra.Command, flag string, values func() []string) {
	completeBy(cmd, flag, func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		if !isList(cmd.Flag(flag)) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
		lists := completeList(values(), word)
		if flag == formats.FlagSpanLink && strings.Contains(word, ",") {
			lists = slices.DeleteFunc(lists, func(list string) bool { // these two are no kinds of evidence
				return strings.HasSuffix(list, ",auto") || strings.HasSuffix(list, ",off")
			})
		}
		return lists, cobra.ShellCompDirectiveNoFileComp
	})
}

func completeBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag was not defined, or twice: a mistake in this package
	}
}

// isList reports whether a flag takes several values with commas between them.
func isList(f *pflag.Flag) bool {
	_, ok := f.Value.(pflag.SliceValue)
	return ok && f.Value.Type() != "stringArray" || f.Name == formats.FlagSpanLink
}

// completeList returns the lists that continue a word by one of some values. The word is a list itself, of which the
// last value is incomplete.
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

// completeNames makes the flags that select providers and events complete to names that are known.
func completeNames(cmd *cobra.Command) {
	completeWith(cmd, "provider", clr.ProviderNames)
	completeWith(cmd, "event", clr.EventNames)
}

// inputCompletion completes file names that have an extension of the table.
func inputCompletion(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return formats.InputExts(formats.Readable()), cobra.ShellCompDirectiveFilterFileExt
}

// isCompletion reports whether a command line is a shell's question how to complete another one.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// prepareCompletion prepares the flags of a command and of those below it for completion: the library shows their usage
// as it is, with back quotes around the name of the value, and offers files for flags that say nothing.
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

// completeHelp completes the argument of help to commands and topics.
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
