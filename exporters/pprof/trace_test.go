package pprof_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// unpack returns the content of a recorded file.
func unpack(t *testing.T, file string) []byte {
	t.Helper()
	return corpus.Read(t, corpus.Path(file))
}

// convert builds a profile from a recorded trace in one pass.
func convert(t *testing.T, name string, order reader.Order, o *pprof.Options) *profile.Profile {
	t.Helper()
	src, err := reader.New(bytes.NewReader(unpack(t, name+".nettrace.zst")), &reader.Options{Order: order, Report: o.Report})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	var out bytes.Buffer
	sink := pprof.New(&out, src.Info(), names, o)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// truth is what a recorded program measured itself.
type truth struct {
	PID     uint64
	Threads []truthThread
}

type truthThread struct {
	Name     string
	TID      int64
	StartQPC int64 `json:"startQpc"`
	EndQPC   int64 `json:"endQpc"`
	Detail   map[string]any
}

func readTruth(t *testing.T, name string) (v truth) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata", name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// inclusive returns the wall time of a thread's samples with a function whose name contains a string.
func inclusive(p *profile.Profile, tid int64, part string) (sum float64) {
	for _, s := range p.Sample {
		if id := s.NumLabel["tid"]; len(id) != 1 || id[0] != tid {
			continue
		}
		for _, l := range s.Location {
			if strings.Contains(l.Line[0].Function.Name, part) {
				sum += float64(s.Value[1])
				break
			}
		}
	}
	return sum
}

// The time of every thread is the one that the program measured, and that of every method has the measured share within
// two and a half percentage points. Samples are not always that accurate: a pause of the sample profiler hides what
// happens during it, so each interval may be wrong by about half of its length. Threads with 50 samples or less get the
// tolerance that follows from this.
func TestSharesAreTrue(t *testing.T) {
	for name, points := range map[string]float64{"cpu-default": 2.5, "cpu-env": 0, "cpu-netperf3": 0, "cpu-norundown": 0} {
		p := convert(t, name, reader.ByTime, &pprof.Options{})
		samples := referenceSamples(t, name)
		for _, th := range readTruth(t, name).Threads {
			wall, lived := inclusive(p, th.TID, ""), float64(th.EndQPC-th.StartQPC)
			if diff := math.Abs(wall - lived); diff > 20e6 {
				t.Errorf("%s: thread %s has %.1f ms, lived %.1f ms", name, th.Name, wall/1e6, lived/1e6)
			}
			if th.Name == "till-1" {
				if points == 0 {
					points = tolerance(samples, th.TID)
				}
				checkShares(t, name, p, th, points)
			}
		}
	}
}

func checkShares(t *testing.T, name string, p *profile.Profile, th truthThread, tolerance float64) {
	t.Helper()
	var total, measured float64
	parts := []string{"Shop.Cpu.Heavy", "Shop.Cpu.Medium", "Shop.Cpu.Light"}
	for _, part := range parts {
		measured += th.Detail[part].(float64)
		total += inclusive(p, th.TID, part+"(")
	}
	for _, part := range parts {
		got, want := 100*inclusive(p, th.TID, part+"(")/total, 100*th.Detail[part].(float64)/measured
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s: %s has %.1f%%, measured %.1f%%, tolerance %.1f", name, part, got, want, tolerance)
		}
	}
}

// tolerance returns the permitted error of a share in percentage points: twice the deviation of a sum of intervals that
// are each wrong by up to half of their length.
func tolerance(samples []referenceSample, tid int64) float64 {
	var sum, squares, last float64
	for _, s := range samples {
		if s.tid != tid {
			continue
		}
		if last > 0 {
			gap := s.ticks - last
			sum += gap
			squares += gap * gap / 12
		}
		last = s.ticks
	}
	return 200 * math.Sqrt(squares) / sum
}
