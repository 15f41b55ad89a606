package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// statsJSON returns the output of print --stats --json.
func statsJSON(t *testing.T, args ...string) (o struct {
	Groups int
	Rows   []struct {
		By             map[string]any
		Events, Values int64
		Sum, P50, Max  json.Number
	}
	Total struct{ Events, Bytes int64 }
}) {
	t.Helper()
	r := invoke(t, t.TempDir(), nil, append([]string{"print", "--stats", "--json", "-n", "0"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
	}
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%q: %v: %s", args, err, r.stdout)
	}
	return o
}

// The table counts what print prints: the same events with the same selection, by any field.
func TestStatsCountPrintedEvents(t *testing.T) {
	for _, c := range []struct{ trace, by, key string }{
		{"alloc-verbose", "$provider", "provider"}, {"threads", "$tid", "tid"}, {"exceptions", "ExceptionType", "ExceptionType"},
		{"sources", "$event", "event"}, {"activities", "$activity_id", "activity_id"}, {"alloc-verbose", "AllocationKind", "AllocationKind"},
	} {
		for _, selection := range [][]string{nil, {"--where", "$size > 8"}, {"--from-time", "50ms", "--to-time", "120ms"}} {
			in := trace(t, c.trace)
			want, total, size := map[string]int64{}, int64(0), int64(0)
			printed := invoke(t, t.TempDir(), nil, append([]string{"print", "--json", in}, selection...)...)
			for line := range strings.Lines(printed.stdout) {
				var e map[string]any
				d := json.NewDecoder(strings.NewReader(line))
				d.UseNumber()
				must(t, d.Decode(&e))
				value := e[c.key]
				if payload, ok := e["payload"].(map[string]any); ok && value == nil {
					value = payload[c.key]
				}
				n, err := e["size"].(json.Number).Int64()
				must(t, err)
				want[fmt.Sprint(value)]++
				total, size = total+1, size+n
			}
			if total == 0 || printed.code != exitOK {
				if selection == nil {
					t.Errorf("%s: no events: %s", c.trace, printed.stderr)
				}
				continue
			}
			if c.key == "AllocationKind" {
				want = named(want)
			}
			table := statsJSON(t, append([]string{"--by", c.by, in}, selection...)...)
			got := map[string]int64{}
			for _, r := range table.Rows {
				got[fmt.Sprint(r.By[c.by])] = r.Events
			}
			if !maps.Equal(got, want) || table.Total.Events != total || table.Total.Bytes != size || table.Groups != len(want) {
				t.Errorf("%s by %s, %q: got %v, want %v; total %+v, want %d, %d", c.trace, c.by, selection, got, want, table.Total, total, size)
			}
		}
	}
}

// named replaces kinds of allocations by their names in the runtime's manifest.
func named(counts map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for value, n := range counts {
		if name := map[string]string{"0": "Small", "1": "Large"}[value]; name != "" {
			value = name
		}
		out[value] = n
	}
	return out
}
