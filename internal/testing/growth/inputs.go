package growth

import (
	"io"
	"slices"
)

// An Input is a generator of inputs. What an input has many of grows with n, and so does its size.
type Input struct {
	Name string
	Ext  string // of the file
	// N is the size for which the test measures. The same with N and 2N must be below all limits.
	N     int
	Write func(w io.Writer, n int) error
	// Only are the commands that matter for this input, as in Commands; nil for all.
	Only []string
}

// Inputs returns all generators.
func Inputs() []Input {
	return slices.Concat(typeInputs(), threadInputs(), stackInputs(), spanInputs(), shapeInputs(), profileInputs(), chromeInputs(), otlpInputs(), viewerInputs())
}
