package mutate_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/mutate"
)

var (
	mutants = flag.Uint64("mutants", 0, "number of mutants of TestCampaign; 0 means 4,000, or 500 of a short test")
	first   = flag.Uint64("first", 0, "number of the first mutant; the others follow")
	seed    = flag.Uint64("seed", 1, "seed of the random numbers: a seed and a number make a mutant")
	only    = flag.String("targets", "", "comma-separated beginnings of the names of targets to run; a mutant of another target is not made. Empty means all")
	keep    = flag.String("mutants-dir", "", "directory for mutants that break a law; empty means a temporary directory")
	every   = flag.Uint64("progress", 100000, "mutants after which a line is printed")
)

const (
	// A mutant may allocate allocBase plus allocBytes per byte of input. Compressors and tables of fixed size account
	// for most of the constant.
	allocBase  = 64 << 20
	allocBytes = 64
	// No mutant takes longer than this, even on a busy machine. Seeds take about a millisecond.
	endless = 2 * time.Minute
	// maxFailures stops a campaign in which the same failure repeats.
	maxFailures = 20
)

// TestCampaign reads mutants of small files with every reader, importer, exporter and comparison. A mutant may be
// rejected with an error that wraps a sentinel. It must not cause a panic, excessive allocations, or a violation of a
// property of its target. The number of a mutant selects its target.
func TestCampaign(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the memory of a mutant becomes garbage immediately
	c := newCampaign(t)
	count := *mutants
	switch {
	case count == 0 && testing.Short():
		count = 500
	case count == 0:
		count = 4000
	}
	begin := time.Now()
	for n := *first; n < *first+count && len(c.failed) < maxFailures; n++ {
		c.run(n)
		if done := n + 1 - *first; done%*every == 0 {
			fmt.Printf("campaign: seed %d: mutants %d to %d: %d failed, %.0f a second\n", *seed, *first, n, len(c.failed), float64(done)/time.Since(begin).Seconds())
		}
	}
	c.watch.Store(nil)
	c.summarize()
	for _, f := range c.failed {
		t.Error(f)
	}
	for _, tg := range c.targets {
		if tg.mutants >= 100 && (tg.accepted == 0 || tg.accepted == tg.mutants) {
			t.Errorf("%s: %d of %d mutants are accepted: the mutations are too strong or too weak for a test", tg.name, tg.accepted, tg.mutants)
		}
	}
}

// A campaign runs mutants.
type campaign struct {
	t        *testing.T
	targets  []*target
	rotation []*target
	allocs   laws.Allocs
	dir      string
	current  *os.File // contains the number of the current mutant, in case another goroutine panics
	watch    atomic.Pointer[watched]
	failed   []string
}

// watched is the current input and the start of its processing.
type watched struct {
	n     uint64
	name  string
	begin time.Time
}

func newCampaign(t *testing.T) *campaign {
	c := &campaign{t: t, allocs: laws.NewAllocs(), dir: *keep}
	if c.dir == "" {
		c.dir = filepath.Join(os.TempDir(), "ntconv-mutants")
	}
	traces := traceSeeds(t)
	c.targets = append(traceTargets(t, traces), importTargets(t, traces)...)
	for _, tg := range c.targets {
		tg.mutator = mutate.New(tg.seeds)
		tg.reasons = map[error]int{}
	}
	for turn := range fullShare { // shares are distributed evenly, so that a short campaign covers all targets
		for _, tg := range c.targets {
			if turn*tg.share/fullShare != (turn+1)*tg.share/fullShare {
				c.rotation = append(c.rotation, tg)
			}
		}
	}
	go c.guard()
	return c
}

// wanted reports whether a target is selected.
func wanted(name string) bool {
	for w := range strings.SplitSeq(*only, ",") {
		if strings.HasPrefix(name, w) {
			return true
		}
	}
	return false
}

// guard ends the process and names the mutant if processing takes too long.
func (c *campaign) guard() {
	for range time.Tick(time.Second) {
		if w := c.watch.Load(); w != nil && time.Since(w.begin) > endless {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("%s: mutant %d of seed %d is not read to its end in %v", w.name, w.n, *seed, endless))
		}
	}
}

// run processes a mutant.
func (c *campaign) run(n uint64) {
	tg := c.rotation[n%uint64(len(c.rotation))]
	if !wanted(tg.name) {
		return
	}
	c.note(n)
	data := tg.mutator.Mutant(*seed, n)
	c.watch.Store(&watched{n, tg.name, time.Now()})
	c.allocs.Reset()
	rejected, err := protect(func() (error, error) { return tg.check(n, data) })
	took := c.allocs.Bytes()
	tg.mutants++
	tg.worst = max(tg.worst, took)
	switch limit := allocBase + allocBytes*uint64(len(data)); {
	case err != nil:
	case took > limit:
		err = fmt.Errorf("%d bytes allocated, limit %d", took, limit)
	case rejected == nil:
		tg.accepted++
	default:
		reason := laws.Sentinel(rejected)
		if reason == nil {
			err = fmt.Errorf("rejected with an error that wraps no sentinel: %w", rejected)
		}
		tg.reasons[reason]++
	}
	if err != nil {
		c.fail(tg, n, data, err)
	}
}

// note writes the number of the mutant to a file, because a panic in another goroutine ends the process.
func (c *campaign) note(n uint64) {
	if c.current == nil {
		err := os.MkdirAll(c.dir, 0o777)
		if err == nil {
			c.current, err = os.Create(filepath.Join(c.dir, fmt.Sprintf("current-%d", os.Getpid())))
		}
		if err != nil {
			c.t.Fatal(err)
		}
		name := c.current.Name()
		c.t.Cleanup(func() {
			c.current.Close()
			os.Remove(name)
		})
		fmt.Printf("campaign: %s has the number of the mutant as 8 bytes, big-endian\n", name)
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	if _, err := c.current.WriteAt(b[:], 0); err != nil {
		c.t.Fatal(err)
	}
}

// protect converts a panic to an error.
func protect(f func() (error, error)) (rejected, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// fail writes the mutant to a file and records the message.
func (c *campaign) fail(tg *target, n uint64, data []byte, err error) {
	path := filepath.Join(c.dir, fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(tg.name, " ", "-"), *seed, n))
	if e := os.WriteFile(path, data, 0o666); e != nil {
		path = e.Error()
	}
	message := fmt.Sprintf("%s: mutant %d of seed %d (%s, %d bytes, %s): %v\nreproduce: make mutate SEED=%d FIRST=%d MUTANTS=1",
		tg.name, n, *seed, tg.mutator.Name(), len(data), path, err, *seed, n)
	fmt.Printf("campaign: FAILED: %s\n", message)
	c.failed = append(c.failed, message)
}

// summarize prints a line per target. Lines of several campaigns can be added up.
func (c *campaign) summarize() {
	var b bytes.Buffer
	mutants, accepted := 0, 0
	for _, tg := range c.targets {
		if tg.mutants == 0 {
			continue
		}
		mutants, accepted = mutants+tg.mutants, accepted+tg.accepted
		fmt.Fprintf(&b, "campaign: target=%q mutants=%d accepted=%d", tg.name, tg.mutants, tg.accepted)
		var reasons []string
		for err, n := range tg.reasons {
			reasons = append(reasons, fmt.Sprintf(" %q=%d", fmt.Sprint(err), n))
		}
		slices.Sort(reasons)
		fmt.Fprintf(&b, "%s allocated=%d\n", strings.Join(reasons, ""), tg.worst)
	}
	fmt.Fprintf(&b, "campaign: seed=%d first=%d mutants=%d accepted=%d failed=%d (%s)\n", *seed, *first, mutants, accepted, len(c.failed), runtime.Version())
	fmt.Print(b.String())
}

// TestMutants: a seed and a number always produce the same mutant, regardless of earlier mutants.
func TestMutants(t *testing.T) {
	c := newCampaign(t)
	for n := range uint64(200) {
		m := c.rotation[n%uint64(len(c.rotation))].mutator
		a := bytes.Clone(m.Mutant(7, n))
		m.Mutant(7, n+1000)
		if !bytes.Equal(a, m.Mutant(7, n)) {
			t.Fatalf("number %d makes two mutants of %s", n, m.Name())
		}
	}
}
