package agreement

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A profile is called PROCESS (PID) THREAD (TID): TYPE, or "process PID" and "thread TID" if they have no names.
var speedscopeThread = regexp.MustCompile(`^(?:.*\(|process )(\d+)\)? (?:.*\(|thread )(\d+)\)?: ([^:]*)$`)

// Speedscope returns the answer of a speedscope file.
func Speedscope(data []byte) (*Answer, error) {
	var in struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Type, Name, Unit string
			Weights          []int64
			Events           []struct {
				Type  string
				Frame int
				At    int64
			}
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	a := NewAnswer("speedscope", "samples", "thread time", "CPU time")
	for _, o := range timelineOperations() {
		// A slice does not state whether its end is in the trace.
		a.stated["all "+o.many], a.stated["all "+o.time] = true, true
	}
	threads := 0
	for _, p := range in.Profiles {
		if p.Type == "sampled" && !strings.HasPrefix(p.Name, "all threads: ") {
			threads++
		}
	}
	for _, p := range in.Profiles {
		switch {
		case p.Type == "evented":
			var open []int64
			for _, e := range p.Events {
				if e.Type == "O" {
					open = append(open, e.At)
					continue
				}
				if len(open) == 0 {
					return nil, fmt.Errorf("%s: a frame is closed that is not open", p.Name)
				}
				s := slice{name: in.Shared.Frames[e.Frame].Name, ns: e.At - open[len(open)-1]}
				open = open[:len(open)-1]
				o := operationOf(&s)
				a.total("all "+o.many, 1, nil)
				a.total("all "+o.time, s.ns, nil)
			}
		case strings.HasPrefix(p.Name, "all threads: ") && threads > 0:
		default:
			m := speedscopeThread.FindStringSubmatch(p.Name)
			if m == nil {
				continue
			}
			for _, w := range p.Weights {
				a.total("samples", 1, map[string]string{"thread": m[1] + "/" + m[2]})
				switch m[3] {
				case "wall":
					a.total("thread time", w, map[string]string{"thread": m[1] + "/" + m[2]})
				case "cpu":
					a.total("CPU time", w, map[string]string{"thread": m[1] + "/" + m[2]})
				}
			}
		}
	}
	return a, nil
}
