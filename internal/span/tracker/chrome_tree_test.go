package tracker_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/reader"
)

// sliceTree is a random tree of slices with distinct times, both as events of Chrome's format and as text.
type sliceTree struct {
	r      *rand.Rand
	events []timedEvent
	want   []string
	names  int
}

type timedEvent struct {
	ts   int
	text string
}

func (g *sliceTree) event(ts int, format string, args ...any) {
	g.events = append(g.events, timedEvent{ts, fmt.Sprintf(format, args...)})
}

// thread adds slices of a thread between two times in nanoseconds.
func (g *sliceTree) thread(from, to, pid, tid int, parent string, depth int) {
	for at := from + 1; at < to-10; {
		length := 4 + g.r.IntN(to-at-6)
		g.names++
		name := fmt.Sprintf("%d.%d.%d", pid, tid, g.names)
		where := fmt.Sprintf(`"pid":%d,"tid":%d`, pid, tid)
		if g.r.IntN(2) == 0 {
			g.event(at, `{"ph":"X","cat":"c","name":"%s","ts":%d.%03d,"dur":%d.%03d,%s}`, name, at/1000, at%1000, length/1000, length%1000, where)
		} else {
			g.event(at, `{"ph":"B","cat":"c","name":"%s","ts":%d.%03d,%s}`, name, at/1000, at%1000, where)
			g.event(at+length, `{"ph":"E","ts":%d.%03d,%s}`, (at+length)/1000, (at+length)%1000, where)
		}
		g.want = append(g.want, fmt.Sprintf("%s %d..%d in %q", name, at, at+length, parent))
		if depth > 0 {
			g.thread(at, at+length, pid, tid, name, depth-1)
		}
		at += length + 1 + g.r.IntN(100)
	}
}

// async adds asynchronous slices with an ID, whose events are on any threads of a process.
func (g *sliceTree) async(from, to, pid, id int, parent string, depth int) {
	if to-from < 20 {
		return
	}
	g.names++
	name := fmt.Sprintf("async %d.%d", id, g.names)
	end := from + 10 + g.r.IntN(to-from-10)
	for _, e := range []struct {
		ph string
		ts int
	}{{"b", from}, {"e", end}} {
		g.event(e.ts, `{"ph":"%s","cat":"net","name":"%s","id":"0x%x","ts":%d.%03d,"pid":%d,"tid":%d}`, e.ph, name, id, e.ts/1000, e.ts%1000, pid, g.r.IntN(3))
	}
	g.want = append(g.want, fmt.Sprintf("%s %d..%d in %q", name, from, end, parent))
	if depth > 0 {
		g.async(from+1, end-1, pid, id, name, depth-1)
	}
}

// sliceTexts formats spans in the way of sliceTree.
func sliceTexts(spans []*span.Span, start uint64) (list []string) {
	names := map[span.ID]string{}
	for _, s := range spans {
		names[s.ID] = s.Name
	}
	for _, s := range spans {
		list = append(list, fmt.Sprintf("%s %d..%d in %q", s.Name, s.Start-start, s.End-start, names[s.ParentID]))
	}
	return list
}

// Random trees of slices on threads and of asynchronous slices become spans with the same times and parents, also after
// the trace was written as nettrace.
func TestChromeTrees(t *testing.T) {
	for seed := range uint64(10) {
		g := &sliceTree{r: rand.New(rand.NewPCG(seed, 0))}
		for tid := range 3 {
			g.thread(g.r.IntN(1000), 20_000, 1+tid%2, tid, "", 5)
		}
		for id := range 3 {
			g.async(g.r.IntN(1000), 20_000, 1, id, "", 4)
		}
		slices.SortStableFunc(g.events, func(a, b timedEvent) int { return cmp.Compare(a.ts, b.ts) })
		lines := make([]string, len(g.events))
		for i, e := range g.events {
			lines[i] = e.text
		}
		file := []byte("[" + strings.Join(lines, ",\n") + "]")
		src := chromeSource(t, file)
		spans, counts := track(t, src, nil)
		got := sliceTexts(spans, -uint64(g.events[0].ts)) // the file has no date: times count from the first event
		slices.Sort(got)
		slices.Sort(g.want)
		if !slices.Equal(got, g.want) {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(g.want, "\n"))
		}
		if counts.Unmatched != 0 || counts.Unfinished != 0 {
			t.Fatalf("seed %d: %+v", seed, counts)
		}
		again, _ := track(t, open(t, rewrite(t, "slices", chromeSource(t, file)), reader.ByTime), nil)
		if len(again) != len(spans) {
			t.Fatalf("seed %d: %d spans of nettrace, want %d", seed, len(again), len(spans))
		}
		for i := range again {
			if a, b := again[i], spans[i]; a.Context != b.Context || a.Start != b.Start || a.End != b.End || a.ParentID != b.ParentID {
				t.Fatalf("seed %d: span of nettrace %+v, want %+v", seed, a, b)
			}
		}
	}
}

func chromeSource(t testing.TB, data []byte) ntconv.Source {
	t.Helper()
	src, err := chrome.New(bytes.NewReader(data), &chrome.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return src
}
