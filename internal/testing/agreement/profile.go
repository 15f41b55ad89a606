package agreement

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// Profiles returns the answer of pprof profiles, by kind, as google's library reads them. A kind without a profile has
// no samples.
func Profiles(files map[string][]byte) (*Answer, error) {
	a := NewAnswer("pprof")
	a.stateMeasures(true)
	for kind, data := range files {
		p, err := profile.ParseData(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		a.set(Fact{Name: "recording begin"}, Value{N: p.TimeNanos})
		a.set(Fact{Name: "recording length"}, Value{N: p.DurationNanos})
		for _, s := range p.Sample {
			labels := labelsOf(s)
			for i, t := range p.SampleType {
				if m := measureOf(kind, t.Type); m != nil {
					a.sample(m, s.Value[i], labels)
				}
			}
		}
	}
	return a, nil
}

func labelsOf(s *profile.Sample) map[string]string {
	labels := map[string]string{}
	for key, values := range s.Label {
		labels[key] = values[0]
	}
	if pid, tid := s.NumLabel["pid"], s.NumLabel["tid"]; len(tid) == 1 {
		labels[threadLabel] = thread(first(pid), tid[0])
	}
	return labels
}

func first(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

func thread(pid, tid int64) string { return fmt.Sprintf("%d/%d", pid, tid) }

// Folded returns the answer of folded stacks of a kind: the total of the column that viewers show first.
func Folded(files map[string][]byte) (*Answer, error) {
	a := NewAnswer("folded")
	for _, m := range measures {
		if mainColumn[m.kind] == m.column {
			a.stated[m.fact] = true
		}
	}
	for kind, data := range files {
		m := measureOf(kind, mainColumn[kind])
		if m == nil {
			continue
		}
		s := bufio.NewScanner(bytes.NewReader(data))
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			text := s.Text()
			n, err := strconv.ParseInt(text[strings.LastIndexByte(text, ' ')+1:], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			a.total(m.fact, n, nil)
		}
		if err := s.Err(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// mainColumn is the column of each kind that viewers show first.
var mainColumn = map[string]string{
	"wall": "wall", "cpu": "cpu", "alloc": "alloc_space", "exceptions": "exceptions", "contention": "delay", "wait": "delay",
	"gc": "pause", "jit": "jit", "typeload": "load", "threadpool": "wait", "tasks": "run", "off-cpu": "off_cpu",
	"page-faults": "faults", "requests": "duration",
}
