package overview

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// partLabels are the labels that divide the samples of a kind into parts.
var partLabels = [sample.Count]string{
	sample.Wall:       meters.LabelState,
	sample.Alloc:      meters.LabelType,
	sample.Exceptions: meters.LabelExceptionType,
	sample.Wait:       meters.LabelWaitSource,
	sample.GC:         meters.LabelGeneration,
	sample.JIT:        meters.LabelTier,
	sample.Requests:   meters.LabelSide,
}

// isPartLabel reports whether a kind is divided by the label with a key.
func isPartLabel(key string) bool {
	for _, k := range partLabels {
		if k == key {
			return true
		}
	}
	return false
}

// A kindTotals holds the totals of one kind.
type kindTotals struct {
	kind     sample.Kind
	totals   *profile.Totals
	lengths  []*distribution.Distribution // by value; nil for values that are not lengths of time
	parts    ranking
	sides    map[*rankingRow]*distribution.Distribution // of sample.Requests: durations
	observed []*observation                             // by source; empty without Options.Evidence
}

func newKindTotals(k sample.Kind) *kindTotals {
	return &kindTotals{kind: k, totals: profile.NewTotals(k), sides: map[*rankingRow]*distribution.Distribution{}}
}

// isInterval reports whether the samples of a kind are intervals with a length of their own.
func isInterval(k sample.Kind) bool {
	return k != sample.Wall && k != sample.CPU && k != sample.Imported
}

func (k *kindTotals) add(w *profile.Weighed[struct{}]) {
	k.totals.Add(w.Count, w.Types, w.Values, w.Variances, w.Source)
	if isInterval(k.kind) {
		for i, t := range w.Types {
			if t.Unit == "nanoseconds" {
				k.length(i).Add(distribution.Uint(uint64(max(w.Values[i], 0))))
			}
		}
	}
	key := partLabels[k.kind]
	if key == "" {
		return
	}
	value := int64(0)
	if n := len(w.Values); n > 0 {
		value = w.Values[n-1]
	}
	row := k.parts.add(label(w.Labels, key), w.Source, int64(w.Count), value)
	if k.kind == sample.Requests {
		h := k.sides[row]
		if h == nil {
			h = new(distribution.Distribution)
			k.sides[row] = h
		}
		h.Add(distribution.Uint(uint64(max(value, 0))))
	}
}

// length returns the distribution of a value.
func (k *kindTotals) length(i int) *distribution.Distribution {
	for len(k.lengths) <= i {
		k.lengths = append(k.lengths, nil)
	}
	if k.lengths[i] == nil {
		k.lengths[i] = new(distribution.Distribution)
	}
	return k.lengths[i]
}

// label returns the value of a label, "" if there is none.
func label(list []ntconv.Label, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].Str
		}
	}
	return ""
}
