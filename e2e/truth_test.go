package e2e

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// cpuTruth is the report of the program in the cpu-* recordings: the wall-clock time that a thread spent in each of
// three methods.
type cpuTruth struct {
	PID     int64
	Threads []struct {
		Name   string
		TID    int64
		Detail map[string]any
	}
}

// timed are the methods that measured themselves. They alternate on one thread.
var timed = []string{"Shop.Cpu.Heavy", "Shop.Cpu.Medium", "Shop.Cpu.Light"}

// A share contains the share of each timed method in the time of all three, in percent.
type share [3]float64

func (s share) percent() share {
	sum := s[0] + s[1] + s[2]
	for i := range s {
		s[i] *= 100 / sum
	}
	return s
}

func (s share) distance(other share) (d float64) {
	for i := range s {
		d = max(d, math.Abs(s[i]-other[i]))
	}
	return d
}

// The share of each method agrees with the samples, by the stacks and times that TraceEvent reads, to 0.1 percentage
// points. It agrees with the measurement of the program to 2 points, or to the accuracy of the samples. .NET's sample
// profiler pauses for up to 25 ms if the CPUs are busy, and the methods alternate every few milliseconds.
func TestShares(t *testing.T) {
	for _, name := range []string{"cpu-env", "cpu-default", "cpu-norundown", "cpu-sampleronly", "cpu-netperf3", "cpu-v6", "three-processes-v6"} {
		t.Run(name, func(t *testing.T) {
			tr := find(t, name)
			p, _ := convert(t, tr, 1)
			stacks := readStacks(t, tr.stacks)
			for _, path := range tr.truth {
				var truth cpuTruth
				readTruth(t, path, &truth)
				for _, th := range truth.Threads {
					if th.Name == "till-1" {
						checkShares(t, p, stacks, thread{truth.PID, th.TID}, th.Detail)
					}
				}
			}
		})
	}
}

func checkShares(t *testing.T, p *profile.Profile, stacks *referenceStacks, id thread, detail map[string]any) {
	t.Helper()
	var want share
	for i, method := range timed {
		want[i] = float64(number(detail[method]))
	}
	want = want.percent()
	got := profileShare(p, id).percent()
	samples := timedSamples(stacks, id)
	rule, limit := wallShare(samples, profileTime(p, id))
	if p.SampleType[1].Type == "cpu" {
		rule, limit = countShare(samples)
	}
	if d := got.distance(rule.percent()); !(d <= 0.1) {
		t.Errorf("thread %v: shares %.2f, the reference's samples give %.2f", id, got, rule.percent())
	}
	limit = max(2, limit)
	t.Logf("thread %v: shares %.1f, measured %.1f, %d samples are accurate to %.1f points", id, got, want, len(samples), limit)
	if d := got.distance(want); !(d <= limit) {
		t.Errorf("thread %v: shares %.1f, the program measured %.1f, which is more than %.1f points off", id, got, want, limit)
	}
}

// profileShare adds up the second value of the profile.
func profileShare(p *profile.Profile, id thread) (sum share) {
	for _, s := range p.Sample {
		if s.NumLabel["tid"][0] != id.tid || s.NumLabel["pid"][0] != id.pid {
			continue
		}
		i := slices.IndexFunc(timed, func(method string) bool {
			return slices.ContainsFunc(s.Location, func(l *profile.Location) bool {
				return len(l.Line) > 0 && strings.HasPrefix(l.Line[0].Function.Name, method+"(")
			})
		})
		if i >= 0 {
			sum[i] += float64(s.Value[1])
		}
	}
	return sum
}

// A timedSample is the time of a sample and the timed method in it, or -1.
type timedSample struct {
	at     int64
	method int
}

func timedSamples(r *referenceStacks, id thread) (list []timedSample) {
	for k, ids := range r.events {
		if k.tid != uint64(id.tid) || k.provider != sampler && k.provider != "Universal.Events" {
			continue
		}
		for _, stack := range ids {
			i := slices.IndexFunc(timed, func(method string) bool {
				return slices.ContainsFunc(r.frames[stack], func(f frame) bool {
					return strings.HasPrefix(strings.ReplaceAll(f[2], "::", "."), method+"(")
				})
			})
			list = append(list, timedSample{k.ticks, i})
		}
	}
	slices.SortFunc(list, func(a, b timedSample) int { return cmp.Compare(a.at, b.at) })
	return list
}

// profileTime adds up the second value of all samples of a thread.
func profileTime(p *profile.Profile, id thread) (sum float64) {
	for _, s := range p.Sample {
		if s.NumLabel["tid"][0] == id.tid && s.NumLabel["pid"][0] == id.pid {
			sum += float64(s.Value[1])
		}
	}
	return sum
}

// wallShare gives each sample the time to the next one, and the last one the rest of the thread's time, which
// TestProfiles checks. limit is twice the standard deviation in percent, if the change from one method to another
// occurs at a random point of its interval.
func wallShare(list []timedSample, lived float64) (sum share, limit float64) {
	var total, squares float64
	for i := range len(list) - 1 {
		gap := float64(list[i+1].at - list[i].at)
		total += gap
		if list[i].method != list[i+1].method {
			squares += gap * gap / 12
		}
		if list[i].method >= 0 {
			sum[list[i].method] += gap
		}
	}
	if last := list[len(list)-1].method; last >= 0 {
		sum[last] += lived - total
	}
	return sum, 200 * math.Sqrt(squares) / total
}

// countShare gives each sample the same weight. limit is twice the standard deviation of the largest share if only
// samples of different time slices on a CPU are independent.
func countShare(list []timedSample) (sum share, limit float64) {
	const period = 1_000_000
	turns := 0.0
	for i, s := range list {
		if s.method >= 0 {
			sum[s.method]++
		}
		if i == 0 || s.at-list[i-1].at > 2*period {
			turns++
		}
	}
	return sum, 200 * math.Sqrt(0.25/turns)
}
