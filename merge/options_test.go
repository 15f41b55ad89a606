package merge_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/merge"
	"github.com/ntconv/ntconv/ntconvtest"
	"pgregory.net/rapid"
)

// MergeWith gives two processes one ID only if their spaces are equal and their IDs were. It keeps recorded IDs in an
// attribute, names machines and origins, and changes nothing that the sources state themselves.
func TestMergeWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "sources")
		o := &merge.Options{}
		var sources []ntconv.Source
		type owner struct {
			space int
			pid   uint64
		}
		want := map[uint64]owner{} // by TID
		for s := range n {
			o.Hosts = append(o.Hosts, rapid.SampledFrom([]string{"", "web", "db"}).Draw(t, "host"))
			o.Spaces = append(o.Spaces, rapid.IntRange(0, 2).Draw(t, "space"))
			o.Origins = append(o.Origins, rapid.SampledFrom([]string{"", "a.nettrace"}).Draw(t, "origin"))
			o.Hosts[s] = []string{"", "web", "db"}[o.Spaces[s]] // a space belongs to one machine
			var events []*ntconv.Event
			for i := range rapid.IntRange(0, 5).Draw(t, "events") {
				pid := rapid.Uint64Range(0, 3).Draw(t, "pid")
				tid := uint64(100*s + i)
				want[tid] = owner{o.Spaces[s], pid}
				events = append(events, mergeEvent(&ntconv.Thread{TID: tid, Process: &ntconv.Process{PID: pid}}, ntconv.Ticks(i), 1))
			}
			sources = append(sources, ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}, events...))
		}
		got, err := ntconvtest.Record(merge.With(o, sources...))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d events, want %d", len(got), len(want))
		}
		owners := map[uint64]owner{}
		for _, e := range got {
			p, s, w := e.Thread.Process, int(e.Thread.TID/100), want[e.Thread.TID]
			if first, known := owners[p.PID]; known && first != w && p.PID != 0 {
				t.Fatalf("process %d is %v and %v", p.PID, first, w)
			}
			owners[p.PID] = w
			recorded, changed := p.Attrs.Get(ntconv.AttrPID)
			if changed != (p.PID != w.pid) || changed && recorded != string(rune('0'+w.pid)) {
				t.Fatalf("process %+v, recorded as %d", *p, w.pid)
			}
			if p.Host != o.Hosts[s] {
				t.Fatalf("host %q, want %q", p.Host, o.Hosts[s])
			}
			if origin, _ := e.Thread.Attrs.Get(ntconv.AttrOrigin); origin != o.Origins[s] {
				t.Fatalf("origin %q, want %q", origin, o.Origins[s])
			}
		}
		ids := map[owner]uint64{}
		for pid, w := range owners {
			if other, known := ids[w]; known && other != pid {
				t.Fatalf("%v is process %d and %d", w, other, pid)
			}
			ids[w] = pid
		}
	})
}

// A host that a source states itself stays.
func TestMergeWithKeepsHosts(t *testing.T) {
	p := &ntconv.Process{PID: 1, Host: "recorded"}
	src := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}, mergeEvent(&ntconv.Thread{Process: p}, 1, 1))
	got, err := ntconvtest.Record(merge.With(&merge.Options{Hosts: []string{"other"}}, src))
	if err != nil || len(got) != 1 || got[0].Thread.Process != p {
		t.Errorf("%v, %v", got, err)
	}
}
