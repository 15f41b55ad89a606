package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/memstore"
)

// shortLease is the time after which a run of a test is gone.
const shortLease = 80 * time.Millisecond

// objects returns a store for the datasets of a test.
func objects(t *testing.T) *memstore.Objects {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return memstore.New()
}

// runIn returns the dataset of a store as a run on a machine of its own has it.
func runIn(t *testing.T, o *memstore.Objects, lease time.Duration) (*Dataset, *memstore.View) {
	t.Helper()
	v := o.View()
	d, err := Create(v.Address+"/shop", plain)
	if err != nil {
		t.Fatal(err)
	}
	d.testLease = lease
	return d, v
}

// sound checks a dataset, and that it has so many traces.
func sound(t *testing.T, d *Dataset, traces int) {
	t.Helper()
	if _, err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	v, err := d.Verify(new(Check))
	if err != nil {
		t.Fatal(err)
	}
	if v.Traces != traces || len(v.Problems) > 0 {
		t.Fatalf("%d traces, want %d; problems %+v", v.Traces, traces, v.Problems)
	}
}

// storeStride is the number of requests between two of which each gets a fault: all do at night.
func storeStride() int {
	if corpus.Nightly() {
		return 1
	}
	return 7
}

// storeActions are what runs do with a dataset of traces 0 to 2 and 6.
var storeActions = map[string]func(d *Dataset) error{
	"add": func(d *Dataset) error {
		a, outcome := begin(d, 4, 0)
		if outcome != "" {
			return errors.New(outcome)
		}
		return a.Commit(manifest(4))
	},
	"remove":                 func(d *Dataset) error { return d.remove1(uidOf(1)) },
	"remove all of a commit": func(d *Dataset) error { return d.remove1(uidOf(6)) },
	"optimize": func(d *Dataset) error {
		_, err := d.Optimize(1<<30, nil)
		return err
	},
}

// startIn returns a dataset with the traces of storeActions.
func startIn(t *testing.T) (*memstore.Objects, *Dataset) {
	t.Helper()
	o := objects(t)
	d, _ := runIn(t, o, shortLease)
	b := d.NewBatch()
	addTo(t, b, 3, new(int))
	b.Flush()
	add(d, 6, 0)
	return o, d
}

// A run that ends before any of its requests leaves the dataset as it was, or as it is to be; the next run does the rest.
func TestStoreFaults(t *testing.T) {
	died := fmt.Errorf("the run has ended: %w", fs.ErrPermission) // not tried again
	for name, action := range storeActions {
		t.Run(name, func(t *testing.T) {
			ends, stride := 0, storeStride()
			for n := int64(1); ; n += int64(stride) {
				o, first := startIn(t)
				before := uids(t, first)
				d, v := runIn(t, o, shortLease)
				var requests atomic.Int64
				v.Before = func(string, string) error {
					if requests.Add(1) >= n {
						return died
					}
					return nil
				}
				err := action(d)
				if requests.Load() < n {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				ends++
				next, _ := runIn(t, o, shortLease)
				during := uids(t, next)
				if outcome := add(next, 9, 0); outcome != "added" { // it waits until the other run is gone
					t.Fatalf("request %d: %s", n, outcome)
				}
				if !slices.Equal(slices.DeleteFunc(uids(t, next), func(u string) bool { return u == uidOf(9) }), during) {
					t.Fatalf("request %d: readers saw %q", n, during)
				}
				sound(t, next, len(during)+1)
				if len(during) == len(before) && name != "optimize" {
					if err := action(next); err != nil {
						t.Errorf("request %d: the same again: %v", n, err)
					}
					sound(t, next, len(uids(t, next)))
				}
			}
			if ends < 20/stride {
				t.Errorf("%d requests", ends)
			}
			t.Logf("%d requests", ends)
		})
	}
}

// A run that stops before any of its requests for so long that another run takes over, and then goes on, changes nothing anymore, or
// had decided before.
func TestStoreSlow(t *testing.T) {
	for name, action := range storeActions {
		t.Run(name, func(t *testing.T) {
			stride := int64(storeStride())
			for n := int64(1); ; n += stride {
				o, _ := startIn(t)
				slow, v := runIn(t, o, shortLease)
				var requests atomic.Int64
				stopped, goOn := make(chan struct{}), make(chan struct{})
				v.Before = func(string, string) error {
					if k := requests.Add(1); k == n {
						close(stopped)
						<-goOn
					} else if k > n {
						<-goOn // also the signs of life
					}
					return nil
				}
				result := make(chan error, 1)
				go func() { result <- action(slow) }()
				select {
				case err := <-result:
					if err != nil {
						t.Fatal(err)
					}
					return
				case <-stopped:
				}
				other, _ := runIn(t, o, shortLease)
				if err := action(other); err != nil && !strings.Contains(err.Error(), "has this trace") &&
					!strings.Contains(err.Error(), "not exist") && err.Error() != "exists" {
					t.Fatalf("request %d: the other run: %v", n, err)
				}
				close(goOn)
				if err := <-result; err != nil && !strings.Contains(err.Error(), "has this trace") && !errors.Is(err, errStale) &&
					!strings.Contains(err.Error(), "not exist") && err.Error() != "exists" {
					t.Errorf("request %d: the slow run: %v", n, err)
				}
				want := map[string]int{"add": 5, "remove": 3, "remove all of a commit": 3, "optimize": 4}[name]
				sound(t, other, want)
			}
		})
	}
}

// Runs of several machines add the same traces at the same time; each is in the dataset once.
func TestStoreConcurrent(t *testing.T) {
	o := objects(t)
	const runs, traces = 4, 12
	var added atomic.Int64
	var all sync.WaitGroup
	for range runs {
		d, _ := runIn(t, o, 0)
		all.Go(func() {
			for _, i := range rand.Perm(traces) {
				switch outcome := add(d, i, 2); outcome {
				case "added":
					added.Add(1)
				case "exists", "failed " + fmt.Sprint(&ExistsError{Trace{Path: d.dir + "/trace=" + uidOf(i)}}):
				default:
					t.Errorf("trace %d: %s", i, outcome)
				}
			}
		})
	}
	all.Wait()
	if added.Load() != traces {
		t.Errorf("%d traces were added, want %d", added.Load(), traces)
	}
	d, _ := runIn(t, o, 0)
	sound(t, d, traces)
	if result, err := d.Optimize(1<<30, nil); err != nil || result.Traces != traces {
		t.Errorf("%+v, %v", result, err)
	}
	sound(t, d, traces)
	turns := 0
	for _, key := range o.Keys() {
		if strings.Contains(key, "/turn-") {
			turns++
		}
	}
	if turns > 3*(turnsKept+1) {
		t.Errorf("%d objects of turns are left", turns)
	}
}

// A fault is what happens to the requests of a run.
type fault struct {
	dies   int64         // no request after this one succeeds
	lost   float64       // share of requests that are executed and whose answer is lost
	fails  float64       // share of requests that are not executed
	pauses time.Duration // before some requests
}

func randomFault(r *rand.Rand) (f fault) {
	f.dies = 1 << 40
	switch r.IntN(4) {
	case 0:
		f.dies = 1 + r.Int64N(80)
	case 1:
		f.lost, f.fails = 0.1*r.Float64(), 0.1*r.Float64()
	case 2:
		f.pauses = time.Duration(r.IntN(2)) * 2 * shortLease
	}
	return f
}

// inject makes the requests of a view fail.
func (f fault) inject(v *memstore.View, seed uint64) {
	var requests atomic.Int64
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	v.Before = func(string, string) error {
		if requests.Add(1) > f.dies {
			return fmt.Errorf("the run has ended: %w", fs.ErrPermission)
		}
		mu.Lock()
		fails, pause := r.Float64() < f.fails, f.pauses > 0 && r.IntN(8) == 0
		mu.Unlock()
		if pause {
			time.Sleep(f.pauses)
		}
		if fails {
			return errors.New("a fault")
		}
		return nil
	}
	v.After = func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		if r.Float64() < f.lost {
			return errors.New("the answer is lost")
		}
		return nil
	}
}

// Three runs add, remove and join traces at the same time, with faults of all kinds; some die, some lose their turn. Afterwards the
// dataset is whole, and every trace whose addition succeeded is there, unless a run removed it.
func TestStoreRandom(t *testing.T) {
	rounds := uint64(12)
	if corpus.Nightly() {
		rounds = 500
	}
	for seed := range rounds {
		o, _ := startIn(t)
		r := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		added := make(map[string]bool)
		var all sync.WaitGroup
		for range 3 {
			d, v := runIn(t, o, shortLease)
			randomFault(r).inject(v, r.Uint64())
			kind, trace := r.IntN(4), 10+r.IntN(4)
			all.Go(func() {
				switch kind {
				case 0:
					_, _ = d.Optimize(1<<30, nil)
				case 1:
					_ = d.remove1(uidOf(2))
				default:
					if add(d, trace, 1) == "added" {
						mu.Lock()
						added[uidOf(trace)] = true
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		last, _ := runIn(t, o, shortLease)
		if outcome := add(last, 20, 0); outcome != "added" {
			t.Fatalf("seed %d: %s", seed, outcome)
		}
		added[uidOf(20)] = true
		has := uids(t, last)
		for uid := range added {
			if !slices.Contains(has, uid) {
				t.Errorf("seed %d: trace %s was added and is not there", seed, uid)
			}
		}
		sound(t, last, len(has))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
