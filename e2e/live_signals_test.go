//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A countedKey is an event without its time.
type countedKey struct {
	happening
	name string
}

// counted returns the times of the events of a recording without those of its own end, and the latest of them.
func counted(list []*line) (m map[countedKey][]int64, last int64) {
	m = map[countedKey][]int64{}
	for _, l := range list {
		if !isNames(l) {
			key := countedKey{happening{l.TID, l.Provider, l.ID, l.CRC}, l.Name}
			m[key] = append(m[key], l.Ticks)
			last = max(last, l.Ticks)
		}
	}
	return m, last
}

// lacks returns the number of events of a up to a time that b has not.
func lacks(a, b map[countedKey][]int64, until int64) (n int, text string) {
	for key, times := range a {
		want := 0
		for _, at := range times {
			if at <= until {
				want++
			}
		}
		if want > len(b[key]) {
			n += want - len(b[key])
			text = fmt.Sprintf("%+v", key)
		}
	}
	return n, text
}

// Spans, instruments and counters: what ntconv and dotnet-trace record of a program from its first instruction to its end is
// equal, event by event, and what the program states about itself is in it. The test program has no messages of ILogger.
func TestLiveSignals(t *testing.T) {
	for _, c := range []struct {
		name, flags, scenario string
		atLeast               int
		check                 func(t *testing.T, truth string, list []*line)
	}{
		{"spans", "--profile spans", "spans 20 4", 140, nil},
		{"counters", "--counters Shop.Meter,Shop-Counters", "counters 5 1", 80, countersHold},
		{"metrics", "--profile metrics", "counters 4 1", 80, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "spans" {
				atNight(t)
			}
			dir := shortDir(t)
			cmd := corpus.Shop(t, filepath.Join(dir, "truth.json"), strings.Fields(c.scenario)...)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir, "DOTNET_DefaultDiagnosticPortSuspend=1")
			l := &live{start(t, cmd), dir, filepath.Join(dir, "truth.json")}
			l.await(t)
			asked := runIn(t, dir, append([]string{"collect", "--dry-run"}, strings.Fields(c.flags)...)...).stdout
			providers := strings.Trim(strings.TrimPrefix(strings.TrimSpace(string(asked)), "--providers "), "'")
			ours, theirs := filepath.Join(dir, "ours.nettrace"), filepath.Join(dir, "theirs.nettrace")
			own := l.collect(t, ours, strings.Fields(c.flags)...)
			for i := 0; l.sessions(t) == 0; i++ {
				if i == 600 {
					t.Fatalf("no session: %s", own.msg.String())
				}
				time.Sleep(50 * time.Millisecond)
			}
			ref := l.dotnetTraceFor(t, theirs, "--providers", providers) // lets the program run when its session has begun
			for _, s := range []*started{l.started, own, ref} {
				if code := s.wait(t); code != complete {
					t.Fatalf("%q: exit code %d: %s%s", s.cmd.Args, code, s.out.String(), s.msg.String())
				}
			}
			list := recordedLines(t, ours, complete)
			a, endA := counted(list)
			b, endB := counted(recordedLines(t, theirs, complete))
			if n, text := lacks(a, b, endB); n > 0 {
				t.Errorf("dotnet-trace lacks %d events, such as %s", n, text)
			}
			if n, text := lacks(b, a, endA); n > 0 { // the program ends one session after the other
				t.Errorf("ntconv lacks %d events, such as %s", n, text)
			}
			n := 0
			for _, times := range a {
				n += len(times)
			}
			if n < c.atLeast {
				t.Errorf("%d events, want at least %d", n, c.atLeast)
			}
			t.Logf("%d events are equal", n)
			sameNumber(t, ours, list)
			if c.check != nil {
				c.check(t, l.truth, list)
			}
		})
	}
}

// A countersTruth is what the program states about its counters and instruments.
type countersTruth struct {
	Sources struct {
		Latency struct{ Count, Sum, Min, Max float64 } `json:"latency (EventCounter)"`
		Sold    float64                                `json:"sold (IncrementingEventCounter) total"`
		Asked   float64                                `json:"requests (IncrementingPollingCounter) total"`
	} `json:"Shop-Counters"`
	Meter struct {
		Orders float64                                `json:"orders (Counter<long>) total"`
		Price  struct{ Count, Sum, Min, Max float64 } `json:"price (Histogram<double>)"`
		Opened float64                                `json:"opened observations"`
	} `json:"Shop.Meter"`
}

// countersHold compares the totals of counters and instruments with the truth: they may lack what came after the last report,
// which is of the last of the five seconds and of the time in which a busy machine delays it.
func countersHold(t *testing.T, path string, list []*line) {
	var want countersTruth
	readTruth(t, path, &want)
	got := map[string]float64{}
	orders := map[string]float64{} // by tags
	for _, l := range list {
		switch l.Name {
		case "EventCounters":
			var p map[string]struct {
				Payload struct {
					Name                             string
					Mean, Count, Min, Max, Increment float64
				}
			}
			must(t, json.Unmarshal(l.Payload, &p))
			c := p[""].Payload
			got[c.Name+" count"] += c.Count
			got[c.Name+" sum"] += c.Mean * c.Count
			got[c.Name] += c.Increment
		case "CounterRateValuePublished":
			var p struct {
				InstrumentName, Tags string
				Value                json.Number
			}
			must(t, json.Unmarshal(l.Payload, &p))
			if n, err := p.Value.Float64(); err == nil {
				orders[p.InstrumentName+" "+p.Tags] = n
			}
		case "HistogramValuePublished":
			var p struct{ Count, Sum json.Number }
			must(t, json.Unmarshal(l.Payload, &p))
			count, _ := p.Count.Float64()
			sum, _ := p.Sum.Float64()
			got["price count"] += count
			got["price sum"] += sum
		}
	}
	for key, n := range orders {
		name, _, _ := strings.Cut(key, " ")
		got[name] += n
	}
	for name, total := range map[string]float64{
		"latency count": want.Sources.Latency.Count, "latency sum": want.Sources.Latency.Sum, "sold": want.Sources.Sold,
		"requests": want.Sources.Asked, "orders": want.Meter.Orders, "opened": 10 * want.Meter.Opened, "price count": want.Meter.Price.Count,
		"price sum": want.Meter.Price.Sum,
	} {
		if n := got[name]; n > total*1.001 || n < 0.6*total {
			t.Errorf("%s: %.1f, the program states %.1f", name, n, total)
		} else {
			t.Logf("%s: %.1f of %.1f", name, n, total)
		}
	}
}
