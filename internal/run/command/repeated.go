package command

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A repeatedFlag is a flag of the command line that proposed commands repeat.
type repeatedFlag struct {
	group string
	words string // quoted for a shell
}

// repeatedFlags returns the flags of the command line that determine how the input is read, its limits and the
// selection, sorted by name. It omits --event and --provider, because proposed commands have their own.
func repeatedFlags(cmd *cobra.Command) (list []repeatedFlag) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		group := groupOf(f)
		if slices.Contains([]string{groupInput, groupLimits, groupSelection}, group) && f.Name != "event" && f.Name != "provider" {
			list = append(list, repeatedFlag{group, flagWords(f)})
		}
	})
	return list
}

// inputWords returns the arguments that name an input in a proposed command: the flags of this command line that belong
// to the given groups, and the name. Every command that reads a trace accepts these flags; without them the proposed
// command could fail.
func (a *app) inputWords(name string, groups ...string) (words string) {
	for _, f := range a.repeated {
		if slices.Contains(groups, f.group) {
			words += f.words + " "
		}
	}
	return words + message.ShellWord(name)
}

// flagWords returns a flag with its value, repeated for each value of a list.
func flagWords(f *pflag.Flag) string {
	value := f.Value.String()
	values := []string{value}
	list, isList := f.Value.(pflag.SliceValue)
	switch {
	case isList:
		values = list.GetSlice()
	case f.Value.Type() == "stringToString":
		values = []string{strings.Trim(value, "[]")}
	case f.NoOptDefVal == "":
	case f.NoOptDefVal == value:
		return "--" + f.Name
	default:
		return "--" + f.Name + "=" + message.ShellWord(value)
	}
	var words []string
	for _, v := range values {
		switch {
		case v == "": // a limit of 0, which means no limit
			v = "0"
		case f.Value.Type() == "stringSlice":
			v = csvField(v)
		}
		words = append(words, "--"+f.Name+" "+message.ShellWord(v))
	}
	return strings.Join(words, " ")
}

// csvField quotes a value of a flag with comma-separated values.
func csvField(value string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a Builder returns no errors
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
