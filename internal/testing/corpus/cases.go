package corpus

import (
	"strings"
	"testing"
)

// A Case is a test case of a text file: lines of input, and lines of what is expected of them.
type Case struct {
	Name        string
	Input, Want []string
}

// Cases reads a text file of test cases. A case begins with a line "# NAME"; its lines that begin with "> " are expected,
// the others are input. Lines before the first case explain the format.
func Cases(tb testing.TB, path string) (cases []Case) {
	tb.Helper()
	for line := range strings.Lines(string(Read(tb, path))) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			cases = append(cases, Case{Name: name})
			continue
		}
		if len(cases) == 0 || line == "" {
			continue
		}
		c := &cases[len(cases)-1]
		if want, ok := strings.CutPrefix(line, "> "); ok {
			c.Want = append(c.Want, want)
		} else {
			c.Input = append(c.Input, line)
		}
	}
	if len(cases) == 0 {
		tb.Fatalf("%s has no case", path)
	}
	return cases
}
