package formats

import (
	"fmt"
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

// droppedLabels are keys of labels that a user wants to drop.
type droppedLabels struct {
	keys []string        // nothing is noted if there are none
	seen map[string]bool // those of keys that events have
	last *ntconv.Labels
}

func newDroppedLabels(keys []string) *droppedLabels {
	return &droppedLabels{keys: keys, seen: map[string]bool{}}
}

// see notes which of the keys an event has.
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

// notes names the keys that no sample has, and lists those that samples have in the profile as it was written. Imported
// profiles have only labels of their own.
func (d *droppedLabels) notes(written []string, imported bool) []string {
	missing := slices.DeleteFunc(
		slices.Clone(d.keys),
		func(key string) bool { return d.seen[key] || !imported && slices.Contains(sampleLabels, key) },
	)
	if len(missing) == 0 {
		return nil
	}
	has := "there are no others"
	if len(written) > 0 {
		has = "there are " + firstKeys(written)
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
