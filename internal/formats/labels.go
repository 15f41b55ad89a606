package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
)

const flagDropLabel = "drop-label"

// sampleLabels are the keys that samples may have whatever their events have, but for those of profiles that were
// imported.
var sampleLabels = []string{
	profile.LabelHost,
	profile.LabelPID,
	profile.LabelProcess,
	"state",
	profile.LabelThread,
	profile.LabelThreadID,
}

// maxLabelKeys is how many different keys are noted: a trace may make one up for every event.
const maxLabelKeys = 1000

// droppedLabels are keys of labels that a user wants to drop, and those that the events of a profile have.
type droppedLabels struct {
	keys []string // nothing is noted if there are none
	seen map[string]bool
	last *ntconv.Labels
}

func newDroppedLabels(keys []string) *droppedLabels {
	return &droppedLabels{keys: keys, seen: map[string]bool{}}
}

// see notes the labels of an event.
func (d *droppedLabels) see(e *ntconv.Event) {
	if len(d.keys) == 0 || e.Labels == nil || e.Labels == d.last {
		return
	}
	d.last = e.Labels
	for i := range e.Labels.List() {
		key := profile.LabelKey(&e.Labels.List()[i])
		if key != "" && (len(d.seen) < maxLabelKeys || slices.Contains(d.keys, key)) {
			d.seen[key] = true
		}
	}
}

// notes names the keys that no sample has, and lists those that samples have. Imported profiles have only labels of
// their own.
func (d *droppedLabels) notes(imported bool) []string {
	var added []string
	if !imported {
		added = sampleLabels
	}
	missing := slices.DeleteFunc(
		slices.Clone(d.keys),
		func(key string) bool { return d.seen[key] || slices.Contains(added, key) },
	)
	if len(missing) == 0 {
		return nil
	}
	parts := slices.Clone(added)
	if own := slices.Sorted(maps.Keys(d.seen)); len(own) > 0 {
		parts = append(parts, firstKeys(own))
	}
	has := "there are none"
	if len(parts) > 0 {
		has = "there are " + strings.Join(parts, ", ")
	}
	return []string{
		fmt.Sprintf("--%s: no sample has a label %s; %s", flagDropLabel, strings.Join(missing, " or "), has),
	}
}

// firstKeys returns the first of some keys as a list, and how many more there are.
func firstKeys(keys []string) string {
	const shown = 10
	text := strings.Join(keys[:min(shown, len(keys))], ", ")
	if n := len(keys) - shown; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
