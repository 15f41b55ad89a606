package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

const flagDropLabel = "drop-label"

// sampleLabels are the keys that samples may have in addition to those of their events and of their kind. Imported
// samples have only the labels of their profile.
var sampleLabels = []string{
	meters.LabelHost,
	meters.LabelPID,
	meters.LabelProcess,
	meters.LabelThread,
	meters.LabelThreadID,
}

// droppedLabels finds keys of --drop-label that no sample has.
type droppedLabels struct {
	keys []string        // of --drop-label; if empty, see does nothing
	seen map[string]bool // the keys that events have
	last *ntconv.Labels  // of the previous event with labels: equal pointers need no second look
}

func newDroppedLabels(keys []string) *droppedLabels {
	return &droppedLabels{keys: keys, seen: map[string]bool{}}
}

// see records which of the keys the event has.
func (d *droppedLabels) see(e *ntconv.Event) {
	if len(d.keys) == 0 || e.Labels == nil || e.Labels == d.last {
		return
	}
	d.last = e.Labels
	for i := range e.Labels.List() {
		if key := profile.LabelKey(&e.Labels.List()[i]); slices.Contains(d.keys, key) {
			d.seen[key] = true
		}
	}
}

// notes returns a note on the keys that no sample has, with the keys that the written samples have.
func (d *droppedLabels) notes(written []string, of sample.Kind) []string {
	known := meters.KindLabels(of)
	if of != sample.Imported {
		known = append(known, sampleLabels...)
	}
	missing := slices.DeleteFunc(slices.Clone(d.keys),
		func(key string) bool { return d.seen[key] || slices.Contains(known, key) })
	if len(missing) == 0 {
		return nil
	}
	has := "the profile has no labels"
	if len(written) > 0 {
		has = "available: " + firstKeys(written)
	}
	return []string{
		fmt.Sprintf("--%s: no sample has the label %s; %s", flagDropLabel, strings.Join(missing, " or "), has),
	}
}

// firstKeys returns the first 10 keys as a list, and how many more there are.
func firstKeys(keys []string) string {
	const shown = 10
	text := strings.Join(keys[:min(shown, len(keys))], ", ")
	if n := len(keys) - shown; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
