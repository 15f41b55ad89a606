package chromeevent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// pair passes events to a Pairer and returns its results: begin+end of slices, in|out and number of flows.
func pair(t *testing.T, lines []string) (got []string, open int) {
	t.Helper()
	var parser chromeevent.Parser
	var owners chromeevent.Owners
	var pairs chromeevent.Pairer[int]
	for i, line := range lines {
		var e chromeevent.Event
		parser.Parse([]byte(line), &e)
		thread := owners.Thread(e.PID, e.TID)
		if n, in, out := pairs.Flow(&e, thread); n > 0 {
			got = append(got, fmt.Sprintf("%d: flow %d %v %v", i, n, in, out))
		}
		var begin int
		ok := true
		switch chromeevent.RoleOf(e.Phase) {
		case chromeevent.RoleBegin:
			pairs.Begin(&e, thread, i)
			continue
		case chromeevent.RoleStep:
			begin, ok = pairs.Step(&e, thread)
		case chromeevent.RoleEnd:
			begin, ok = pairs.End(&e, thread)
		default:
			continue
		}
		if !ok {
			begin = -1
		}
		got = append(got, fmt.Sprintf("%d: %d", i, begin))
	}
	open = pairs.Open()
	for begin := range pairs.Unfinished() {
		got = append(got, fmt.Sprintf("unfinished: %d", begin))
	}
	if pairs.Open() != 0 {
		t.Errorf("%d open slices at the end", pairs.Open())
	}
	return got, open
}

func TestPairer(t *testing.T) {
	for _, c := range []struct {
		name, want, events string
	}{
		{name: "nested", want: "2: 1, 3: 0, 4: -1", events: `
			{"ph":"B","name":"a","pid":1,"tid":1}
			{"ph":"B","name":"b","pid":1,"tid":1}
			{"ph":"E","pid":1,"tid":1}
			{"ph":"E","name":"a","pid":1,"tid":1}
			{"ph":"E","pid":1,"tid":1}`},
		{name: "another thread", want: "1: -1, unfinished: 0", events: `
			{"ph":"B","name":"a","pid":1,"tid":1}
			{"ph":"E","name":"a","pid":1,"tid":2}`},
		{name: "named ends", want: "2: 0, 3: -1, 4: 1", events: `
			{"ph":"B","name":"a","pid":1,"tid":1}
			{"ph":"B","name":"b","pid":1,"tid":1}
			{"ph":"E","name":"a","pid":1,"tid":1}
			{"ph":"E","name":"c","pid":1,"tid":1}
			{"ph":"E","name":"b","pid":1,"tid":1}`},
		{name: "async", want: "2: 0, 3: 0, 4: -1, 5: 1, unfinished: 6", events: `
			{"ph":"b","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"b","cat":"c","name":"a","id":2,"pid":1,"tid":1}
			{"ph":"n","cat":"c","name":"x","id":1,"pid":1,"tid":2}
			{"ph":"e","cat":"c","name":"a","id":1,"pid":1,"tid":2}
			{"ph":"e","cat":"d","name":"a","id":2,"pid":1,"tid":2}
			{"ph":"e","cat":"c","id":"2","pid":1,"tid":2}
			{"ph":"b","cat":"c","name":"a","id":2,"scope":"s","pid":1,"tid":1}`},
		{name: "IDs of processes", want: "4: 1, 5: 0, 6: 2, 7: -1, unfinished: 3", events: `
			{"ph":"b","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"b","cat":"c","name":"a","id":1,"pid":2,"tid":2}
			{"ph":"b","cat":"c","name":"a","id":2,"pid":1,"tid":1}
			{"ph":"b","cat":"c","name":"a","id2":{"local":1},"pid":1,"tid":1}
			{"ph":"e","cat":"c","name":"a","id":1,"pid":2,"tid":2}
			{"ph":"e","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"e","cat":"c","name":"a","id":2,"pid":3,"tid":3}
			{"ph":"e","cat":"c","name":"a","id2":{"local":1},"pid":3,"tid":3}`},
		{name: "old async and objects", want: "2: 0, 3: 0, 4: -1, 5: 0, 6: 1, 7: 1", events: `
			{"ph":"S","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"N","name":"o","id":1,"pid":1,"tid":1}
			{"ph":"T","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"p","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"F","cat":"c","name":"b","id":1,"pid":1,"tid":1}
			{"ph":"F","cat":"c","name":"a","id":1,"pid":1,"tid":1}
			{"ph":"O","name":"o","id":1,"pid":1,"tid":1}
			{"ph":"D","name":"o","id":1,"pid":1,"tid":1}`},
		{name: "flows", want: "0: flow 1 false true, 1: flow 1 true true, 2: flow 1 true false, 4: flow 2 false true, 5: flow 3 false true, 6: flow 3 true true, 7: flow 3 true false", events: `
			{"ph":"s","cat":"c","name":"f","id":1,"pid":1,"tid":1}
			{"ph":"t","cat":"c","name":"f","id":1,"pid":1,"tid":2}
			{"ph":"f","cat":"c","name":"f","id":1,"pid":2,"tid":3}
			{"ph":"f","cat":"c","name":"f","id":1,"pid":2,"tid":3}
			{"ph":"s","cat":"c","name":"f","id":1,"pid":1,"tid":1}
			{"ph":"X","dur":1,"bind_id":1,"flow_out":true}
			{"ph":"X","dur":1,"bind_id":"1","flow_out":true,"flow_in":true}
			{"ph":"X","dur":1,"bind_id":1,"flow_in":true}
			{"ph":"X","dur":1,"bind_id":2,"flow_in":true}`},
	} {
		lines := slices.DeleteFunc(strings.Split(c.events, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		got, open := pair(t, lines)
		if strings.Join(got, ", ") != c.want || open != strings.Count(c.want, "unfinished") {
			t.Errorf("%s: %s\nwant %s; %d open", c.name, strings.Join(got, ", "), c.want, open)
		}
	}
}

// An end finds its begin among many open slices but does not examine all of them, so that a file of begins and ends
// that do not match does not take quadratic time.
func TestPairerDeep(t *testing.T) {
	for n, want := range map[int]string{1000: "1001: 0", 5000: "5001: -1"} {
		lines := []string{`{"ph":"B","name":"a","pid":1,"tid":1}`}
		for range n {
			lines = append(lines, `{"ph":"B","name":"b","pid":1,"tid":1}`)
		}
		got, _ := pair(t, append(lines, `{"ph":"E","name":"a","pid":1,"tid":1}`))
		if got[0] != want {
			t.Errorf("below %d slices: %s, want %s", n, got[0], want)
		}
	}
}
