package chrome_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// The end of an arrow may stand before its begin in the file if both have the same time. The begin then comes first;
// all other events of one time keep the file order.
func TestFlowEndsBeforeBegins(t *testing.T) {
	const id, local, global = `"id":7`, `"id2":{"local":"0x7"}`, `"id2":{"global":"0x7"}`
	for _, c := range []struct{ in, want string }{
		{"f1 s1", "s1 f1"},
		{"f1 x1 s1", "s1 f1 x1"},
		{"x1 f2 f1 s1 s2", "s1 x1 f1 s2 f2"},
		{"f1 s2", "f1 s2"},
		{"f2 s1", "s1 f2"},
		{"t1 s1 f1", "s1 t1 f1"},
		{"s1 f2 s2 f3", "s1 f2 s2 f3"}, // a flow that begins again after its end
		{"f1 s1 f1 s1", "s1 s1 f1 f1"},
		{"s1 f1", "s1 f1"},
	} {
		for _, scope := range []string{id, local, global} {
			var lines []string
			for _, word := range strings.Fields(c.in) {
				phase := map[byte]string{'x': "i"}[word[0]]
				if phase == "" {
					phase = word[:1]
				}
				lines = append(lines, fmt.Sprintf(`{"ph":"%s","cat":"c","name":"n",%s,"pid":1,"tid":2,"ts":%s}`, phase, scope, word[1:]))
			}
			events, _, _, err := read(t, []byte("["+strings.Join(lines, ",")+"]"), chrome.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				phase, _ := chromeevent.Of(e.Type)
				if phase == "i" {
					phase = "x"
				}
				got = append(got, fmt.Sprintf("%s%d", phase, e.Time/1000))
			}
			if want := strings.Fields(c.want); !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %v, want %v", c.in, scope, got, want)
			}
		}
	}
	// A local ID belongs to its process.
	events, _, _, err := read(t, []byte(`[{"ph":"f","name":"n","id2":{"local":"1"},"pid":1,"tid":2,"ts":1},{"ph":"s","name":"n","id2":{"local":"1"},"pid":2,"tid":2,"ts":1}]`), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if phase, _ := chromeevent.Of(events[0].Type); phase != "f" {
		t.Errorf("a begin in another process comes first")
	}
}
