package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A chromeTrace contains the number of elements in a file of Chrome's trace format, counted only by the phases of the
// events.
type chromeTrace struct {
	complete, begins, helpers int64 // X; B; the part of B that only starts an arrow
	async, asyncInstants      int64 // b; n
	onThreads, elsewhere      int64 // i of a thread; i of a process or of all
	counterValues             int64
	flows, bound              int64 // arrows by f; by flow_in
	samples, idle             int64 // samples of V8 profiles; the part of them in the idle node
	profiles                  map[[2]int64]int64
	processes                 map[int64]string
	threads                   map[[2]int64]string
}

// readChrome reads a file of the object form.
func readChrome(t *testing.T, path string) *chromeTrace {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []*chromeEvent }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	c := &chromeTrace{profiles: map[[2]int64]int64{}, processes: map[int64]string{}, threads: map[[2]int64]string{}}
	idle := make(map[string]map[int64]bool) // nodes by ID of the profile
	for _, e := range file.TraceEvents {
		switch e.Ph {
		case "P":
			c.chunk(t, e, idle)
		case "C":
			var values map[string]json.Number
			decode(t, e.Args, &values)
			c.counterValues += int64(len(values))
		case "M":
			c.name(t, e)
		default:
			c.count(t, e)
		}
	}
	return c
}

type chromeEvent struct {
	Ph, Name, Cat, S, ID string
	PID, TID             int64
	FlowIn               bool `json:"flow_in"`
	Args                 json.RawMessage
}

func (c *chromeTrace) count(t *testing.T, e *chromeEvent) {
	t.Helper()
	if e.FlowIn {
		c.bound++
	}
	switch e.Ph {
	case "X":
		c.complete++
	case "B":
		c.begins++
		if e.Cat == "flow" {
			c.helpers++
		}
	case "b":
		c.async++
	case "n":
		c.asyncInstants++
	case "i":
		if e.S == "t" {
			c.onThreads++
		} else {
			c.elsewhere++
		}
	case "f":
		c.flows++
	case "E", "e", "s":
	default:
		t.Errorf("an event with the phase %s: %+v", e.Ph, e)
	}
}

func (c *chromeTrace) name(t *testing.T, e *chromeEvent) {
	t.Helper()
	var args struct{ Name string }
	switch e.Name {
	case "process_name":
		decode(t, e.Args, &args)
		c.processes[e.PID] = args.Name
	case "thread_name":
		decode(t, e.Args, &args)
		c.threads[[2]int64{e.PID, e.TID}] = args.Name
	}
}

// chunk counts the samples in a chunk of a V8 profile.
func (c *chromeTrace) chunk(t *testing.T, e *chromeEvent, idle map[string]map[int64]bool) {
	t.Helper()
	if e.Name == "Profile" {
		idle[e.ID] = make(map[int64]bool)
		return
	}
	var args struct {
		Data struct {
			CPUProfile struct {
				Nodes []struct {
					ID        int64
					CallFrame struct{ FunctionName string }
				}
				Samples []int64
			}
			TimeDeltas []int64
		}
	}
	if err := json.Unmarshal(e.Args, &args); err != nil {
		t.Fatal(err)
	}
	if idle[e.ID] == nil {
		t.Fatalf("a chunk before its profile %s", e.ID)
	}
	for _, n := range args.Data.CPUProfile.Nodes {
		idle[e.ID][n.ID] = strings.HasPrefix(n.CallFrame.FunctionName, "(idle")
	}
	for _, n := range args.Data.CPUProfile.Samples {
		c.samples++
		c.profiles[[2]int64{e.PID, e.TID}]++
		if idle[e.ID][n] {
			c.idle++
		}
	}
	if len(args.Data.TimeDeltas) != len(args.Data.CPUProfile.Samples) {
		t.Errorf("%d times for %d samples", len(args.Data.TimeDeltas), len(args.Data.CPUProfile.Samples))
	}
}
