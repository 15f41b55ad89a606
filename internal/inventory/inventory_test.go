package inventory_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/inventory"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// The description of a trace has the counts of Microsoft's TraceEvent library, which printed every event.
func TestCountsAreThoseOfTheReference(t *testing.T) {
	for _, name := range []string{"cpu-v6", "threads", "exceptions", "three-processes-v6"} {
		want := map[[3]any]int64{}
		for line := range bytes.Lines(corpus.Read(t, corpus.Path(name+".events.jsonl.zst"))) {
			var e struct {
				Provider string
				ID       float64
				PID, TID uint64
			}
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			want[[3]any{e.Provider, e.ID, nil}]++
			want[[3]any{"thread", e.PID, e.TID}]++
		}
		d := describe(t, name)
		got := map[[3]any]int64{}
		for _, p := range d.Providers {
			for _, typ := range p.Types {
				got[[3]any{p.Name, float64(typ.ID), nil}] += typ.Events
			}
		}
		for _, th := range d.Threads {
			got[[3]any{"thread", *th.PID, *th.TID}] += th.Events
		}
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: counts\n%v, want\n%v", name, got, want)
		}
	}
}

func describe(t *testing.T, name string) *inventory.Description {
	t.Helper()
	src, err := reader.NewBytes(corpus.Trace(t, name).Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := inventory.New()
	if _, err := ntconv.Copy(v, src); err != nil {
		t.Fatal(err)
	}
	return v.Describe(src.Info(), ntconv.NoNames(), "IN")
}
