package chrome_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
)

// TestExtremeTimes has times whose differences do not fit into 64 bits.
func TestExtremeTimes(t *testing.T) {
	events, _, _, err := read(t, []byte(`{"metadata":{"ntconv.trace_start_unix_ns":"-9223372036854775808","startTime":"9999-01-01T00:00:00Z"},"traceEvents":[
		{"name":"first","ph":"X","ts":-4611686018427387.903,"dur":4611686018427387.903,"pid":1,"tid":1},
		{"name":"last","ph":"X","ts":4611686018427387.903,"dur":9223372036854775.807,"pid":1,"tid":1},
		{"name":"beyond","ph":"i","ts":9223372036854775.807,"pid":1,"tid":1},
		{"ph":"P","name":"Profile","id":1,"pid":1,"tid":1,"ts":0,"args":{"data":{}}},
		{"ph":"P","name":"ProfileChunk","id":1,"pid":1,"tid":1,"ts":0,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],
			"samples":[1,1,1,1]},"timeDeltas":[4000000000000000,4000000000000000,-4000000000000000,1]}}}]}`), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{
		`-4611686018427387903  0/-1  metadata ntconv.trace_start_unix_ns=-9223372036854775808 startTime=9999-01-01T00:00:00Z`,
		`-4611686018427387903  1/1 X first dur_ns=4611686018427387903`,
		`611686018427387903  1/1  cpu [f] Value=1 samples=1 wall=1000`,
		`611686018427388903  1/1  cpu [f] Value=3388313981572611 samples=1 wall=3388313981572611097`,
		`4000000000000000000  1/1  cpu [f] Value=611686018427388 samples=1 wall=611686018427387903`,
		`4611686018427387903  1/1 X last dur=9223372036854775.807`,
		`4611686018427387903  1/1 i beyond ts=9223372036854775.807`,
		`4611686018427387903  1/1  cpu [f] Value=611686018427388 samples=1 wall=611686018427387903`,
	})
}

// TestWeights has weights of samples that are not numbers.
func TestWeights(t *testing.T) {
	for weight, want := range map[string]string{
		`"NaN"`: "cycles=1", `"Inf"`: "cycles=1", `1e19`: "cycles=1", `-5`: "cycles=-5", `"7"`: "cycles=7", `null`: "cycles=1",
	} {
		events, _, _, err := read(t, fmt.Appendf(nil, `{"traceEvents":[],"samples":[{"name":"cycles","tid":1,"ts":1,"weight":%s}]}`, weight), chrome.Limits{})
		if err != nil || len(events) != 1 || !strings.HasSuffix(describe(events[0]), want) {
			t.Errorf("%s: %v, %v; want %s", weight, events, err, want)
		}
	}
}

// TestTooManyProcesses checks that events of processes beyond the limit are counted and do not change names.
func TestTooManyProcesses(t *testing.T) {
	const processes, more = 1 << 16, 10
	var b strings.Builder
	b.WriteString(`[{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"first"}}`)
	for i := range processes + more {
		fmt.Fprintf(&b, `,{"ph":"i","name":"e","ts":%d,"pid":%d,"tid":0}`, i, i)
	}
	fmt.Fprintf(&b, `,{"ph":"M","name":"process_name","pid":%d,"tid":0,"args":{"name":"last"}}]`, processes)
	events, _, report, err := read(t, []byte(b.String()), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if name := events[0].Thread.Process.Name; name != "first" {
		t.Errorf("the first process is called %q", name)
	}
	if got := report.Count(ntconv.CodeNotCarried); got != more+1 {
		t.Errorf("%d events were reported, want %d", got, more+1)
	}
}
