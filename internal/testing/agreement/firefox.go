package agreement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

type firefoxThread struct {
	PID, TID json.RawMessage
	Name     string
	Samples  struct {
		Length     int
		WeightType string
		Weight     []float64
	}
	NativeAllocations *struct{ Weight []int64 }
	Markers           struct {
		Length    int
		Name      []int
		Category  []int
		StartTime []json.Number
		EndTime   []*json.Number
		Phase     []int
		Data      []map[string]any
	}
}

// Firefox returns the answer of a processed profile of the Firefox Profiler.
func Firefox(data []byte) (*Answer, error) {
	var in struct {
		Meta struct {
			Categories []struct{ Name string }
		}
		Threads  []firefoxThread
		Counters []struct {
			Name    string
			Samples struct{ Count []float64 }
		}
		Shared struct{ StringArray []string }
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, err
	}
	a := NewAnswer("firefox", "lost events", "samples", "samples by thread", "exceptions", "exceptions by type", "allocated bytes")
	a.stateSlices(timelineOperations())
	for i := range in.Threads {
		t := &in.Threads[i]
		key := fmt.Sprintf("%s/%s", bytes.Trim(t.PID, `"`), bytes.Trim(t.TID, `"`))
		t.weights(a, key)
		if err := t.markers(a, in.Shared.StringArray, func(c int) string { return in.Meta.Categories[c].Name }); err != nil {
			return nil, fmt.Errorf("thread %s: %w", key, err)
		}
	}
	series := counters{}
	for _, c := range in.Counters {
		value := 0.0
		for i, difference := range c.Samples.Count {
			if value += difference; i > 0 { // the first sample is 0
				series[sortTags(c.Name)] = append(series[sortTags(c.Name)], value)
			}
		}
	}
	series.state(a)
	return a, nil
}

func (t *firefoxThread) weights(a *Answer, key string) {
	for i := range t.Samples.Length {
		a.total("samples", 1, map[string]string{"thread": key})
		if t.Samples.WeightType == "tracing-ms" && i < len(t.Samples.Weight) {
			a.total("thread and CPU time", int64(math.Round(t.Samples.Weight[i]*1e6)), map[string]string{"thread": key})
		}
	}
	if t.NativeAllocations != nil {
		for _, n := range t.NativeAllocations.Weight {
			a.total("allocated bytes", n, nil)
		}
	}
}

func (t *firefoxThread) markers(a *Answer, strings []string, category func(int) string) error {
	for i := range t.Markers.Length {
		data, name := t.Markers.Data[i], strings[t.Markers.Name[i]]
		typ := fmt.Sprint(data["type"])
		switch {
		case t.Markers.EndTime[i] != nil && t.Markers.Phase[i] == 1:
			begin, err := scaled(t.Markers.StartTime[i], 1e6)
			if err != nil {
				return err
			}
			end, err := scaled(*t.Markers.EndTime[i], 1e6)
			if err != nil {
				return err
			}
			s := slice{name: name, ns: end - begin, open: data["unfinished"] != nil, attributes: map[string]string{}}
			s.isSpan = category(t.Markers.Category[i]) == "Span" && !queued(name)
			for k, v := range data {
				s.attributes[k] = fmt.Sprint(v)
			}
			a.slice(&s)
		case category(t.Markers.Category[i]) == "Lost events":
			n, err := scaled(json.Number(fmt.Sprint(data["events"])), 1)
			if err != nil {
				return err
			}
			a.total("lost events", n, nil)
		case typ == "exception":
			a.total("exceptions", 1, map[string]string{"type": name})
		}
	}
	return nil
}
