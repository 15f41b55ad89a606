package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/cobra"
)

// A percentFlag is a fraction that a flag states in percent. It is negative if the flag was not set.
type percentFlag float64

// Set implements pflag.Value.
func (p *percentFlag) Set(s string) error {
	number, ok := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || x < 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return errors.New("want a percentage, such as 5%")
	}
	*p = percentFlag(x / 100)
	return nil
}

// String implements pflag.Value.
func (p *percentFlag) String() string {
	if *p < 0 {
		return ""
	}
	return strconv.FormatFloat(math.Round(1e6*float64(*p))/1e4, 'f', -1, 64) + "%"
}

// Type implements pflag.Value.
func (p *percentFlag) Type() string { return "percent" }

// A perFlag is what values are divided by.
type perFlag struct{ text, of, name string }

// Units of a perFlag.
const (
	perTime    = "time"
	perRequest = "request"
	perSample  = "sample"
)

// Set implements pflag.Value.
func (p *perFlag) Set(s string) error {
	p.text = s
	p.of, p.name, _ = strings.Cut(s, " ")
	if p.name = strings.TrimSpace(p.name); !slices.Contains([]string{perTime, perRequest, perSample}, p.of) ||
		p.name != "" && p.of != perRequest {
		return fmt.Errorf("want %s, %s, '%s NAME' or %s", perTime, perRequest, perRequest, perSample)
	}
	return nil
}

// String implements pflag.Value.
func (p *perFlag) String() string { return p.text }

// Type implements pflag.Value.
func (p *perFlag) Type() string { return "unit" }

// unit returns the noun for one of the units.
func (p *perFlag) unit() string {
	if p.of == perTime {
		return "second"
	}
	return p.of
}

// exposure returns the number of units in a recording, and which requests it counts. An error says why there are none.
func (p *perFlag) exposure(r *profilediff.Recording, o *profilediff.Observed) (n float64, of string, err error) {
	switch p.of {
	case "":
		return 1, "", nil
	case perTime:
		if n = r.Seconds; n <= 0 {
			return 0, "", errors.New("the length of the recording is unknown")
		}
	case perSample:
		if n = r.Samples; n <= 0 {
			return 0, "", errors.New("the number of samples is unknown")
		}
	default:
		n, of, names := o.Requests(p.name)
		switch {
		case n > 0:
			return n, of, nil
		case len(names) > 0:
			return 0, "", fmt.Errorf("no such requests; use '%s NAME' with one of these names: %s", perRequest, strings.Join(names, ", "))
		}
		return 0, "", errors.New("the trace has no requests and no spans of servers; " + formats.RecordAdvice(sample.Requests))
	}
	return n, "", nil
}

// twoInputs is the argument check of commands that compare two inputs.
func twoInputs(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 2:
		return nil
	case 0, 1:
		return fmt.Errorf("%s compares two inputs, got %d: name the earlier one first", cmd.CommandPath(), len(args))
	}
	return fmt.Errorf("%s compares two inputs, got %d (%s)", cmd.CommandPath(), len(args), strings.Join(args, " "))
}

// twoInputsCompletion completes the names of two inputs.
func twoInputsCompletion(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		args = nil
	}
	return inputCompletion(cmd, args, word)
}
