package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
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
				if err := d.Decode(&e); err != nil {
					t.Fatal(err)
				}
				value := e[c.key]
				if payload, ok := e["payload"].(map[string]any); ok && value == nil {
					value = payload[c.key]
				}
				n, err := e["size"].(json.Number).Int64()
				if err != nil {
					t.Fatal(err)
				}
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

// The recorded program knows how many exceptions of each type it threw.
func TestStatsAgainstTruth(t *testing.T) {
	text, err := os.ReadFile(corpus.Path("exceptions.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		PID   int `json:"pid"`
		Cases []struct {
			Type   string
			Events int64
		}
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int64{}, map[string]int64{}
	for _, c := range truth.Cases {
		list, _, _ := strings.Cut(c.Type, " (") // "A then B (has inner)": one event of each
		types := strings.Split(list, " then ")
		for _, name := range types {
			want[fmt.Sprint(name, " ", truth.PID)] += c.Events / int64(len(types))
		}
	}
	maps.DeleteFunc(want, func(_ string, n int64) bool { return n == 0 })
	for _, r := range statsJSON(t, "--event", "ExceptionThrown", "--by", "ExceptionType,$pid", trace(t, "exceptions")).Rows {
		got[fmt.Sprint(r.By["ExceptionType"], " ", r.By["$pid"])] = r.Events
	}
	if len(want) < 5 || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The table goes to a file or to standard output, and a pipe is read once.
func TestStatsOutput(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "alloc-verbose")
	args := []string{"print", "--stats", "--event", "GCAllocationTick", "--by", "TypeName", "--of", "AllocationAmount64"}
	shown := invoke(t, dir, nil, append(args, in)...)
	piped := invoke(t, dir, corpus.Trace(t, "alloc-verbose").Data, append(args, "-")...)
	stored := invoke(t, dir, nil, append(args, in, "-o", "table.txt")...)
	b, err := os.ReadFile(filepath.Join(dir, "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(shown.stdout, "\n"); lines != 13 || piped.stdout != shown.stdout || string(b) != shown.stdout || stored.stdout != "" {
		t.Errorf("%d lines\n%s\npipe:\n%s%s\nfile:\n%s", lines, shown.stdout, piped.stdout, piped.stderr, b)
	}
	notes := invoke(t, dir, nil, "print", "--stats", "--by", "TypeName", in)
	if want := "1,314 of 1,382 events have no value of TypeName"; !strings.Contains(notes.stderr, want) {
		t.Errorf("got %s, want %s", notes.stderr, want)
	}
}
