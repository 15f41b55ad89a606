package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A frame is an address, its module and its method, as strings.
type frame [3]string

// A stackKey identifies corresponding stacks. The reference's list of stacks has no event IDs.
type stackKey struct {
	ticks    int64
	tid      uint64
	provider string
}

func (k stackKey) String() string {
	return fmt.Sprintf("%s at %d, thread %d", k.provider, k.ticks, k.tid)
}

// referenceStacks are the stacks that TraceEvent shows, by event.
type referenceStacks struct {
	frames map[int][]frame
	events map[stackKey][]int
}

func readStacks(t *testing.T, path string) *referenceStacks {
	t.Helper()
	return parseStacks(t, unzstd(t, path))
}

func parseStacks(t *testing.T, dump []byte) *referenceStacks {
	t.Helper()
	r := &referenceStacks{frames: map[int][]frame{}, events: map[stackKey][]int{}}
	for text := range bytes.Lines(dump) {
		if text[0] == '[' { // ticks, pid, tid, provider, name, stack
			var k stackKey
			var pid, id int
			var name string
			must(t, json.Unmarshal(text, &[]any{&k.ticks, &pid, &k.tid, &k.provider, &name, &id}))
			r.events[k] = append(r.events[k], id)
			continue
		}
		row := struct {
			Stack  int
			Frames []frame
		}{Stack: -1}
		decode(t, text, &row)
		if row.Stack >= 0 {
			r.frames[row.Stack] = row.Frames
		}
	}
	return r
}

// A stackComparison contains the counts of the reference's script.
type stackComparison struct{ stacks, missing, frames, named, extra int }

// A frameDifference is a frame with another module or method in the reference.
type frameDifference struct{ theirs, ours frame }

// compareStacks compares the stacks of all events and calls see for every frame that differs.
func compareStacks(t *testing.T, tr trace, want *referenceStacks, got []*line, see func(frameDifference)) stackComparison {
	t.Helper()
	var c stackComparison
	parsed := map[string][]frame{} // most stacks belong to many events
	for _, l := range got {
		if len(l.Stack) <= len("[]") {
			continue
		}
		ours, ok := parsed[string(l.Stack)]
		if !ok {
			decode(t, l.Stack, &ours)
			parsed[string(l.Stack)] = ours
		}
		k := stackKey{l.Ticks, l.TID, l.Provider}
		ids := want.events[k]
		i := slices.IndexFunc(ids, func(id int) bool { return sameAddresses(want.frames[id], ours) })
		if i < 0 {
			if c.extra++; !isHidden(l) && !truncated[tr.name] {
				t.Errorf("%s at %d, thread %d: the stack is not in the reference", l.kind(), l.Ticks, l.TID)
			}
			continue
		}
		theirs := want.frames[ids[i]]
		want.events[k] = slices.Delete(ids, i, i+1)
		c.stacks++
		for i, f := range theirs {
			if c.frames++; f[2] != "" && (bare(f[2]) != bare(ours[i][2]) || !strings.EqualFold(f[1], ours[i][1])) {
				c.named++
				see(frameDifference{f, ours[i]})
			}
		}
	}
	for k, ids := range want.events {
		if c.missing += len(ids); len(ids) > 0 {
			t.Errorf("%v: no stack with the addresses of the reference", k)
		}
	}
	return c
}

func sameAddresses(a, b []frame) bool {
	return slices.EqualFunc(a, b, func(x, y frame) bool { return strings.TrimPrefix(x[0], "0x") == strings.TrimPrefix(y[0], "0x") })
}

// bare returns the name of a method without its parameters.
func bare(name string) string {
	if !strings.HasPrefix(name, "(") {
		name, _, _ = strings.Cut(name, "(")
	}
	return strings.ReplaceAll(name, " ", "")
}

// isHidden reports whether the reference hides the stacks of such events: those of the rundown and of methods.
func isHidden(l *line) bool {
	switch {
	case l.Provider == runtimeProvider+"Rundown":
		return true
	case l.Provider == runtimeProvider:
		return l.ID >= 140 && l.ID <= 144 || l.ID == 190
	}
	return false
}

// modulesOf compares the stacks of a trace, fails for unexplained differences, and returns the others as rows of
// docs/differences.md.
func modulesOf(t *testing.T, tr trace, got []byte) (stackComparison, [][]string) {
	t.Helper()
	proof := newModuleProof(t, tr)
	count := map[[4]string]int{}
	unexplained := 0
	c := compareStacks(t, tr, readStacks(t, tr.stacks), readLines(t, got), func(d frameDifference) {
		id := proof.explain(d)
		if id == "" {
			if unexplained++; unexplained <= 5 {
				t.Errorf("got %v, want %v as in the reference", d.ours, d.theirs)
			}
			return
		}
		count[[4]string{tr.name, orNone(d.theirs[1]), orNone(d.ours[1]), id}]++
	})
	if unexplained > 5 {
		t.Errorf("and %d more", unexplained-5)
	}
	var rows [][]string
	for k, n := range count {
		rows = append(rows, []string{k[0], k[1], k[2], strconv.Itoa(n), k[3]})
	}
	return c, rows
}

func orNone(module string) string {
	if module == "" {
		return "none"
	}
	return module
}

var stackFlags = []string{"--stacks", "--frames", "--names", "raw"}

// Every address of every stack in testdata has the same module and method as with TraceEvent.
func TestStacks(t *testing.T) {
	for _, tr := range ownTraces(t) {
		if tr.stacks == "" {
			continue // truncated in its first block: the reference has no events
		}
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			_, rows := modulesOf(t, tr, printed(t, tr, stackFlags...))
			checkTable(t, modulesHead, tr.name, rows)
		})
	}
}

var stackScriptSays = regexp.MustCompile(`^reference (\d+) stacks, missing (\d+), other addresses (\d+); (\d+) frames, (\d+) named otherwise; only in the candidate (\d+)\n`)

// The same for all traces, and with the reference's own script.
func TestStacksOfAllTraces(t *testing.T) {
	traces, isComplete := comparedTraces(t)
	var mu sync.Mutex
	var all [][]string
	t.Run("traces", func(t *testing.T) {
		for _, tr := range traces {
			if tr.stacks == "" {
				continue
			}
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				got := printed(t, tr, stackFlags...)
				c, rows := modulesOf(t, tr, got)
				want := []int{c.stacks + c.missing, c.missing, 0, c.frames, c.named, c.extra}
				if counts := runScript(t, "compare-stacks.py", stackScriptSays, tr.stacks, got); counts != nil && !slices.Equal(counts, want) {
					t.Errorf("compare-stacks.py counts %d, want %d", counts, want)
				}
				checkTable(t, modulesHead, tr.name, rows)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, rows...)
			})
		}
	})
	if *update && !t.Failed() {
		writeTable(t, modulesHead, all)
	}
	if isComplete { // and no row is about another trace
		checkTable(t, modulesHead, "", all)
	}
}
