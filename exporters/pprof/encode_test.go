package pprof_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
)

// randomEvents returns samples of the given number of different stacks.
func randomEvents(n, stacks int) []*ntconv.Event {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []*ntconv.Stack
	for range stacks {
		s := &ntconv.Stack{}
		for range 20 + rng.IntN(20) {
			s.PCs = append(s.PCs, 0x7f0000000000+rng.Uint64N(5000)*16)
		}
		list = append(list, s)
	}
	var events []*ntconv.Event
	for i := range n {
		who := till
		if i%3 == 0 {
			who = idle
		}
		events = append(events, sampled(who, ntconv.Ticks(i*5000), list[i%stacks]))
	}
	return events
}

// pprof's library reads back what was written, for all names, lines, addresses, labels and values.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("a\x00b"), uint64(1), int32(3), uint8(0))
	f.Add([]byte("\xff\xfe name"), uint64(1<<63), int32(-1), uint8(0xff))
	f.Fuzz(func(t *testing.T, data []byte, pc uint64, line int32, flagBits uint8) {
		s, labels := fuzzStack(data, pc, line, flagBits)
		e := sampled(till, ntconv.Ticks(pc), s)
		e.Labels = ntconv.NewLabels(labels)
		p := export(t, testInfo(), nil, &pprof.Options{Uncompressed: flagBits&1 == 0}, e, sampled(till, ntconv.Ticks(pc), s))
		if len(p.Sample) < 1 || len(p.Sample) > 2 {
			t.Fatalf("%d samples", len(p.Sample))
		}
		for _, got := range p.Sample {
			checkFrames(t, got, s)
		}
		for _, l := range p.Location {
			if len(l.Line) == 0 {
				t.Fatalf("location %d has no line", l.ID)
			}
		}
		for _, f := range p.Function {
			if f.Name == "" || f.SystemName == f.Name {
				t.Fatalf("function %+v", *f)
			}
		}
		checkNumbers(t, p, labels)
	})
}

// fuzzStack splits data into names and labels.
func fuzzStack(data []byte, pc uint64, line int32, bits uint8) (*ntconv.Stack, []ntconv.Label) {
	s := &ntconv.Stack{}
	var labels []ntconv.Label
	m := &ntconv.Mapping{Start: pc, Limit: pc + 1, File: string(data)}
	for i := 0; len(data) > 0; i++ {
		n := min(1+int(data[0])%7, len(data))
		piece := string(data[:n])
		data = data[n:]
		f := ntconv.Frame{PC: pc, Line: line, Flags: ntconv.FrameFlags(bits>>(i%4)) & 0x1f}
		switch i % 3 {
		case 0:
			f.Func = &ntconv.Function{Name: piece, SystemName: piece, File: piece, StartLine: line}
		case 1:
			f.Func, f.Mapping = &ntconv.Function{SystemName: piece}, m
		}
		s.Frames = append(s.Frames, f)
		labels = append(labels, ntconv.Label{Kind: ntconv.LabelInt, Key: "n" + piece, Num: int64(line)},
			ntconv.Label{Kind: ntconv.LabelString, Key: "s" + piece, Str: piece[1:]})
	}
	return s, labels
}

// checkFrames compares the lines of a sample with the frames of a stack.
func checkFrames(t *testing.T, got *profile.Sample, s *ntconv.Stack) {
	t.Helper()
	n := 0
	for _, l := range got.Location {
		for _, line := range l.Line {
			if n == len(s.Frames) {
				t.Fatalf("more than %d frames", n)
			}
			if f := s.Frames[n]; line.Line != int64(f.Line) || f.Mapping != nil && f.Flags&ntconv.FrameInlined == 0 && l.Mapping == nil {
				t.Fatalf("frame %d is %+v in %+v, want %+v", n, line, l, f)
			}
			n++
		}
	}
	if n != len(s.Frames) {
		t.Fatalf("%d frames, want %d", n, len(s.Frames))
	}
}

// checkNumbers checks that labels with the number zero are written.
func checkNumbers(t *testing.T, p *profile.Profile, labels []ntconv.Label) {
	t.Helper()
	for _, l := range labels {
		key := strings.ToValidUTF8(l.Key, "\uFFFD")
		if l.Kind == ntconv.LabelInt && !slices.ContainsFunc(p.Sample, func(s *profile.Sample) bool {
			return slices.Contains(s.NumLabel[key], l.Num)
		}) {
			t.Fatalf("label %+v is not there", l)
		}
	}
}

func BenchmarkClose(b *testing.B) {
	for _, o := range []pprof.Options{{Uncompressed: true}, {Level: 1}, {Level: 6}} {
		b.Run(fmt.Sprintf("level=%d", o.Level), func(b *testing.B) {
			events := randomEvents(1_000_000, 1_000_000)
			w := &counter{}
			for b.Loop() {
				b.StopTimer()
				w.n = 0
				s := pprof.New(w, testInfo(), nil, &o)
				for _, e := range events {
					_ = s.Write(e)
				}
				b.StartTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(w.n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/sample")
		})
	}
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}
