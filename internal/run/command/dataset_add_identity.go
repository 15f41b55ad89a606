package command

import (
	"cmp"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// identify returns the hash of an input, and the traces of the dataset that are a beginning of it: a file with such a name was added
// while it grew.
func (r *collecting) identify(in *input.Input) (*input.Sum, []string, error) {
	recorded, err := r.recorded(sourceName(in.FirstName()))
	if err != nil {
		return nil, nil, err
	}
	var lengths []int64
	known := make(map[int64][]string)
	for _, m := range recorded {
		if m.Content > 0 {
			lengths = append(lengths, m.Content)
			known[m.Content] = append(known[m.Content], m.SHA256)
		}
	}
	sum, err := in.Sum(slices.Compact(slices.Sorted(slices.Values(lengths))))
	if err != nil {
		return nil, nil, err
	}
	var beginnings []string
	for length, beginning := range sum.Beginnings {
		if length < sum.Bytes && slices.Contains(known[length], hex.EncodeToString(beginning)) {
			beginnings = append(beginnings, dataset.UIDOf(beginning))
		}
	}
	return sum, beginnings, nil
}

// recorded returns the traces of the dataset that were added from a file with that name.
func (r *collecting) recorded(name string) (list []*dataset.Manifest, err error) {
	commits, err := r.set.Commits()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commits {
		names := r.sources[c.ID]
		if names == nil { // commits do not change
			names = make(map[string][]*dataset.Manifest)
			for i := range c.Traces {
				source := sourceName(c.Traces[i].Source)
				names[source] = append(names[source], &c.Traces[i])
			}
			r.sources[c.ID] = names
		}
		list = append(list, names[name]...)
	}
	return list, nil
}

// sourceName returns the name of an input without directories and compression.
func sourceName(name string) string {
	rest, _ := formats.CutCompression(filepath.Base(name))
	return rest
}

// madeWith is what the tables of a trace depend on besides the trace: the selection of events and other flags.
type madeWith struct{ selection, settings string }

func madeOf(m *dataset.Manifest) madeWith { return madeWith{m.Selection, m.Settings} }

// contains reports whether tables have all that others of the trace have: only these are a selection.
func (m madeWith) contains(other madeWith) bool {
	return m.selection == "" && other.selection != "" && m.settings == other.settings
}

func (m madeWith) String() string {
	return cmp.Or(strings.TrimSpace(m.selection+" "+m.settings), "all events and the default settings")
}
