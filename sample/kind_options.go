package sample

import (
	"fmt"
	"strings"
)

// KindOptions configure the kinds that are computed from events. The zero value selects the defaults.
type KindOptions struct {
	// SubjectAs states where the subject of a sample appears: the allocated type of Alloc, the exception type of
	// Exceptions, the method of JIT, the type of TypeLoad, the event of Events.
	SubjectAs Subject
	// Labels are fields of events to add as labels, as paths such as "ExceptionMessage", or KEY=PATH for a label with
	// another key. A field of the event that gives a sample its stack takes precedence over one of the event that ends
	// it.
	Labels []string
	// Weight is the field of kind Events whose values are added up, as PATH or PATH:UNIT; "" counts events.
	Weight string
}

// A Subject is the place of a sample's subject.
type Subject uint8

const (
	SubjectDefault Subject = iota // the place that the kind defines, see docs/profiles.md
	SubjectLeaf                   // a frame below the method that made the sample, and a label
	SubjectLabel                  // only a label
)

// LabelOf splits an element of KindOptions.Labels into the key of the label and the path of the field. "exception
// message", the key that other profilers use, is the field ExceptionMessage.
func LabelOf(label string) (key, path string) {
	if key, path, ok := strings.Cut(label, "="); ok && key != "" && path != "" {
		return key, path
	}
	if label == "exception message" {
		return label, "ExceptionMessage"
	}
	return label, label
}

// WeightOf splits KindOptions.Weight into the path of the field and the unit of its values, by default "count".
func WeightOf(weight string) (path, unit string, err error) {
	path, unit, ok := strings.Cut(weight, ":")
	if path == "" || ok && (unit == "" || strings.Contains(unit, ":")) {
		return "", "", fmt.Errorf("weight %q: want FIELD or FIELD:UNIT, such as Size:bytes", weight)
	}
	if !ok {
		unit = "count"
	}
	return path, unit, nil
}
