package firefox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/testing/readable"
)

// object writes members in an order that is drawn: formats of JSON have none.
func object(t *rapid.T, members map[string]any) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range rapid.Permutation(slices.Sorted(maps.Keys(members))).Draw(t, "order") {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(members[k])
		readable.Must(t, err)
		fmt.Fprintf(&b, "%q:%s", k, value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// drawThread returns a thread of version 57 whose functions are named after the strings of the profile.
func drawThread(t *rapid.T, n, stringArray int) json.RawMessage {
	index := func(limit int) int { return rapid.IntRange(0, limit-1).Draw(t, "index") }
	var frames, prefixes, funcs, names []any
	for range rapid.IntRange(1, 5).Draw(t, "funcs") {
		names = append(names, index(stringArray))
	}
	for range rapid.IntRange(1, 5).Draw(t, "frames") {
		funcs = append(funcs, index(len(names)))
	}
	for i := range rapid.IntRange(1, 10).Draw(t, "stacks") {
		frames = append(frames, index(len(funcs)))
		if prefixes = append(prefixes, nil); i > 0 && rapid.Bool().Draw(t, "has prefix") {
			prefixes[i] = index(i)
		}
	}
	rows := func(kind string) json.RawMessage {
		var stacks, times, weights []any
		at := 0
		for range rapid.IntRange(0, 10).Draw(t, "rows") {
			at += index(1000)
			stacks, times, weights = append(stacks, index(len(frames))), append(times, json.Number(fmt.Sprintf("%d.%03d", at/1000, at%1000))), append(weights, index(100))
			if rapid.IntRange(0, 5).Draw(t, "none") == 0 {
				stacks[len(stacks)-1] = nil
			}
		}
		m := map[string]any{"length": len(times), "stack": stacks, "time": times, "weight": weights, "weightType": kind, "responsiveness": []any{}}
		if kind == "samples" && rapid.Bool().Draw(t, "unweighted") {
			m["weight"] = nil
		}
		return object(t, m)
	}
	kind := rapid.SampledFrom([]string{"samples", "tracing-ms", "bytes"}).Draw(t, "kind")
	members := map[string]any{
		"name": fmt.Sprint("worker ", n), "pid": "7", "tid": n, "samples": rows(kind),
		"stackTable": object(t, map[string]any{"frame": frames, "prefix": prefixes, "length": len(frames)}),
		"frameTable": object(t, map[string]any{"func": funcs, "length": len(funcs)}),
		"funcTable":  object(t, map[string]any{"name": names, "length": len(names)}),
	}
	if rapid.Bool().Draw(t, "allocations") {
		members["nativeAllocations"] = rows("bytes")
	}
	return object(t, members)
}

// TestGenerated checks the totals of profiles with members in any order.
func TestGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stringArray := []string{"main", "read", "say \"hi\"", "Lérida", "a;b"}
		var threads []json.RawMessage
		for i := range rapid.IntRange(0, 3).Draw(t, "threads") {
			threads = append(threads, drawThread(t, i+1, len(stringArray)))
		}
		meta := map[string]any{"interval": 1.5, "startTime": 1700000000000, "preprocessedProfileVersion": 57, "product": "test"}
		rest := object(t, map[string]any{"threads": append([]json.RawMessage{}, threads...), "shared": map[string]any{"stringArray": stringArray}, "pages": []any{}})
		text := []byte(`{"meta":` + string(object(t, meta)) + "," + string(rest[1:]))
		checkSums(t, text, model(t, text))
	})
}

// edit changes a profile of version 57.
func edit(t *testing.T, text []byte, change func(profile map[string]any)) []byte {
	t.Helper()
	var p map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	readable.Must(t, d.Decode(&p))
	meta := p["meta"]
	change(p)
	delete(p, "meta")
	m, err := json.Marshal(meta)
	readable.Must(t, err)
	rest, err := json.Marshal(p)
	readable.Must(t, err)
	return []byte(`{"meta":` + string(m) + "," + string(rest[1:]))
}

func threadsOf(p map[string]any) (list []map[string]any) {
	for _, t := range p["threads"].([]any) {
		list = append(list, t.(map[string]any))
	}
	return list
}

// TestOlderVersions checks that a profile in the form of older versions yields the same events.
func TestOlderVersions(t *testing.T) {
	base := readFile(t, 57)
	want := lines(t, open(t, base, nil))
	for name, change := range map[string]func(p map[string]any){
		"members sorted, shared last": func(map[string]any) {},
		"strings per thread (55)": func(p map[string]any) {
			for _, th := range threadsOf(p) {
				th["stringArray"] = p["shared"].(map[string]any)["stringArray"]
			}
			delete(p, "shared")
		},
		"groups of a counter's samples (47)": func(p map[string]any) {
			for _, c := range p["counters"].([]any) {
				c := c.(map[string]any)
				c["sampleGroups"] = []any{map[string]any{"id": 0, "samples": c["samples"]}}
				delete(c, "samples")
			}
		},
		"numbers of processes (46)": func(p map[string]any) {
			for _, th := range threadsOf(p)[:2] {
				th["pid"] = 10
			}
		},
		"weights are durations (28)": func(p map[string]any) {
			for _, th := range threadsOf(p) {
				for _, name := range []string{"samples", "jsAllocations", "nativeAllocations"} {
					if s, ok := th[name].(map[string]any); ok && s["weightType"] != "tracing-ms" {
						s["duration"] = s["weight"]
						delete(s, "weight")
						delete(s, "weightType")
					}
				}
			}
		},
	} {
		text := edit(t, base, change)
		if got := lines(t, open(t, text, nil)); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestOldMarkers reads markers of versions without phases.
func TestOldMarkers(t *testing.T) {
	text := []byte(`{"meta":{"interval":1,"startTime":0,"preprocessedProfileVersion":8},"threads":[{"name":"m","pid":1,"tid":2,"stringArray":["A","B"],
		"markers":{"length":4,"name":[0,1,1,0],"time":[1,2,5,9],"data":[{"type":"X","startTime":0.5,"endTime":1},{"type":"tracing","category":"c","interval":"start"},
		{"type":"tracing","category":"c","interval":"end"},null]}}]}`)
	want := []string{
		`500000 1/2 A X firefox A 500000 {"endTime":1,"startTime":0.5,"type":"X"}`,
		`2000000 1/2 B X firefox B 3000000 {"category":"c","interval":"end","type":"tracing"}`,
		`9000000 1/2 A i firefox A 0 `,
	}
	if got := lines(t, open(t, text, nil)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
