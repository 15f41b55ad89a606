package growth

import (
	"io"
	"slices"
)

// An Input is a generator of inputs. What an input has many of grows with n, and so does its size.
type Input struct {
	Name string
	Ext  string // of the file
	// N is a size that is large enough to see how the cost grows. Sizes up to 4N are below the limits of the formats.
	N     int
	Write func(w io.Writer, n int) error
	// Commands are the names of the commands whose work depends most on what the input has many of.
	Commands []string
}

// Inputs returns all generators.
func Inputs() []Input {
	return slices.Concat(
		commands(typeInputs(), "json", "chrome", "parquet", "firefox"),
		commands(threadInputs(), "nettrace", "chrome"),
		commands(stackInputs(), "pprof", "json"),
		commands(labelInputs(), "firefox", "json", "nettrace"),
		commands(spanInputs(), "chrome", "otlp"),
		commands(shapeInputs(), "nettrace", "info"),
		commands(profileInputs(), "nettrace", "pprof"),
		commands(chromeInputs(), "chrome", "nettrace"),
		commands(otlpInputs(), "nettrace", "otlp"),
		commands(viewerInputs(), "firefox", "nettrace"),
	)
}

func commands(list []Input, names ...string) []Input {
	for i := range list {
		list[i].Commands = names
	}
	return list
}

// A Command is a way to run the command. In Args, IN stands for the input and OUT for an output. Files are avoided,
// because each is flushed to the disk.
type Command struct{ Name, Args string }

// Commands returns what can be done with any input.
func Commands() []Command {
	return []Command{
		{"print", "print IN"}, {"json", "print --json --symbols IN"}, {"info", "info IN"}, {"verify", "verify IN IN"},
		{"filter", "filter --event E* IN -"}, {"nettrace", "to nettrace IN -o -"}, {"pprof", "to pprof IN -o -"},
		{"folded", "to folded IN -o -"}, {"otlp", "to otlp --spans all IN -o -"},
		// With few rows, whether a type has a table would depend on the size.
		{"parquet", "to parquet --typed-rows 20 IN -o OUT/"},
		{"chrome", "to chrome IN -o -"}, {"perfetto", "to perfetto IN -o -"}, {"firefox", "to firefox IN -o -"},
		{"speedscope", "to speedscope IN -o -"}, {"top", "top IN"},
	}
}
