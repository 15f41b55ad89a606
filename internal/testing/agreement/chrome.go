package agreement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

type chromeEvent struct {
	Name, Cat, Ph string
	PID, TID      int64
	TS, Dur       json.Number
	ID            string
	ID2           struct{ Local string }
	Args          json.RawMessage
}

type chromeArgs struct {
	Unfinished bool
	Value      *json.Number
	Events     json.RawMessage // a number in a loss, a list in a span
	Data       struct {
		CPUProfile struct {
			Nodes []struct {
				ID        int
				CallFrame struct{ FunctionName string }
			}
			Samples []int
		} `json:"cpuProfile"`
	}
}

// Chrome returns the answer of a file in Chrome's trace event format.
func Chrome(data []byte) (*Answer, error) {
	var in struct {
		Metadata    map[string]any
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	r := chromeReader{a: NewAnswer("chrome"), open: map[string][]*openSlice{}, idle: map[string]map[int]bool{}, counters: counters{}}
	r.a.stateSlices(timelineOperations())
	for _, s := range []string{"lost events", "samples", "samples by thread", "exceptions", "exceptions by type", "instants", "instants by name"} {
		r.a.stated[s] = true
	}
	for i, raw := range in.TraceEvents {
		if err := r.event(raw); err != nil {
			return nil, fmt.Errorf("event %d: %w: %.200s", i, err, raw)
		}
	}
	r.counters.state(r.a)
	if start, ok := in.Metadata["ntconv.trace_start_unix_ns"].(string); ok {
		n, err := strconv.ParseInt(start, 10, 64)
		if err != nil {
			return nil, err
		}
		r.a.set(Fact{Name: "first item"}, Value{N: n})
	}
	for key, list := range r.open {
		if len(list) > 0 {
			return nil, fmt.Errorf("%d slices of %s have no end", len(list), key)
		}
	}
	return r.a, nil
}

type chromeReader struct {
	a        *Answer
	open     map[string][]*openSlice
	idle     map[string]map[int]bool // nodes of profiles
	counters counters
}

type openSlice struct {
	slice
	begin int64
}

func (r *chromeReader) event(raw json.RawMessage) error {
	var e chromeEvent
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&e); err != nil {
		return err
	}
	switch {
	case e.Ph == "M" || e.Name == "flow" || e.Cat == "samples":
		return nil
	case e.Ph == "i" && e.Cat != "exception" && e.Cat != "loss":
		r.a.instant(e.Name)
		return nil
	}
	var args chromeArgs
	if len(e.Args) > 0 {
		d := json.NewDecoder(bytes.NewReader(e.Args))
		d.UseNumber()
		if err := d.Decode(&args); err != nil && e.Ph != "i" { // payloads may have members of these names
			return err
		}
	}
	switch e.Ph {
	case "X", "B", "b", "E", "e":
		return r.slice(&e, &args)
	case "C":
		if args.Value != nil {
			v, err := args.Value.Float64()
			if err != nil {
				return err
			}
			name := sortTags(withoutUnit(e.Name))
			r.counters[name] = append(r.counters[name], v)
		}
	case "i":
		if e.Cat == "loss" {
			n, err := strconv.ParseInt(string(args.Events), 10, 64)
			if err != nil {
				return err
			}
			r.a.total("lost events", n, nil)
		} else {
			r.a.total("exceptions", 1, map[string]string{"type": e.Name})
		}
	case "P":
		r.samples(&e, &args)
	}
	return nil
}

func (r *chromeReader) slice(e *chromeEvent, args *chromeArgs) error {
	at, err := microseconds(e.TS)
	if err != nil {
		return err
	}
	key := fmt.Sprint(e.PID, "/", e.TID, " ", strings.ToLower(e.Ph) == "b" || strings.ToLower(e.Ph) == "e")
	if e.Ph == "b" || e.Ph == "e" {
		key = fmt.Sprint(e.PID, " ", e.ID2.Local)
	}
	s := &openSlice{begin: at, slice: slice{name: e.Name, open: args.Unfinished, attributes: map[string]string{}}}
	s.isSpan = e.Cat == "span" || e.Cat == "request" && !queued(e.Name)
	if len(e.Args) > 0 {
		var all map[string]any
		d := json.NewDecoder(bytes.NewReader(e.Args))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			return err
		}
		for k, v := range all {
			s.attributes[k] = fmt.Sprint(v)
		}
	}
	switch e.Ph {
	case "X":
		if s.ns, err = microseconds(e.Dur); err != nil {
			return err
		}
		r.a.slice(&s.slice)
	case "B", "b":
		r.open[key] = append(r.open[key], s)
	default:
		list := r.open[key]
		if len(list) == 0 {
			return fmt.Errorf("end of a slice that is not open")
		}
		s = list[len(list)-1]
		r.open[key] = list[:len(list)-1]
		s.ns = at - s.begin
		r.a.slice(&s.slice)
	}
	return nil
}

func (r *chromeReader) samples(e *chromeEvent, args *chromeArgs) {
	key := fmt.Sprint(e.PID, " ", e.ID)
	if r.idle[key] == nil {
		r.idle[key] = map[int]bool{}
	}
	for _, n := range args.Data.CPUProfile.Nodes {
		r.idle[key][n.ID] = n.CallFrame.FunctionName == "(idle)"
	}
	for _, id := range args.Data.CPUProfile.Samples {
		if !r.idle[key][id] {
			r.a.total("samples", 1, map[string]string{"thread": thread(e.PID, e.TID)})
		}
	}
}

// microseconds returns a decimal number of microseconds in nanoseconds.
func microseconds(n json.Number) (int64, error) { return scaled(n, 1000) }

// scaled returns a decimal number times factor, rounded down to an integer.
func scaled(n json.Number, factor int64) (int64, error) {
	x, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return 0, fmt.Errorf("%q is not a number", n)
	}
	x.Mul(x, new(big.Rat).SetInt64(factor))
	q := new(big.Int).Div(x.Num(), x.Denom())
	return q.Int64(), nil
}
