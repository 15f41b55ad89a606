package agreement

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/testing/pagedata"
)

// HTML returns the answers of the page of a trace: one for its header and one for each kind of table, because several
// may state a fact. It returns an error if the page leaves something out.
func HTML(data []byte) ([]*Answer, error) {
	p, err := pagedata.Decode(data, "data")
	if err != nil {
		return nil, err
	}
	for _, note := range p.Header.Trace.Notes {
		if strings.Contains(note, "left out") {
			return nil, fmt.Errorf("the page is not complete: %s", note)
		}
	}
	r := pageReader{p, pageThreads(p), pageAttributes(p)}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	return []*Answer{head, r.samples(), r.slices("spans", []operation{spanOperation}), r.slices("intervals", operations), r.counters(), r.losses()}, nil
}

type pageReader struct {
	*pagedata.Page
	threads    []string            // process ID and thread ID by row
	attributes []map[string]string // by row of attribute_sets
}

func pageThreads(p *pagedata.Page) []string {
	processes, pids, tids := p.Ints("threads", "process", -1), p.Ints("processes", "pid", 0), p.Ints("threads", "tid", 0)
	list := make([]string, len(tids))
	for i, process := range processes {
		pid := int64(0)
		if process >= 0 {
			pid = pids[process]
		}
		list[i] = thread(pid, tids[i])
	}
	return list
}

func pageAttributes(p *pagedata.Page) []map[string]string {
	keys, values := p.Texts("attributes", "key"), p.Texts("attributes", "value")
	list := make([]map[string]string, p.Rows("attribute_sets"))
	first := int64(0)
	for i, end := range p.Ints("attribute_sets", "end", 0) {
		list[i] = map[string]string{}
		for ; first < end; first++ {
			list[i][keys[first]] = values[first]
		}
	}
	return list
}

func (r *pageReader) head() (*Answer, error) {
	a, t := NewAnswer("page"), r.Header.Trace
	begin, err := strconv.ParseInt(t.StartNanos, 10, 64)
	a.set(Fact{Name: "recording begin"}, Value{N: begin})
	a.set(Fact{Name: "recording length"}, Value{N: t.Duration})
	a.set(Fact{Name: "events"}, Value{N: t.Events})
	a.set(Fact{Name: "lost events"}, Value{N: t.Lost})
	return a, err
}

// subjects are the labels that the subject of a sample represents, by kind.
var subjects = map[string]string{"alloc": "type", "typeload": "type", "exceptions": attrException, "jit": attrMethod}

func (r *pageReader) samples() *Answer {
	a := NewAnswer("page samples", "samples", "samples by thread")
	a.stateMeasures(true)
	for _, s := range []string{"collections", "gc pause time", "waits", "wait time", "requests", "request time"} {
		for _, by := range []string{"generation", "reason", "source", "side"} {
			delete(a.stated, s+" by "+by) // only intervals and spans have these attributes
		}
	}
	for _, k := range r.Header.Kinds {
		table := "samples_" + k.Name
		about, threads := r.Texts(table, "subject"), r.Ints(table, "thread", -1)
		labels := make([]map[string]string, len(about))
		for i, n := range threads {
			labels[i] = map[string]string{}
			if n >= 0 {
				labels[i][threadLabel] = r.threads[n]
			}
			if label := subjects[k.Name]; label != "" {
				labels[i][label] = about[i]
			}
		}
		for column, v := range k.Values {
			if m := measureOf(k.Name, v.Type); m != nil {
				for i, n := range r.Ints(table, fmt.Sprintf("value_%d", column), 0) {
					a.sample(m, n, labels[i])
				}
			}
		}
		if kindCounts[k.Name] == "samples" {
			for i, n := range r.Ints(table, "count", 1) {
				a.total("samples", n, map[string]string{"thread": labels[i][threadLabel]})
			}
		}
	}
	return a
}

// slices reads a table of spans or intervals.
func (r *pageReader) slices(table string, list []operation) *Answer {
	a := NewAnswer("page " + table)
	a.stateClosedSlices(list)
	names, sets := r.Texts(table, "name"), r.Ints(table, "attributes", -1)
	for i, ns := range r.Ints(table, "duration", -1) {
		s := slice{name: names[i], ns: ns, open: ns < 0, isSpan: table == "spans"}
		if sets[i] >= 0 {
			s.attributes = r.attributes[sets[i]]
		}
		a.slice(&s)
	}
	return a
}

func (r *pageReader) counters() *Answer {
	type value struct {
		series pagedata.Series
		key    string // of all statistics of a measurement
		time   int64
		value  float64
	}
	var list []value
	times, values := r.Ints("counter_values", "time", 0), r.Floats("counter_values", "value")
	counts := map[string]float64{}
	for i, n := range r.Ints("counter_values", "series", -1) {
		s := r.Header.Series[n]
		v := value{s, fmt.Sprint(s.Process, "/", s.Provider, "/", s.Name, "/", s.Tags, "/", times[i]), times[i], values[i]}
		if s.Statistic == "count" {
			counts[v.key] = v.value
		}
		if s.Provider != "ntconv" { // computed from events of collections, which no other output shows as a counter
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b value) int { return cmp.Compare(a.time, b.time) })
	c := counters{}
	for _, v := range list {
		if s := v.series; (s.Statistic == "mean" || !onlyMean(s.Kind, counts[v.key])) && !isUpDownRate(s.Kind, s.Statistic) {
			name := series(s.Provider, s.Name, strings.ReplaceAll(s.Tags, ", ", ","), s.Kind, s.Statistic)
			c[name] = append(c[name], v.value)
		}
	}
	a := NewAnswer("page counters")
	c.state(a)
	return a
}

func (r *pageReader) losses() *Answer {
	a := NewAnswer("page losses", "lost events")
	for _, n := range r.Ints("losses", "lost", 0) {
		a.total("lost events", n, nil)
	}
	return a
}
