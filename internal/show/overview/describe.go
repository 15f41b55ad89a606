package overview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/sample"
)

// An Overview is the totals of a Sink, in the form of the JSON of ntconv info. Members without data are absent.
type Overview struct {
	// Begin and Recorded are the begin, after the start of the session, and the length of the selected part of the
	// recording in nanoseconds. Rates and shares refer to it.
	Begin       int64        `json:"recorded_from_ns,omitempty"`
	Recorded    int64        `json:"recorded_ns"`
	Kinds       []Kind       `json:"kinds"`
	GC          *GC          `json:"gc,omitempty"`
	Exceptions  *Parts       `json:"exceptions,omitempty"`
	Allocations *Parts       `json:"allocations,omitempty"`
	Contention  *Waits       `json:"contention,omitempty"`
	Requests    []Requests   `json:"requests,omitempty"`
	Counters    []Counter    `json:"counters,omitempty"`
	ThreadPools []ThreadPool `json:"thread_pools,omitempty"`
	Timeline    *Timeline    `json:"timeline,omitempty"`
	// Durations are those of the requests, by side and name; empty without Options.Evidence.
	Durations []Durations `json:"-"`
}

// A Kind is the total of one kind of profile.
type Kind struct {
	Kind    string  `json:"kind"` // as --kind names it
	Samples int64   `json:"samples"`
	Noun    string  `json:"noun"` // of the samples
	Values  []Value `json:"values"`
	// Unpaired are the intervals that are in no sample, because the trace lacks their begin or end.
	Unpaired uint64 `json:"unpaired,omitempty"`
	// Source names the events that the profile is computed from, if there are several ways; Unused are the others.
	Source  string   `json:"source,omitempty"`
	Unused  []string `json:"unused_sources,omitempty"`
	Parts   []Part   `json:"parts,omitempty"` // by PartsBy
	PartsBy string   `json:"parts_by,omitempty"`
	Command string   `json:"command"`
	// Evidence is that of the number of samples; nil without Options.Evidence.
	Evidence *Evidence `json:"-"`
}

// A Value is the total of one sample type.
type Value struct {
	Type  string `json:"type"`
	Unit  string `json:"unit"`
	Total int64  `json:"total"`
	// Error is the standard error of an estimate as a fraction of Total, 0 for a count.
	Error float64 `json:"standard_error,omitempty"`
	*Quantiles
	Evidence *Evidence `json:"-"` // nil without Options.Evidence
}

// Quantiles describe the lengths of intervals. They are exact for at most distribution.MaxExact intervals, otherwise P50,
// P95 and P99 are within distribution.QuantileError.
type Quantiles struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// GC describes the garbage collections.
type GC struct {
	Collections  int64  `json:"collections"`
	Generations  []Part `json:"generations"`
	TotalPause   int64  `json:"total_pause_ns"`
	LongestPause int64  `json:"longest_pause_ns"` // of one collection; a background collection pauses twice
	// Share is the total pause as a fraction of the recording.
	Share float64 `json:"pause_share"`
}

// Parts are the parts of a kind by type, the largest first.
type Parts struct {
	Count int64  `json:"count"`
	Types []Part `json:"types"`
	Value *Value `json:"value,omitempty"` // the total of allocations, by which types are sorted
}

// Waits describes waits for locks.
type Waits struct {
	Count   int64 `json:"count"`
	Total   int64 `json:"total_ns"`
	Longest int64 `json:"longest_ns"`
}

// Requests describes the requests of a server or a client.
type Requests struct {
	Side      string    `json:"side"` // "server" or "client"; "" if unknown
	Count     int64     `json:"count"`
	PerSecond float64   `json:"per_second"`
	Duration  Quantiles `json:"duration_ns"`
}

// Describe returns the totals. first and last limit the selected part of the recording; ok is false if
// there is none. input is how commands refer to the trace. Call it after Close.
func (s *Sink) Describe(first, last ntconv.Ticks, ok bool, input string) *Overview {
	o := &Overview{Kinds: []Kind{}}
	last = max(last, s.stream.End()) // as in a profile
	if ok {
		o.Begin, o.Recorded = s.info.Clock.Nanos(first), int64(s.info.Clock.Since(first, last))
	}
	for _, id := range sample.Preferred() {
		if k := s.kinds[id]; k != nil {
			o.add(k, s.stream.Unpaired(id), input)
			if ok && s.evidence {
				o.addEvidence(k, first, last)
			}
		}
	}
	o.Counters, o.ThreadPools = s.counters.list(), s.pools.list()
	if ok && last > first && s.count > 1 && !s.info.Aggregate { // aggregates have no times
		o.Timeline = s.timeline(first, last)
	}
	return o
}

// Unpaired returns the number of intervals of all kinds that are in no sample, because the trace lacks their begin or
// end, and how many there are of each kind. Call it after Close.
func (s *Sink) Unpaired() (n uint64, detail string) {
	var list []string
	for _, k := range sample.Preferred() {
		if cut := s.stream.Unpaired(k); cut > 0 {
			n += cut
			list = append(list, message.Group(int64(cut))+" "+k.Noun(int64(cut)))
		}
	}
	return n, strings.Join(list, ", ")
}

// add adds a kind.
func (o *Overview) add(k *kindTotals, unpaired uint64, input string) {
	item := k.describe()
	item.Unpaired = unpaired
	if item.Samples == 0 {
		return
	}
	item.Command = "ntconv top --kind " + item.Kind + " " + input
	o.Kinds = append(o.Kinds, item)
	switch k.kind {
	case sample.GC:
		v := item.value("pause")
		o.GC = &GC{Collections: item.Samples, Generations: slices.Clone(item.Parts), TotalPause: v.Total}
		if v.Quantiles != nil {
			o.GC.LongestPause = v.Max
		}
		if o.Recorded > 0 {
			o.GC.Share = float64(v.Total) / float64(o.Recorded)
		}
		o.GC.Generations = slices.DeleteFunc(o.GC.Generations, func(p Part) bool { return p.Count == 0 })
		slices.SortFunc(o.GC.Generations, func(a, b Part) int { return cmp.Compare(a.Name, b.Name) })
	case sample.Exceptions:
		o.Exceptions = &Parts{Count: item.Samples, Types: item.Parts}
	case sample.Alloc:
		o.Allocations = &Parts{Count: item.Samples, Types: item.Parts}
		if n := len(item.Values); n > 0 {
			o.Allocations.Value = &item.Values[n-1]
		}
	case sample.Contention:
		v := item.value("delay")
		o.Contention = &Waits{Count: item.Samples, Total: v.Total}
		if v.Quantiles != nil {
			o.Contention.Longest = v.Max
		}
	case sample.Requests:
		o.Requests = k.requests(o.Recorded)
	}
}

// value returns the total of a type, zero if there is none.
func (k *Kind) value(name string) Value {
	for _, v := range k.Values {
		if v.Type == name {
			return v
		}
	}
	return Value{}
}

func (k *kindTotals) describe() Kind {
	samples, sums := k.totals.Sums()
	item := Kind{Kind: k.kind.String(), Samples: int64(samples), Noun: k.kind.Noun(int64(samples)), Values: []Value{}}
	item.Source, item.Unused = k.totals.Source()
	for i, sum := range sums {
		v := Value{Type: sum.Type.Type, Unit: sum.Unit, Total: sum.Value, Error: significant(sum.Error)}
		if i < len(k.lengths) && k.lengths[i] != nil {
			v.Quantiles = quantiles(k.lengths[i])
		}
		item.Values = append(item.Values, v)
	}
	if key := partLabels[k.kind]; key != "" {
		item.Parts, item.PartsBy = k.parts.list(k.totals.Used(), k.kind == sample.Alloc), key
	}
	return item
}

// significant returns a share with three significant digits. More depend on the order in which variances are added up.
func significant(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	return x
}

func quantiles(d *distribution.Distribution) *Quantiles {
	var of [3]distribution.Number
	d.Quantiles(of[:], 50, 95, 99)
	nanos := func(n distribution.Number) int64 { return int64(min(n.Float(), 1<<62)) }
	return &Quantiles{P50: nanos(of[0]), P95: nanos(of[1]), P99: nanos(of[2]), Max: nanos(d.Max())}
}

// requests returns the requests by side, the server first.
func (k *kindTotals) requests(recorded int64) []Requests {
	var list []Requests
	used := k.totals.Used()
	for row, h := range k.sides {
		if !used[row.source] {
			continue
		}
		r := Requests{Side: row.name, Count: row.samples, Duration: *quantiles(h)}
		if recorded > 0 {
			r.PerSecond = float64(r.Count) / (float64(recorded) / 1e9)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Requests) int { return strings.Compare(b.Side, a.Side) })
	return list
}
