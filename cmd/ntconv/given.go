package main

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// inputWords returns the arguments that name an input in a proposed command: the flags of this command line that belong
// to the given groups, and the name. Every command that reads a trace accepts these flags; without them the proposed
// command could fail.
func (a *app) inputWords(name string, groups ...string) string {
	words := message.ShellWord(name)
	for _, f := range slices.Backward(a.given) {
		if slices.Contains(groups, f.group) {
			words = f.words + " " + words
		}
	}
	return words
}

// A givenFlag is a flag of the command line.
type givenFlag struct {
	group string
	words string // quoted for a shell
}

// givenFlags returns the flags of the command line that determine how the input is read, its limits and the selection,
// sorted by name. It omits --event and --provider, because proposed commands have their own.
func givenFlags(cmd *cobra.Command) (list []givenFlag) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		group := f.Annotations[groupKey]
		if len(group) == 0 || f.Name == "event" || f.Name == "provider" {
			return
		}
		switch group[0] {
		case groupInput, groupLimits, groupSelection:
			list = append(list, givenFlag{group[0], flagWords(f)})
		}
	})
	return list
}

// flagWords returns a flag with its value, repeated for each value of a list.
func flagWords(f *pflag.Flag) string {
	flag := func(value string) string {
		if value == "" { // a limit of 0, which means no limit
			value = "0"
		}
		return "--" + f.Name + " " + message.ShellWord(value)
	}
	switch v := f.Value.(type) {
	case pflag.SliceValue:
		var words []string
		for _, value := range v.GetSlice() {
			if f.Value.Type() == "stringSlice" {
				value = csvField(value)
			}
			words = append(words, flag(value))
		}
		return strings.Join(words, " ")
	default:
		switch {
		case v.Type() == "stringToString":
			return flag(strings.TrimSuffix(strings.TrimPrefix(v.String(), "["), "]"))
		case f.NoOptDefVal == "":
			return flag(v.String())
		case f.NoOptDefVal == v.String():
			return "--" + f.Name
		default:
			return "--" + f.Name + "=" + message.ShellWord(v.String())
		}
	}
}

// csvField quotes a value of a flag with comma-separated values.
func csvField(value string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a Builder returns no errors
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
