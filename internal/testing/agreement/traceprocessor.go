package agreement

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// TraceProcessorQueries returns the questions whose answers TraceProcessor reads, for files of to perfetto or of to chrome.
// They work in version 20 of Perfetto, which has instants as slices without a duration, and does not read strings of
// annotations that occur again.
func TraceProcessorQueries(chrome bool) map[string]string {
	args := "debug."
	if chrome {
		args = "args."
	}
	return map[string]string{
		"slices":   `select s.category, s.name, s.dur, (select count(*) from args a where a.arg_set_id = s.arg_set_id and a.key = '` + args + `unfinished') from slice s`,
		"losses":   `select a.int_value from slice s join args a using (arg_set_id) where s.category = 'loss' and a.key = '` + args + `events'`,
		"counters": `select t.name, c.value from counter c join process_counter_track t on t.id = c.track_id order by c.ts, c.id`,
		"samples":  `select p.pid, t.tid, count(*) from cpu_profile_stack_sample s join thread t using (utid) join process p using (upid) group by 1, 2`,
		"errors":   `select name, value from stats where severity in ('error', 'data_loss') and value > 0`,
	}
}

// timelineCategories are the categories of slices that are no instants.
var timelineCategories = map[string]bool{"gc": true, "jit": true, "contention": true, "wait": true, "request": true, "span": true}

// TraceProcessor returns the answer of Perfetto's trace_processor about a file of to perfetto, or of to chrome: the rows of
// each query as a JSON object of lists of strings.
func TraceProcessor(line []byte, chrome bool) (*Answer, error) {
	var in struct {
		Error                                     string
		Slices, Losses, Counters, Samples, Errors [][]string
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	if in.Error != "" {
		return nil, errors.New(in.Error)
	}
	if len(in.Errors) > 0 {
		return nil, fmt.Errorf("trace_processor reports %q", in.Errors)
	}
	a := NewAnswer("trace_processor", "lost events", "samples", "samples by thread", "exceptions", "exceptions by type", "instants", "instants by name")
	a.stateSlices(timelineOperations())
	for statement := range a.stated {
		for _, by := range []string{" by reason", " by source", " by method"} {
			if strings.HasSuffix(statement, by) {
				delete(a.stated, statement)
			}
		}
	}
	for _, r := range in.Slices {
		if err := traceProcessorSlice(a, r); err != nil {
			return nil, err
		}
	}
	for _, r := range in.Losses {
		n, err := strconv.ParseInt(r[0], 10, 64)
		if err != nil {
			return nil, err
		}
		a.total("lost events", n, nil)
	}
	series := counters{}
	for _, r := range in.Counters {
		v, err := strconv.ParseFloat(r[1], 64)
		if err != nil {
			return nil, err
		}
		name := r[0]
		if chrome { // trace_processor appends the name of the arg
			name = withoutUnit(strings.TrimSuffix(name, " value"))
		}
		name = sortTags(name)
		series[name] = append(series[name], v)
	}
	series.state(a)
	for _, r := range in.Samples {
		n, err := strconv.ParseInt(r[2], 10, 64)
		if err != nil {
			return nil, err
		}
		a.total("samples", n, map[string]string{"thread": r[0] + "/" + r[1]})
	}
	return a, nil
}

func traceProcessorSlice(a *Answer, r []string) error {
	category, name := r[0], r[1]
	ns, err := strconv.ParseInt(r[2], 10, 64)
	switch {
	case err != nil:
		return err
	case name == "flow" || category == "samples":
	case timelineCategories[category]:
		s := slice{name: name, ns: ns, open: r[3] != "0", attributes: map[string]string{}}
		s.isSpan = category == "span" || category == "request" && !queued(name)
		if _, generation, ok := strings.Cut(name, " gen "); ok {
			s.attributes[attrGeneration] = "gen" + generation
		}
		a.slice(&s)
	case category == "exception":
		a.total("exceptions", 1, map[string]string{"type": name})
	case category != "loss":
		a.instant(name)
	}
	return nil
}

// instant adds an event without a duration.
func (a *Answer) instant(name string) { a.total("instants", 1, map[string]string{"name": name}) }
