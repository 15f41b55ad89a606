package formats_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// The readers in this file share no code with the importers: they read whole files with encoding/json, with google/pprof
// or line by line, and add up.

// independentTotals returns the totals of a file. A format without a reader has none.
func independentTotals(format, name string, data []byte) totals {
	n := totals{}
	switch {
	case format == "pprof":
		n.pprof(data)
	case format == "folded":
		n.folded(data)
	case format == "perf":
		n.perf(data)
	case format == "speedscope":
		n.speedscope(data)
	case format == "firefox":
		n.firefox(data)
	case strings.Contains(name, ".cpuprofile"):
		var p v8Profile
		must(json.Unmarshal(data, &p))
		n.v8(&p)
	case format == "chrome":
		n.chrome(data)
	}
	return n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (n totals) pprof(data []byte) {
	p, err := profile.ParseData(data)
	must(err)
	n["rows"] = int64(len(p.Sample))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			n[p.SampleType[i].Type] += v
		}
	}
}

func (n totals) folded(data []byte) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "# ") {
			continue // of austin
		}
		i := strings.LastIndexByte(line, ' ')
		if v, err := strconv.ParseInt(line[i+1:], 10, 64); err == nil {
			n["rows"]++
			n["samples"] += v
		}
	}
}

// perfHeader matches the first line of an event of perf script: a command, IDs, a time, a period and the name of the
// event. The time and the period may be absent.
var perfHeader = regexp.MustCompile(`(?m)^[^\s#].*?\s+(?:\d+/)?\d+(?:\s+\[\d+\])?(?:\s+\d+\.\d+:)?\s+(\d+\s+)?([a-z][-a-z]*(?::[a-z]+)?): *\r?$`)

func (n totals) perf(data []byte) {
	for _, m := range perfHeader.FindAllSubmatch(data, -1) {
		period := int64(1)
		if len(m[1]) > 0 {
			period, _ = strconv.ParseInt(strings.TrimSpace(string(m[1])), 10, 64)
		}
		n["rows"]++
		n[string(m[2])] += period
	}
}

func (n totals) speedscope(data []byte) {
	var file struct {
		Profiles []struct {
			Type, Unit string
			EndValue   float64
			Weights    []float64
			Events     []struct {
				Type string
				At   float64
			}
		}
	}
	must(json.Unmarshal(data, &file))
	for _, p := range file.Profiles {
		name, scale := "samples", 1.0
		if p.Unit == "seconds" {
			name, scale = "time", 1e9
		}
		for _, w := range p.Weights {
			n["rows"]++
			n[name] += int64(w * scale)
		}
		open, last := 0, 0.0
		p.Events = append(p.Events, struct {
			Type string
			At   float64
		}{"end", p.EndValue})
		for _, e := range p.Events {
			if open > 0 && e.At > last {
				n["rows"]++
				n[name] += int64((e.At - last) * scale)
			}
			if last = e.At; e.Type == "O" {
				open++
			} else {
				open--
			}
		}
	}
}

// A v8Profile is a whole profile of V8, or what its chunks add up to.
type v8Profile struct {
	Nodes []struct {
		ID        int
		CallFrame struct{ FunctionName string }
	}
	Samples            []int
	TimeDeltas         []int64
	StartTime, EndTime int64
	undeclared         bool
}

// v8 adds the samples that are not idle. Each lasts until the next one.
func (n totals) v8(p *v8Profile) {
	names := map[int]string{}
	for _, node := range p.Nodes {
		names[node.ID] = node.CallFrame.FunctionName
	}
	type moment struct {
		at   int64
		node int
	}
	at := p.StartTime
	var list []moment
	for i, id := range p.Samples {
		at += p.TimeDeltas[i]
		list = append(list, moment{at, id})
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	last := int64(0)
	for i, m := range list {
		switch {
		case i+1 < len(list):
			last = list[i+1].at - m.at
		case p.EndTime > m.at:
			last = p.EndTime - m.at
		}
		name, defined := names[m.node]
		if name != "(idle)" && (defined || !p.undeclared) {
			n["rows"]++
			n["samples"]++
			n["wall"] += 1000 * last
		}
	}
}

type chromeEvent struct {
	Ph, Name, Cat string
	PID, TID, ID  json.RawMessage
	TS, Dur       json.RawMessage
	Args          json.RawMessage
}

// number returns a number that may be a string.
func number(raw json.RawMessage) float64 {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

func (n totals) chrome(data []byte) {
	events := chromeEvents(data)
	profiles := map[string]*v8Profile{}
	var order []string
	slices.SortStableFunc(events, func(a, b chromeEvent) int { return cmp.Compare(number(a.TS), number(b.TS)) })
	open := map[string][]string{} // names of open slices per thread
	for _, e := range events {
		if key, ok := v8Part(&e, profiles); ok {
			if !slices.Contains(order, key) {
				order = append(order, key)
			}
			continue
		}
		n["ph "+e.Ph]++
		thread := string(e.PID) + "/" + string(e.TID)
		stack := open[thread]
		switch e.Ph {
		case "X":
			if d := number(e.Dur); !math.IsNaN(d) {
				n["dur"] += int64(math.Round(d * 1000))
			}
		case "B":
			open[thread] = append(stack, e.Name)
		case "E":
			for i := len(stack) - 1; i >= 0; i-- {
				if e.Name == "" || e.Name == stack[i] {
					open[thread] = slices.Delete(stack, i, i+1)
					n["closed"]++
					break
				}
			}
		}
	}
	for _, key := range order {
		n.v8(profiles[key])
	}
}

// v8Part adds an event of V8's profiler to its profile. It returns false for other events.
func v8Part(e *chromeEvent, profiles map[string]*v8Profile) (key string, ok bool) {
	type data struct {
		v8Profile
		CPUProfile v8Profile
	}
	var args struct {
		data
		Data data
	}
	if e.Name != "CpuProfile" && (e.Name != "Profile" && e.Name != "ProfileChunk" || e.Ph != "P") || json.Unmarshal(e.Args, &args) != nil {
		return "", false
	}
	if key = string(e.PID) + string(e.ID); e.Name == "CpuProfile" {
		key += string(e.TS) + string(e.TID)
	}
	p := profiles[key]
	if p == nil {
		p = &v8Profile{undeclared: e.Name == "ProfileChunk"}
		profiles[key] = p
	}
	for _, part := range []*v8Profile{&args.v8Profile, &args.CPUProfile, &args.Data.v8Profile, &args.Data.CPUProfile} {
		p.Nodes = append(p.Nodes, part.Nodes...)
		p.Samples = append(p.Samples, part.Samples...)
		p.TimeDeltas = append(p.TimeDeltas, part.TimeDeltas...)
		p.StartTime, p.EndTime = max(p.StartTime, part.StartTime), max(p.EndTime, part.EndTime)
	}
	return key, true
}

// chromeEvents returns the events of a file, which may end within the list of events.
func chromeEvents(data []byte) (events []chromeEvent) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	t, err := d.Token()
	must(err)
	if t == json.Delim('{') {
		var file struct{ TraceEvents []json.RawMessage }
		must(json.Unmarshal(data, &file))
		for _, raw := range file.TraceEvents {
			events = appendEvent(events, raw)
		}
		return events
	}
	for d.More() {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			break // a comma before the bracket, or none
		}
		events = appendEvent(events, raw)
	}
	return events
}

func appendEvent(events []chromeEvent, raw json.RawMessage) []chromeEvent {
	var e chromeEvent
	if raw[0] != '{' || bytes.Equal(raw, []byte("{}")) {
		return events
	}
	_ = json.Unmarshal(raw, &e) // members of other types are absent
	return append(events, e)
}

// A firefoxTable is a table of a processed profile, or of one that Firefox recorded.
type firefoxTable struct {
	Length         int64
	Weight         []int64
	ThreadCPUDelta []float64
	Phase          []int
	Name           []int
	Schema         map[string]int
	Data           []json.RawMessage
}

// A firefoxProfile is a profile of any version, or what the performance panel saved around one.
type firefoxProfile struct {
	Meta struct {
		Interval    float64
		SampleUnits struct{ ThreadCPUDelta string }
	}
	Threads   []json.RawMessage // old profiles have other processes here, as strings
	Processes []firefoxProfile
	Profile   *firefoxProfile
}

func (n totals) firefox(data []byte) {
	var p firefoxProfile
	must(json.Unmarshal(data, &p))
	if p.Profile != nil {
		p = *p.Profile
	}
	n.firefoxProcess(&p, int64(math.Round(p.Meta.Interval*1e6)))
}

// firefoxProcess adds the samples and markers of a process. A sample counts as often as its weight says and lasts for
// that many intervals.
func (n totals) firefoxProcess(p *firefoxProfile, interval int64) {
	for _, raw := range p.Threads {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			var inner firefoxProfile
			must(json.Unmarshal([]byte(text), &inner))
			n.firefoxProcess(&inner, interval)
			continue
		}
		var t struct{ Samples, Markers firefoxTable }
		must(json.Unmarshal(raw, &t))
		rows := t.Samples.Length
		if t.Samples.Schema != nil {
			rows = int64(len(t.Samples.Data))
		}
		samples := rows
		if t.Samples.Weight != nil {
			samples = 0
			for _, w := range t.Samples.Weight {
				samples += w
			}
		}
		n["rows"] += rows
		n["samples"] += samples
		n["time"] += samples * interval
		for i, d := range t.Samples.ThreadCPUDelta {
			if i > 0 { // the first one has no begin
				n["cpu"] += int64(d) * map[string]int64{"µs": 1000, "ns": 1}[p.Meta.SampleUnits.ThreadCPUDelta]
			}
		}
		n["markers"] += t.Markers.markers()
	}
	for i := range p.Processes {
		n.firefoxProcess(&p.Processes[i], interval)
	}
}

// markers returns the number of markers: the begin and the end of an interval, which have one name, are one.
func (t *firefoxTable) markers() (count int64) {
	open := map[int]int{}
	rows := int(t.Length)
	if t.Schema != nil {
		rows = len(t.Data)
	}
	for i := range rows {
		name, data := 0, json.RawMessage(nil)
		if t.Schema == nil {
			name, data = t.Name[i], t.Data[i]
		} else {
			var row []json.RawMessage
			must(json.Unmarshal(t.Data[i], &row))
			must(json.Unmarshal(row[t.Schema["name"]], &name))
			if at := t.Schema["data"]; at < len(row) {
				data = row[at]
			}
		}
		var tracing struct{ Type, Interval string }
		_ = json.Unmarshal(data, &tracing)
		count++
		switch {
		case tracing.Type == "tracing" && tracing.Interval == "start":
			open[name]++
		case tracing.Type == "tracing" && tracing.Interval == "end" && open[name] > 0:
			open[name]--
			count--
		}
	}
	return count
}
