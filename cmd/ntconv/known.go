package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/select/where"
)

// Bounds of a hint.
const (
	maxSimilar = 3  // names of functions
	maxKnown   = 10 // keys, or values of a key
	maxWord    = 64 // maximum bytes of an expression for which similar names are searched
)

// knownNames are the names in a profile that flags can select, for hints if a flag matches none of them.
type knownNames struct {
	functions []*profile.Function
	labels    map[string]map[string]bool // values by key; empty for numeric labels
}

// learnNames returns the names in a profile. It records labels only if labels is set.
func learnNames(p *profile.Profile, labels bool) *knownNames {
	k := &knownNames{functions: p.Function, labels: map[string]map[string]bool{}}
	if !labels {
		return k
	}
	for _, s := range p.Sample {
		for key, values := range s.Label {
			set := k.labels[key]
			if set == nil {
				set = map[string]bool{}
				k.labels[key] = set
			}
			for _, v := range values {
				if len(set) <= maxKnown {
					set[v] = true
				}
			}
		}
		for key := range s.NumLabel {
			if k.labels[key] == nil {
				k.labels[key] = map[string]bool{}
			}
		}
	}
	return k
}

// hint returns a hint to append to the error if the value of an option matches no sample.
func (k *knownNames) hint(option, value string) string {
	switch option {
	case "focus":
		if names := k.similar(value); len(names) > 0 {
			return "; similar: " + strings.Join(names, ", ")
		}
		return "; no function has a similar name; -n 0 without --focus lists all functions"
	case flagTagRoot, flagTagLeaf:
		return "; " + k.keys()
	}
	key, _, hasKey := strings.Cut(value, "=")
	values := slices.Sorted(maps.Keys(k.labels[key]))
	switch {
	case !hasKey || k.labels[key] == nil:
		return "; " + k.keys()
	case len(values) == 0:
		return message.Line(fmt.Sprintf("; label %s is a number: %s=MIN:MAX selects a range", key, key))
	}
	more := ""
	if len(values) > maxKnown {
		values, more = values[:maxKnown], " and more"
	}
	return message.Line(fmt.Sprintf("; values of the label %s are %s%s", key, strings.Join(values, ", "), more))
}

// keys lists the keys of labels.
func (k *knownNames) keys() string {
	keys := slices.Sorted(maps.Keys(k.labels))
	switch n := len(keys) - maxKnown; {
	case len(keys) == 0:
		return "the samples have no labels"
	case n > 0:
		return message.Line(fmt.Sprintf("labels of the samples are %s and %d more", strings.Join(keys[:maxKnown], ", "), n))
	}
	return "labels of the samples are " + message.Line(strings.Join(keys, ", "))
}

// similar returns functions that an expression may mean: functions that match case-insensitively, or else functions
// with a word that differs in few letters.
func (k *knownNames) similar(expression string) (names []string) {
	folded, err := regexp.Compile("(?i)" + expression)
	if err != nil {
		return nil
	}
	type near struct {
		name     string
		distance int
	}
	var matching, all []near
	want := strings.ToLower(expression)
	most := max(1, len(want)/4)
	short := len(want) < 3 || len(want) > maxWord // a few letters are similar to any word
	for _, f := range k.functions {
		matches := folded.MatchString(f.Name)
		if short && !matches {
			continue
		}
		best := len(f.Name) + len(want)
		for _, word := range words().FindAllString(f.Name, -1) {
			if len(word) <= len(want)+most { // longer ones differ in more letters
				best = min(best, where.Distance(strings.ToLower(word), want))
			}
		}
		switch {
		case matches:
			matching = append(matching, near{f.Name, best})
		case best <= most:
			all = append(all, near{f.Name, best})
		}
	}
	if len(matching) > 0 {
		all = matching
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	for _, n := range all {
		if len(names) < maxSimilar && !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	return names
}

var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\d_]+`) })
