package firefox_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
)

// FuzzNew reads any text: a profile is refused with one of the errors that New lists, or has events in time order, each
// with a thread and with stacks within the limit, and the same events again when it is read again.
func FuzzNew(f *testing.F) {
	for _, version := range []int{57, 60, 66, 71, 75} {
		f.Add(readFile(f, version))
	}
	process := func(libs string) string {
		return `{"meta":{"version":4,"startTime":1700000000000,"interval":1},"libs":` + libs + `,"threads":[` +
			geckoThread(`[0,1,{"type":"tracing","category":"a","interval":"start"}],[0,2,{"type":"tracing","category":"a","interval":"end"}]`, "main (in app)", "0x10", "f (a.js:3:4)") + `]}`
	}
	f.Add([]byte(process(`[{"start":0,"end":99,"name":"app","path":"/bin/app"}]`)))
	f.Add([]byte(process(`"[{\"start\":0,\"end\":99,\"name\":\"app\"}]"`)))
	f.Add([]byte(strings.TrimSuffix(process(`[]`), "}") + `,"processes":[` + process(`[]`) + `]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		first := events(t, text)
		if again := events(t, text); again != first {
			t.Fatalf("first\n%+v\nthen\n%+v", first, again)
		}
	})
}

// A fuzzed is what a text has.
type fuzzed struct {
	events, frames int
	last           ntconv.Ticks
	err            string
}

func events(t *testing.T, text []byte) (f fuzzed) {
	src, err := firefox.New(bytes.NewReader(text), &firefox.Options{Limits: firefox.Limits{Stack: 20, Tables: 1 << 20}})
	if err != nil {
		for _, known := range []error{ntconv.ErrFormat, ntconv.ErrTruncated, ntconv.ErrCorrupt, ntconv.ErrUnsupported, ntconv.ErrLimit} {
			if errors.Is(err, known) {
				return fuzzed{err: err.Error()}
			}
		}
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		if f.events > 0 && e.Time < f.last || e.Stack != nil && len(e.Stack.Frames) > 20 {
			t.Fatalf("event %d of %s at %d after %d, stack %v", f.events, e.Type.Name, e.Time, f.last, e.Stack)
		}
		f.events, f.last = f.events+1, e.Time
		if e.Stack != nil {
			f.frames += len(e.Stack.Frames)
		}
	}
	return f
}
