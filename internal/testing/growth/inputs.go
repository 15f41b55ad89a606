package growth

import (
	"io"
	"slices"
)

// An Input is a generator of inputs. n is the number of its main elements, and its size grows with n.
type Input struct {
	Name string
	Ext  string // file extension
	// N is a value of n that is large enough to observe growth. Sizes up to 4N are within the limits of the formats.
	N     int
	Write func(w io.Writer, n int) error
	// Commands are the names of the commands whose work depends most on the main elements.
	Commands []string
}

// deeper are the inputs whose slices nest more deeply when n grows. The stack of a slice in a profile has all that it is in, up to a
// limit of 1,024 frames, so the cost of profiles is proportional to n only beyond it.
var deeper = []string{
	"pairs-nested", "pairs-crossing", "pairs-tasks", "activities-chain", "activities-chain-reverse", "activities-cycle",
	"chrome-begins", "chrome-nested", "chrome-crossing", "chrome-growing", "chrome-same-time",
}

// size returns the value of n with which growth of the cost of a command can be observed.
func (in *Input) size(c *Command) int {
	if slices.Contains(deeper, in.Name) && slices.Contains([]string{"pprof", "folded", "callgrind"}, c.Name) {
		return max(in.N, 20_000)
	}
	return in.N
}

// Inputs returns all generators.
func Inputs() []Input {
	return slices.Concat(
		commands(textInputs("attributes"), "info", "nettrace", "merge"),
		commands(append(typeInputs(), textInputs("types", "fields")...), "json", "chrome", "parquet", "html", "firefox", "stats"),
		commands(append(threadInputs(), textInputs("threads", "points", "lost", "times")...), "nettrace", "chrome", "stats"),
		commands(stackInputs(), "pprof", "json", "callgrind", "html"),
		commands(labelInputs(), "firefox", "json", "nettrace"),
		commands(spanInputs(), "chrome", "otlp", "pprof", "html"),
		commands(runtimeInputs(), "pprof", "folded", "prometheus", "html"),
		commands(shapeInputs(), "nettrace", "info"),
		commands(append(profileInputs(), textInputs("pprof-", "folded", "perf-")...), "nettrace", "pprof"),
		commands(textInputs("chrome-"), "chrome", "nettrace", "pprof"),
		commands(otlpInputs(), "nettrace", "otlp"),
		commands(textInputs("speedscope-", "firefox-"), "firefox", "nettrace"),
	)
}

func commands(list []Input, names ...string) []Input {
	for i := range list {
		list[i].Commands = names
	}
	return list
}

// A Command is a way to run the command. In Args, IN represents the input, COPY a copy of it, and OUT the output. Output
// files are avoided, because each is synced to disk.
type Command struct{ Name, Args string }

// Commands returns command lines that accept any input.
func Commands() []Command {
	return []Command{
		{"print", "print IN"}, {"json", "print --json --frames IN"}, {"info", "info IN"}, {"verify", "verify IN IN"},
		{"diff", "diff IN COPY"}, {"merge", "to nettrace IN COPY -o -"}, {"scrub", "scrub IN -"},
		{"filter", "filter --event E* IN -"}, {"nettrace", "to nettrace IN -o -"}, {"pprof", "to pprof IN -o -"},
		{"folded", "to folded IN -o -"}, {"callgrind", "to callgrind IN -o -"}, {"otlp", "to otlp --spans all IN -o -"},
		// With few rows, the size would determine whether a type has its own table.
		{"parquet", "to parquet --typed-rows 20 IN -o OUT/"},
		{"html", "to html IN -o -"}, {"chrome", "to chrome IN -o -"}, {"perfetto", "to perfetto IN -o -"}, {"firefox", "to firefox IN -o -"},
		{"speedscope", "to speedscope IN -o -"}, {"prometheus", "to prometheus --metrics-from-events IN -o -"}, {"top", "top IN"},
		{"stats", "print --stats --by $event,$process,$thread,$tid,$time --of $size IN"},
	}
}
