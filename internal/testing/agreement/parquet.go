package agreement

import (
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// Parquet returns the answers of the tables in a directory, as parquet-go reads them: one for each table, because several
// may state a fact.
func Parquet(dir string) ([]*Answer, error) {
	info := NewAnswer("parquet", "lost events", "events")
	samples := NewAnswer("table samples", "samples", "samples by thread")
	samples.stateMeasures(true)
	spans := NewAnswer("table spans")
	spans.stateClosedSlices([]operation{spanOperation})
	intervals := NewAnswer("table intervals")
	intervals.stateClosedSlices(operations)
	counters := NewAnswer("table counters")
	losses := NewAnswer("table losses", "lost events")
	for _, t := range []struct {
		a    *Answer
		read func(*Answer, string) error
	}{{info, tableTraceInfo}, {samples, tableSamples}, {spans, tableSpans}, {intervals, tableIntervals}, {counters, tableCounters}, {losses, tableLosses}} {
		if err := t.read(t.a, dir); err != nil {
			return nil, err
		}
	}
	return []*Answer{info, samples, spans, intervals, counters, losses}, nil
}

func rows[T any](dir, table string, f func(*T)) error {
	path := filepath.Join(dir, table+".parquet")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	list, err := parquet.Read[T](file, info.Size())
	for i := range list {
		f(&list[i])
	}
	return err
}

func tableTraceInfo(a *Answer, dir string) error {
	return rows(dir, "trace_info", func(r *struct {
		Start  int64 `parquet:"start_ns"`
		Events int64 `parquet:"event_count"`
		Lost   int64 `parquet:"lost_events"`
		Length int64 `parquet:"duration_ns"`
	}) {
		a.set(Fact{Name: "recording begin"}, Value{N: r.Start})
		a.set(Fact{Name: "events"}, Value{N: r.Events})
		a.set(Fact{Name: "lost events"}, Value{N: r.Lost})
		a.set(Fact{Name: "recording length"}, Value{N: r.Length})
	})
}

func tableLosses(a *Answer, dir string) error {
	return rows(dir, "losses", func(r *struct {
		Lost int64 `parquet:"lost"`
	}) {
		a.total("lost events", r.Lost, nil)
	})
}

type tableSample struct {
	Event   int64             `parquet:"event_id"`
	Kind    string            `parquet:"kind"`
	Type    string            `parquet:"sample_type"`
	Value   int64             `parquet:"value"`
	PID     int64             `parquet:"pid"`
	TID     int64             `parquet:"tid"`
	Source  *string           `parquet:"source,optional"`
	Subject *string           `parquet:"subject,optional"`
	Labels  map[string]string `parquet:"labels"`
}

func tableSamples(a *Answer, dir string) error {
	last := int64(0)
	return rows(dir, "samples", func(r *tableSample) {
		labels := map[string]string{threadLabel: thread(r.PID, r.TID)}
		for k, v := range r.Labels {
			labels[k] = v
		}
		m := measureOf(r.Kind, r.Type)
		if m != nil {
			a.sample(m, r.Value, labels)
		}
		if n := counterOf(r.Kind); m != nil && n != nil && n != m && mainColumn[r.Kind] == r.Type {
			a.sample(n, 1, labels) // the table has no column for numbers: each row is one
		}
		if kindCounts[r.Kind] == "samples" && r.Event != last {
			a.total("samples", 1, map[string]string{"thread": labels[threadLabel]})
			last = r.Event
		}
	})
}

func tableSpans(a *Answer, dir string) error {
	return rows(dir, "spans", func(r *struct {
		Name     string `parquet:"name"`
		Duration *int64 `parquet:"duration_ns,optional"`
	}) {
		s := slice{name: r.Name, isSpan: true, open: r.Duration == nil}
		if r.Duration != nil {
			s.ns = *r.Duration
		}
		a.slice(&s)
	})
}

func tableIntervals(a *Answer, dir string) error {
	return rows(dir, "intervals", func(r *struct {
		Name       string            `parquet:"name"`
		Duration   *int64            `parquet:"duration_ns,optional"`
		Attributes map[string]string `parquet:"attributes"`
	}) {
		s := slice{name: r.Name, attributes: r.Attributes, open: r.Duration == nil}
		if r.Duration != nil {
			s.ns = *r.Duration
		}
		a.slice(&s)
	})
}

type tableCounter struct {
	Event     int64             `parquet:"event_id"`
	Provider  string            `parquet:"provider"`
	Name      string            `parquet:"name"`
	Kind      string            `parquet:"kind"`
	Statistic *string           `parquet:"statistic,optional"`
	Value     *float64          `parquet:"value,optional"`
	Tags      map[string]string `parquet:"tags"`
}

func (r *tableCounter) statistic() string {
	if r.Statistic == nil {
		return ""
	}
	return *r.Statistic
}

func (r *tableCounter) key() seriesKey {
	return seriesKey{r.Event, r.Provider, r.Name, tagsText(r.Tags)}
}

func tableCounters(a *Answer, dir string) error {
	var list []tableCounter
	counts := map[seriesKey]float64{}
	err := rows(dir, "counters", func(r *tableCounter) {
		list = append(list, *r)
		if r.statistic() == "count" && r.Value != nil {
			counts[r.key()] = *r.Value
		}
	})
	c := counters{}
	for i := range list {
		r := &list[i]
		if r.Value == nil || r.statistic() != "mean" && onlyMean(r.Kind, counts[r.key()]) || isUpDownRate(r.Kind, r.statistic()) {
			continue
		}
		name := series(r.Provider, r.Name, tagsText(r.Tags), r.Kind, r.statistic())
		c[name] = append(c[name], *r.Value)
	}
	c.state(a)
	return err
}
