package pprof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/reader"
)

// A referenceSample is a sample event as TraceEvent decodes it. Its clock has 1 GHz in all of these traces.
type referenceSample struct {
	ticks    float64
	pid, tid int64
	stack    string // addresses, leaf first
}

// referenceSamples reads the samples in the order in which TraceEvent delivers them, which is time order.
func referenceSamples(t *testing.T, name string) (list []referenceSample) {
	t.Helper()
	stacks := map[int]string{}
	for line := range bytes.Lines(unpack(t, name+".stacks.jsonl.zst")) {
		switch {
		case bytes.HasPrefix(line, []byte(`{"stack"`)):
			var s struct {
				Stack  int
				Frames [][]string
			}
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatal(err)
			}
			var pcs []string
			for _, f := range s.Frames {
				pcs = append(pcs, f[0])
			}
			stacks[s.Stack] = strings.Join(pcs, " ")
		case bytes.HasPrefix(line, []byte("[")):
			var row []any
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			if row[3] == "Microsoft-DotNETCore-SampleProfiler" || row[3] == "Universal.Events" && row[4] == "cpu" {
				list = append(list, referenceSample{row[0].(float64), int64(row[1].(float64)), int64(row[2].(float64)), fmt.Sprint(row[5])})
			}
		}
	}
	for i := range list {
		id, _ := strconv.Atoi(list[i].stack)
		list[i].stack = stacks[id]
	}
	return list
}

// values are the count and the nanoseconds of a stack of a thread, and the permitted error.
type values struct {
	count int64
	nanos float64
	slack float64
}

// wallReference adds up samples as wall-clock time. The last sample of a thread lasts at most its median interval, and
// at least until the next round began, if there was another one; internal/profile tests the exact length.
func wallReference(list []referenceSample) map[string]*values {
	sums := map[string]*values{}
	byThread := map[int64][]referenceSample{}
	for _, s := range list {
		byThread[s.tid] = append(byThread[s.tid], s)
	}
	var every []float64
	for _, samples := range byThread {
		for i := range len(samples) - 1 {
			every = append(every, samples[i+1].ticks-samples[i].ticks)
		}
	}
	slices.Sort(every)
	for tid, samples := range byThread {
		var gaps []float64
		for i, s := range samples {
			key := fmt.Sprintf("%d: %s", tid, s.stack)
			if sums[key] == nil {
				sums[key] = &values{}
			}
			sums[key].count++
			if i+1 < len(samples) {
				gap := samples[i+1].ticks - s.ticks
				sums[key].nanos += gap
				gaps = append(gaps, gap)
				continue
			}
			slices.Sort(gaps)
			if len(gaps) == 0 {
				gaps = every
			}
			most := gaps[(len(gaps)-1)/2]
			least := min(most, nextRound(list, s)-s.ticks)
			sums[key].nanos += (most + least) / 2
			sums[key].slack += (most-least)/2 + most/60
		}
	}
	return sums
}

// nextRound returns the time of the first sample after a pause that follows s: the profiler waits for a millisecond
// between two rounds. Without such a sample it returns the time of s.
func nextRound(list []referenceSample, s referenceSample) float64 {
	before := s.ticks
	for _, o := range list {
		if o.ticks > s.ticks && o.ticks-before > 5e5 {
			return o.ticks
		}
		before = max(before, o.ticks)
	}
	return s.ticks
}

// cpuReference adds up samples as CPU time, a millisecond each.
func cpuReference(list []referenceSample) map[string]*values {
	sums := map[string]*values{}
	for _, s := range list {
		key := fmt.Sprintf("%d: %s", s.tid, s.stack)
		if sums[key] == nil {
			sums[key] = &values{}
		}
		sums[key].count++
		sums[key].nanos += 1e6
	}
	return sums
}

// profileSums adds up a profile by thread and addresses.
func profileSums(t *testing.T, p *profile.Profile) map[string]*values {
	t.Helper()
	sums := map[string]*values{}
	for _, s := range p.Sample {
		var pcs []string
		for _, l := range s.Location {
			pcs = append(pcs, strconv.FormatUint(l.Address, 16))
		}
		key := fmt.Sprintf("%d: %s", s.NumLabel["tid"][0], strings.Join(pcs, " "))
		if sums[key] == nil {
			sums[key] = &values{}
		}
		sums[key].count += s.Value[0]
		sums[key].nanos += float64(s.Value[1])
	}
	return sums
}

// The profile has the totals of TraceEvent's samples for every stack of every thread.
func TestSumsAgreeWithReference(t *testing.T) {
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-netperf3", "cpu-norundown", "jit", "cpu-v6", "waits-v6", "three-processes-v6"} {
		for _, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			list := referenceSamples(t, name)
			want := wallReference(list)
			if strings.HasSuffix(name, "-v6") {
				want = cpuReference(list)
			}
			if len(want) < 30 {
				t.Errorf("%s: the reference has only %d stacks", name, len(want))
			}
			got := profileSums(t, convert(t, name, order, &pprof.Options{}))
			for key, w := range want {
				g := got[key]
				if g == nil {
					t.Errorf("%s, order %d: %s is missing", name, order, key)
				} else if g.count != w.count || math.Abs(g.nanos-w.nanos) > w.slack {
					t.Errorf("%s, order %d: %s has %d samples, %.0f ns; want %d, %.0f +- %.0f", name, order, key, g.count, g.nanos, w.count, w.nanos, w.slack)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s, order %d: %d stacks, want %d", name, order, len(got), len(want))
			}
		}
	}
}
