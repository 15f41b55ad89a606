package agreement

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// kindCounts are the facts that count the samples of kinds of profiles.
var kindCounts = map[string]string{
	"exceptions": "exceptions", "contention": "contentions", "wait": "waits", "gc": "collections", "jit": "compilations",
	"typeload": "type loads", "threadpool": "queued", "tasks": "tasks", "off-cpu": "context switches", "page-faults": "page faults",
	"requests": "requests", "wall": "samples", "cpu": "samples", "imported": "samples",
}

type part struct {
	Name         string
	Count, Value int64
	Rest         bool
}

// Info returns the answer of ntconv info --json.
func Info(data []byte) (*Answer, error) {
	var in struct {
		Events struct {
			Events    int64
			FirstTime time.Time `json:"first_time"`
			LastTime  time.Time `json:"last_time"`
		}
		Clock struct {
			SyncTime time.Time `json:"sync_time"`
		}
		RecordedNS int64 `json:"recorded_ns"`
		LostEvents int64 `json:"lost_events"`
		Kinds      []struct {
			Kind    string
			Samples int64
			Values  []struct {
				Type  string
				Total int64
			}
			Parts   []part
			PartsBy string `json:"parts_by"`
		}
		GC *struct {
			Collections int64
			Generations []part
			Total       int64 `json:"total_pause_ns"`
		}
		Exceptions, Allocations *struct {
			Count int64
			Types []part
		}
		Contention *struct {
			Count int64
			Total int64 `json:"total_ns"`
		}
		Requests []struct {
			Side  string
			Count int64
		}
		Counters []struct {
			Provider, Name, Tags, Kind string
			Values                     map[string]*float64
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	a := NewAnswer("info", "lost events", "samples", "exceptions by type", "allocated bytes by type", "requests by side",
		"collections by generation", "gc pause time by generation", "waits by source", "wait time by source")
	a.stateMeasures(false)
	for fact, by := range map[string]string{
		"exceptions": "type", "allocated bytes": "type", "requests": "side", "collections": "generation", "gc pause time": "generation",
		"waits": "source", "wait time": "source",
	} {
		a.stated[fact+" by "+by] = true
	}
	a.set(Fact{Name: "events"}, Value{N: in.Events.Events})
	a.set(Fact{Name: "first event"}, Value{N: in.Events.FirstTime.UnixNano()})
	a.set(Fact{Name: "last event"}, Value{N: in.Events.LastTime.UnixNano()})
	a.set(Fact{Name: "recording begin"}, Value{N: in.Clock.SyncTime.UnixNano()})
	a.set(Fact{Name: "recording length"}, Value{N: in.RecordedNS})
	a.set(Fact{Name: "lost events"}, Value{N: in.LostEvents})
	for _, k := range in.Kinds {
		for _, v := range k.Values {
			if m := measureOf(k.Kind, v.Type); m != nil {
				a.set(Fact{Name: m.fact}, Value{N: v.Total, Items: k.Samples})
			}
		}
		if fact := kindCounts[k.Kind]; fact != "" {
			if v := a.facts[Fact{Name: fact}]; fact != "samples" || v.Items == 0 {
				a.set(Fact{Name: fact}, Value{N: k.Samples, Items: 1})
			} else {
				a.add(Fact{Name: fact}, k.Samples)
			}
		}
		if k.PartsBy == attrWaitSource {
			for _, p := range k.Parts {
				a.set(Fact{"waits", "source", p.Name}, Value{N: p.Count})
				a.set(Fact{"wait time", "source", p.Name}, Value{N: p.Value})
			}
		}
	}
	if in.GC != nil {
		a.set(Fact{Name: "collections"}, Value{N: in.GC.Collections})
		a.set(Fact{Name: "gc pause time"}, Value{N: in.GC.Total})
		for _, p := range in.GC.Generations {
			a.set(Fact{"collections", "generation", p.Name}, Value{N: p.Count})
			a.set(Fact{"gc pause time", "generation", p.Name}, Value{N: p.Value})
		}
	}
	if in.Exceptions != nil {
		for _, p := range in.Exceptions.Types {
			a.set(Fact{"exceptions", "type", p.Name}, Value{N: p.Count})
		}
	}
	if in.Allocations != nil {
		for _, p := range in.Allocations.Types {
			a.set(Fact{"allocated bytes", "type", p.Name}, Value{N: p.Value, Items: p.Count})
		}
	}
	if in.Contention != nil {
		a.set(Fact{Name: "contentions"}, Value{N: in.Contention.Count})
		a.set(Fact{Name: "contention time"}, Value{N: in.Contention.Total})
	}
	for _, r := range in.Requests {
		a.set(Fact{"requests", "side", r.Side}, Value{N: r.Count})
	}
	for _, c := range in.Counters {
		for statistic, v := range c.Values {
			if v == nil || c.Values["count"] != nil && onlyMean(c.Kind, *c.Values["count"]) && statistic != "mean" ||
				isUpDownRate(c.Kind, statistic) {
				continue
			}
			a.set(Fact{"last counter value", "series", series(c.Provider, c.Name, c.Tags, c.Kind, statistic)}, float(*v))
		}
	}
	return a, nil
}

// float returns the value of a number that may have decimals.
func float(v float64) Value { return Value{F: v, Items: 1} }

// Diff returns the answer of ntconv diff --json for a trace that is compared with itself.
func Diff(data []byte) (*Answer, error) {
	var in struct {
		Before struct {
			Seconds float64
		}
		Sections []struct {
			Name string
			Rows []struct {
				Name   string
				Unit   string
				Before float64
			}
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	a := NewAnswer("diff")
	for _, fact := range diffTotals {
		a.stated[fact] = true
	}
	if in.Before.Seconds > 0 {
		a.set(Fact{Name: "recording length"}, Value{N: int64(math.Round(in.Before.Seconds * 1e9))})
	}
	for _, s := range in.Sections {
		for _, r := range s.Rows {
			var f Fact
			switch s.Name {
			case "Totals":
				f.Name = diffTotals[r.Name]
			case "Garbage collections":
				if strings.HasPrefix(r.Name, "gen") && r.Unit == "count" {
					f = Fact{"collections", "generation", r.Name}
				}
			case "Exceptions by type":
				f = Fact{"exceptions", "type", r.Name}
			case "Allocations by type":
				f = Fact{"allocated bytes", "type", r.Name}
			}
			if f.Name != "" {
				a.set(f, Value{N: int64(r.Before)})
			}
		}
	}
	return a, nil
}

// diffTotals are the rows of the section Totals of diff.
var diffTotals = map[string]string{
	"wall": "thread time", "cpu": "CPU time", "alloc alloc_objects": "allocated objects", "alloc alloc_space": "allocated bytes",
	"exceptions": "exceptions", "lock contentions": "contentions", "contention delay": "contention time", "waits": "waits",
	"wait delay": "wait time", "garbage collections": "collections", "gc pause": "gc pause time", "compilations": "compilations",
	"jit": "compilation time", "type loads": "type loads", "typeload load": "type load time", "tasks": "tasks",
	"tasks wait": "task queue time", "tasks run": "task run time", "requests": "requests", "requests duration": "request time",
}

// duringFacts are the facts that the summary of --during states, by expression.
var duringFacts = map[string]string{
	"pause": "gc pauses", "gc": "collections", "contention": "contentions", "wait": "waits", "jit": "compilations",
	"typeload": "type loads", "exception": "handled exceptions", "request": "requests", "span": "all spans",
	"suspension": "suspensions",
}

// DuringExpressions returns the expressions whose summaries During reads.
func DuringExpressions() (list []string) {
	for e := range duringFacts {
		list = append(list, e)
	}
	return list
}

var duringNote = regexp.MustCompile(`^--during: ([0-9,]+) of ([0-9,]+) [a-z ]+ selected`)

// During returns the answer of --during EXPRESSION --report json, by expression: how many intervals it found.
func During(reports map[string][]byte) (*Answer, error) {
	a := NewAnswer("during")
	for expression, data := range reports {
		var in struct{ Notes []string }
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, fmt.Errorf("--during %s: %w: %s", expression, err, data)
		}
		a.stated[duringFacts[expression]] = true
		for _, note := range in.Notes {
			if m := duringNote.FindStringSubmatch(note); m != nil {
				n, err := strconv.ParseInt(strings.ReplaceAll(m[2], ",", ""), 10, 64)
				if err != nil {
					return nil, err
				}
				a.total(duringFacts[expression], n, nil)
			}
		}
	}
	return a, nil
}

// Stats returns the answer of print --stats --json: all events by provider and name, exceptions by type, and allocated
// bytes by type.
func Stats(events, exceptions []byte) (*Answer, error) {
	a := NewAnswer("stats", "events", "exceptions", "exceptions by type")
	rows, err := statRows(events)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		a.add(Fact{Name: "events"}, r.Events)
	}
	if rows, err = statRows(exceptions); err != nil {
		return nil, err
	}
	for _, r := range rows {
		a.add(Fact{Name: "exceptions"}, r.Events)
		a.add(Fact{"exceptions", "type", r.By["ExceptionType"]}, r.Events)
	}
	return a, nil
}

type statRow struct {
	By     map[string]string
	Events int64
}

func statRows(data []byte) ([]statRow, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var in struct{ Rows []statRow }
	err := json.Unmarshal(data, &in)
	return in.Rows, err
}
