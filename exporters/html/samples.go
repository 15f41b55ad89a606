package html

import (
	"cmp"
	"encoding/hex"
	"hash/maphash"
	"math"
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/sample"
)

const (
	// maxSamples is the maximum number of samples of all kinds in memory. If there are more, they are added up.
	maxSamples = 1 << 20
	// firstBin is the width of the first bins in nanoseconds.
	firstBin = 1 << 20
	// lastBin is the width beyond which bins do not get wider: more than 70 years.
	lastBin = 1 << 61
)

// A spanKey identifies a span by its trace ID and its own ID.
type spanKey [24]byte

// samples holds the samples of all kinds. It is used by the goroutine of the sink.
type samples struct {
	byKind [sample.Count]*kindSamples
	rows   int
	max    int   // maxSamples, except in tests
	start  int64 // of the trace: bins begin there
	texts  texts
	main   profile.MainTypes
	spans  map[spanKey]int32 // numbers from 1
	keys   []spanKey         // by number - 1
	last   struct {
		trace, span string
		number      int32
	}
	places places
}

// places finds rows by their keys. All kinds use it, one after the other, so that adding up allocates nothing.
type places struct {
	intern.Index
	seed maphash.Seed
}

// kindSamples holds the samples of a kind: the columns in rows, the values by type.
type kindSamples struct {
	kind   sample.Kind
	types  []sample.Type
	values [][]int64 // by type, then by row
	rows   []sampleRow
	start  int64           // of the first bin
	bin    int64           // width of bins in nanoseconds, 0 for none
	detail detail          // what bins omit
	used   int64           // number of samples of the sources that finish keeps
	totals *profile.Totals // of all samples, by source
	places *places
}

// A sampleRow is a sample, or several in a bin. Times are nanoseconds since 1970.
type sampleRow struct {
	sampleKey
	count int64 // samples that were added up
}

// A sampleKey has everything in which samples of a kind differ, except their values. Samples with equal keys are added
// up.
type sampleKey struct {
	time           int64
	stack          int64
	thread         int32
	span           int32 // number in samples.spans, 0 for none
	state, subject uint32
	source         uint8
}

// detail states what is omitted because wider bins did not suffice.
type detail uint8

const (
	allDetails detail = iota
	noSpans
	noThreads
	noSubjects
	noStacks
)

// leastBins is the number of bins that remain before the next detail is omitted.
var leastBins = [...]int64{allDetails: 512, noSpans: 16, noThreads: 1, noSubjects: 1, noStacks: 1}

func newSamples() *samples {
	return &samples{max: maxSamples, spans: make(map[spanKey]int32), places: places{seed: maphash.MakeSeed()}}
}

// add adds a sample, which it borrows.
func (s *samples) add(w *profile.Weighed[tables.Sample]) {
	k := s.byKind[w.Kind]
	if k == nil {
		k = &kindSamples{kind: w.Kind, start: s.start, totals: profile.NewTotals(w.Kind), places: &s.places}
		s.byKind[w.Kind] = k
	}
	row := &w.Subject
	k.rows = append(k.rows, sampleRow{count: 1, sampleKey: sampleKey{
		time: k.binned(row.TSNanos), stack: row.StackID, thread: row.ThreadID, span: s.span(row.TraceID, row.SpanID),
		state: s.texts.id(row.State), subject: s.texts.id(row.Subject), source: w.Source,
	}})
	k.rows[len(k.rows)-1].omit(k.detail)
	for i := range k.values {
		k.values[i] = append(k.values[i], 0)
	}
	if w.Counts.Type != "" {
		k.addValue(w.Counts, w.Counted)
	}
	for i, t := range w.Types {
		k.addValue(t, w.Values[i])
	}
	k.totals.Add(w.Count, w.Types, w.Values, w.Variances, w.Source)
	if s.rows++; s.rows > s.max {
		s.shrink(s.max / 2)
	}
}

// addValue adds a value of a type to the last row.
func (k *kindSamples) addValue(t sample.Type, v int64) {
	i := slices.Index(k.types, t)
	if i < 0 {
		i = len(k.types)
		k.types, k.values = append(k.types, t), append(k.values, make([]int64, len(k.rows)))
	}
	p := &k.values[i][len(k.rows)-1]
	*p = bin.AddClamped(*p, v)
}

// span returns the number of a span, 0 if id is "".
func (s *samples) span(trace, id string) int32 {
	if id == "" {
		return 0
	}
	if s.last.trace == trace && s.last.span == id {
		return s.last.number
	}
	key, ok := newSpanKey(trace, id)
	if !ok {
		return 0
	}
	n := s.spans[key]
	if n == 0 && len(s.keys) < math.MaxInt32 {
		s.keys = append(s.keys, key)
		n = int32(len(s.keys))
		s.spans[key] = n
	}
	s.last.trace, s.last.span, s.last.number = trace, id, n
	return n
}

// newSpanKey parses IDs in hexadecimal. trace may be "".
func newSpanKey(trace, id string) (key spanKey, ok bool) {
	if len(trace) > 32 || len(id) != 16 {
		return key, false
	}
	_, err1 := hex.Decode(key[:16], []byte(trace))
	_, err2 := hex.Decode(key[16:], []byte(id))
	return key, err1 == nil && err2 == nil
}

// binned returns the begin of the bin of a time, or the time if there are no bins.
func (k *kindSamples) binned(t int64) int64 {
	if k.bin == 0 {
		return t
	}
	after := bin.AddClamped(t, -k.start)
	begin := after - after%k.bin
	if after%k.bin < 0 {
		begin = bin.AddClamped(begin, -k.bin)
	}
	return bin.AddClamped(begin, k.start)
}

// omit removes what is omitted.
func (r *sampleRow) omit(d detail) {
	if d >= noSpans {
		r.span = 0
	}
	if d >= noThreads {
		r.thread = 0
	}
	if d >= noSubjects {
		r.subject, r.state = 0, 0
	}
	if d >= noStacks {
		r.stack = 0
	}
}

// shrink adds up samples until there are at most want. Samples that came after bins were introduced are not yet added up.
func (s *samples) shrink(want int) {
	for _, k := range s.byKind {
		if k != nil && k.bin > 0 {
			s.rows -= k.addUp()
		}
	}
	for factor := int64(2); s.rows > want; {
		var most *kindSamples
		for _, k := range s.byKind {
			if k != nil && (most == nil || len(k.rows) > len(most.rows)) {
				most = k
			}
		}
		if most.detail == noStacks && most.bin >= most.extent() {
			return // few rows per kind are left
		}
		before := len(most.rows)
		saved := most.coarsen(factor, noStacks)
		if factor = 2; saved < before/16 { // a pass is expensive: skip widths that save little
			factor = 8
		}
		s.rows -= saved
	}
}

// coarsen makes bins wider by a factor, or omits a detail up to last, and adds up samples with equal keys. It returns the
// number of rows that this saves.
func (k *kindSamples) coarsen(factor int64, last detail) (saved int) {
	switch {
	case k.bin == 0:
		k.bin = firstBin
	case k.bin < lastBin && k.bin < k.extent()/leastBins[k.detail]:
		k.bin *= factor
	case k.detail < last:
		k.detail++
	}
	return k.addUp()
}

// extent returns the time between the first and the last row in nanoseconds.
func (k *kindSamples) extent() int64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range k.rows {
		first, last = min(first, k.rows[i].time), max(last, k.rows[i].time)
	}
	return bin.AddClamped(last, -first)
}

// addUp adds up the rows with equal keys in the bins. It returns the number of rows that this saves.
func (k *kindSamples) addUp() (saved int) {
	n := 0
	k.places.Reset()
	for i := range k.rows {
		r := k.rows[i]
		r.time = k.binned(r.time)
		r.omit(k.detail)
		at, ok := k.place(&r.sampleKey, n)
		if !ok {
			k.rows[n] = r
			for t := range k.values {
				k.values[t][n] = k.values[t][i]
			}
			n++
			continue
		}
		k.rows[at].count += r.count
		for t := range k.values {
			k.values[t][at] = bin.AddClamped(k.values[t][at], k.values[t][i])
		}
	}
	saved = len(k.rows) - n
	k.rows = k.rows[:n]
	for t := range k.values {
		k.values[t] = k.values[t][:n]
	}
	return saved
}

// place returns the row with a key among those that addUp has passed, or makes next the row of the key.
func (k *kindSamples) place(key *sampleKey, next int) (at int, ok bool) {
	p := k.places.Probe(maphash.Comparable(k.places.seed, *key))
	for p.Next() {
		if at := int(p.ID) - 1; k.rows[at].sampleKey == *key {
			return at, true
		}
	}
	k.places.Insert(&p, uint32(next)+1)
	return next, false
}

// finish omits the sources and the types that a profile of each kind omits, and sorts the rows by time.
func (s *samples) finish() {
	for _, k := range s.byKind {
		if k != nil {
			k.omitUnused()
			k.sort()
		}
	}
}

// omitUnused removes the samples of sources that a profile does not use, and the type that it does not have.
func (k *kindSamples) omitUnused() {
	if used := k.totals.Used(); slices.Contains(used, false) {
		k.keep(func(i int) bool { return used[k.rows[i].source] })
	}
	for i := range k.rows {
		k.used += k.rows[i].count
	}
	types, _, _ := meters.Describe(k.kind)
	if column := k.totals.Unknown(); column != meters.NoColumn {
		if i := slices.Index(k.types, types[column]); i >= 0 {
			k.types, k.values = slices.Delete(k.types, i, i+1), slices.Delete(k.values, i, i+1)
		}
	}
}

// keep removes the rows for which keep returns false.
func (k *kindSamples) keep(keep func(i int) bool) {
	n := 0
	for i := range k.rows {
		if keep(i) {
			k.rows[n] = k.rows[i]
			for t := range k.values {
				k.values[t][n] = k.values[t][i]
			}
			n++
		}
	}
	k.rows = k.rows[:n]
	for t := range k.values {
		k.values[t] = k.values[t][:n]
	}
}

// sort sorts the rows by time; samples of one time keep their order.
func (k *kindSamples) sort() {
	if slices.IsSortedFunc(k.rows, func(a, b sampleRow) int { return cmp.Compare(a.time, b.time) }) {
		return
	}
	order := make([]int32, len(k.rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(k.rows[a].time, k.rows[b].time), cmp.Compare(a, b)) })
	rows := make([]sampleRow, len(k.rows))
	for i, from := range order {
		rows[i] = k.rows[from]
	}
	k.rows = rows
	for t, column := range k.values {
		sorted := make([]int64, len(column))
		for i, from := range order {
			sorted[i] = column[from]
		}
		k.values[t] = sorted
	}
}

// kinds returns the kinds that have samples, in the order of sample.Preferred.
func (s *samples) kinds() (list []*kindSamples) {
	for _, k := range sample.Preferred() {
		if kind := s.byKind[k]; kind != nil && len(kind.rows) > 0 {
			list = append(list, kind)
		}
	}
	return list
}

// mainType returns the index of the type to show first: that of a profile of the kind, or the first that is not 0.
func (s *samples) mainType(k *kindSamples) int {
	if len(k.types) == 0 {
		return 0
	}
	i := s.main.Order(k.types)[0]
	if types, main, _ := meters.Describe(k.kind); main < len(types) {
		i = max(0, slices.Index(k.types, types[main]))
	}
	used := func(column []int64) bool { return slices.ContainsFunc(column, func(v int64) bool { return v != 0 }) }
	if used(k.values[i]) {
		return i
	}
	return max(0, slices.IndexFunc(k.values, used))
}
