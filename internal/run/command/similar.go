package command

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/select/where"
)

// Bounds of a hint.
const (
	maxSimilar = 3  // names of functions
	maxLabels  = 10 // keys, or values of a key
)

// selectableNames are the names in a profile that flags can select, for hints if a flag matches none of them.
type selectableNames struct {
	functions []*profile.Function
	labels    map[string]map[string]bool // values by key; empty for numeric labels
}

// namesOf returns the names in a profile. It records labels only if labels is set.
func namesOf(p *profile.Profile, labels bool) *selectableNames {
	n := &selectableNames{functions: p.Function, labels: map[string]map[string]bool{}}
	for _, s := range p.Sample {
		if !labels {
			break
		}
		for key, values := range s.Label {
			for _, v := range values {
				if n.values(key); len(n.labels[key]) <= maxLabels {
					n.labels[key][v] = true
				}
			}
		}
		for key := range s.NumLabel {
			n.values(key)
		}
	}
	return n
}

func (n *selectableNames) values(key string) {
	if n.labels[key] == nil {
		n.labels[key] = map[string]bool{}
	}
}

// hint returns a hint to append to the error if the value of an option matches no sample.
func (n *selectableNames) hint(option, value string) string {
	key, _, hasKey := strings.Cut(value, "=")
	values := slices.Sorted(maps.Keys(n.labels[key]))
	switch {
	case option == "focus":
		if names := n.similar(value); len(names) > 0 {
			return "; similar: " + strings.Join(names, ", ")
		}
		return "; no function has a similar name; -n 0 without --focus lists all functions"
	case len(n.labels) == 0:
		return "; the samples have no labels"
	case option == flagTagRoot || option == flagTagLeaf || !hasKey || n.labels[key] == nil:
		return message.Line("; labels of the samples are " + firstLabels(slices.Sorted(maps.Keys(n.labels))))
	case len(values) == 0:
		return message.Line(fmt.Sprintf("; label %s is a number: %s=MIN:MAX selects a range", key, key))
	}
	return message.Line(fmt.Sprintf("; values of the label %s are %s", key, firstLabels(values)))
}

func firstLabels(list []string) string {
	if len(list) > maxLabels {
		return strings.Join(list[:maxLabels], ", ") + " and more"
	}
	return strings.Join(list, ", ")
}

// similar returns functions that an expression may mean: those that match it regardless of case, or else those with a
// word that differs in few letters.
func (n *selectableNames) similar(expression string) (names []string) {
	folded, err := regexp.Compile("(?i)" + expression)
	if err != nil {
		return nil
	}
	of := map[string][]string{} // functions by word
	for _, f := range n.functions {
		if folded.MatchString(f.Name) {
			names = append(names, f.Name)
		}
		for _, word := range strings.FieldsFunc(f.Name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			of[word] = append(of[word], f.Name)
		}
	}
	if len(names) == 0 {
		for _, word := range where.Nearest(expression, slices.Collect(maps.Keys(of)), maxSimilar) {
			names = append(names, of[word]...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxSimilar)]
}
