package overview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// EvidenceSlices is the number of slices of an Evidence.
const EvidenceSlices = 64

// Evidence is what the sampling error of a total is estimated from.
type Evidence struct {
	Squares float64   // sum of the squares of the values of all samples
	Slices  []float64 // the total by slice of the recording, of equal length
	// Lengths is the distribution of the values if these are lengths of intervals; otherwise nil.
	Lengths *distribution.Distribution
}

// Durations are the durations of the requests with a name, in nanoseconds.
type Durations struct {
	Side, Name string
	Lengths    *distribution.Distribution
}

// An observation records the evidence of the samples of a kind from one source.
type observation struct {
	counts   series
	types    []sample.Type // parallel to values and squares
	values   []series
	squares  []float64
	requests map[Durations]*distribution.Distribution // by side and name
}

// observe adds a sample, which it borrows.
func (k *kindTotals) observe(w *profile.Weighed[struct{}]) {
	for len(k.observed) <= int(w.Source) {
		k.observed = append(k.observed, &observation{requests: map[Durations]*distribution.Distribution{}})
	}
	o := k.observed[w.Source]
	o.counts.add(w.Time, 1)
	for i, v := range w.Values {
		if i == len(o.types) {
			o.types, o.values, o.squares = append(o.types, w.Types[i]), append(o.values, series{}), append(o.squares, 0)
		}
		o.values[i].add(w.Time, v)
		o.squares[i] += float64(v) * float64(v)
	}
	if k.kind != sample.Requests || len(w.Values) == 0 {
		return
	}
	key := Durations{Side: label(w.Labels, meters.LabelSide), Name: label(w.Labels, meters.LabelRequest)}
	h := o.requests[key]
	if h == nil {
		if len(o.requests) >= maxRequests {
			return
		}
		key.Side, key.Name = strings.Clone(key.Side), strings.Clone(key.Name)
		h = new(distribution.Distribution)
		o.requests[key] = h
	}
	h.Add(distribution.Uint(uint64(max(w.Values[len(w.Values)-1], 0))))
}

// maxRequests is the maximum number of names of requests. Further names are omitted.
const maxRequests = 1000

// addEvidence adds the evidence of the kind that was added last, from the sources that its totals use.
func (o *Overview) addEvidence(k *kindTotals, first, last ntconv.Ticks) {
	if len(o.Kinds) == 0 || o.Kinds[len(o.Kinds)-1].Kind != k.kind.String() {
		return
	}
	item := &o.Kinds[len(o.Kinds)-1]
	item.Evidence = &Evidence{Slices: make([]float64, EvidenceSlices)}
	for i := range item.Values {
		item.Values[i].Evidence = &Evidence{Slices: make([]float64, EvidenceSlices)}
		if i < len(k.lengths) {
			item.Values[i].Evidence.Lengths = k.lengths[i]
		}
	}
	used := k.totals.Used()
	for source, of := range k.observed {
		if source >= len(used) || !used[source] {
			continue
		}
		item.Evidence.add(0, of.counts.columns(first, last, EvidenceSlices))
		for i, t := range of.types {
			at := slices.IndexFunc(item.Values, func(v Value) bool { return v.Type == t.Type && v.Unit == t.Unit })
			if at >= 0 {
				item.Values[at].Evidence.add(of.squares[i], of.values[i].columns(first, last, EvidenceSlices))
			}
		}
		for key, lengths := range of.requests {
			key.Lengths = lengths
			o.Durations = append(o.Durations, key)
		}
	}
	item.Evidence.Squares = float64(item.Samples)
	slices.SortFunc(o.Durations, func(a, b Durations) int {
		return cmp.Or(cmp.Compare(b.Side, a.Side), cmp.Compare(a.Name, b.Name))
	})
}

// add adds the evidence of a source.
func (e *Evidence) add(squares float64, columns []float64) {
	e.Squares += squares
	for i, v := range columns {
		e.Slices[i] += v
	}
}
