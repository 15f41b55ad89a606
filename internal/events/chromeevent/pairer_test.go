package chromeevent_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/testing/corpus"
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
	for _, c := range corpus.Cases(t, filepath.Join("testdata", "pairs.txt")) {
		got, open := pair(t, c.Input)
		want := strings.Join(c.Want, ", ")
		if strings.Join(got, ", ") != want || open != strings.Count(want, "unfinished") {
			t.Errorf("%s: %s\nwant %s; %d open", c.Name, strings.Join(got, ", "), want, open)
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
