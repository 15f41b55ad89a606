package dataset

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// uids returns the traces of a dataset.
func uids(t *testing.T, d *Dataset) []string {
	t.Helper()
	traces, err := d.Traces()
	if err != nil {
		t.Fatal(err)
	}
	set := make(map[string]bool)
	for i := range traces {
		set[traces[i].UID] = true
	}
	if len(set) != len(traces) {
		t.Errorf("%d traces, of which %d are different", len(traces), len(set))
	}
	return slices.Sorted(maps.Keys(set))
}

// A run that ends between any two operations of a publication leaves the dataset as it was, or as it is to be, once another run has
// done what is left; and readers of commits see one of the two at any moment.
func TestFaults(t *testing.T) {
	died := errors.New("the run has ended")
	actions := map[string]func(d *Dataset) error{
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
	for name, action := range actions {
		t.Run(name, func(t *testing.T) {
			ends := 0
			stride := 1
			if !corpus.Nightly() {
				stride = 4
			}
			for n := 1; ; n += stride {
				d := newDataset(t)
				b := d.NewBatch()
				addTo(t, b, 3, new(int))
				b.Flush()
				add(d, 6, 0) // of the partition of trace 0
				before := uids(t, d)
				steps := 0
				d.fault = func() error {
					if steps++; steps >= n { // nothing is done after the end
						return died
					}
					return nil
				}
				err := action(d)
				if steps < n {
					if err != nil {
						t.Fatal(err)
					}
					clean(t, d, len(uids(t, d)))
					break
				}
				if ends++; !errors.Is(err, died) {
					t.Fatalf("step %d: %v", n, err)
				}
				next, err := Open(d.Dir())
				if err != nil {
					t.Fatal(err)
				}
				during := uids(t, next)
				if _, err := next.Clean(); err != nil {
					t.Fatalf("step %d: %v", n, err)
				}
				after := uids(t, next)
				clean(t, next, len(after))
				if !slices.Equal(during, before) && !slices.Equal(during, after) {
					t.Errorf("step %d: a reader sees %q, neither %q nor %q", n, during, before, after)
				}
				if err := action(next); err != nil && len(after) == len(before) && name != "optimize" {
					t.Errorf("step %d: the same again: %v", n, err)
				}
				clean(t, next, len(uids(t, next)))
			}
			if ends < 5/stride {
				t.Errorf("%d steps", ends)
			}
			t.Logf("%d steps", ends)
		})
	}
}

// Very many commits are joined in steps, without an open file for each.
func TestOptimizeMany(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	d := newDataset(t)
	const traces = joinCommits*2 + 5
	for i := range traces {
		if outcome := add(d, 6*i, 0); outcome != "added" { // of one partition
			t.Fatal(outcome)
		}
	}
	o, err := d.Optimize(1<<30, nil)
	if err != nil || o.Traces != traces || o.After > o.Before/50+17 {
		t.Errorf("%+v, %v", o, err)
	}
	clean(t, d, traces)
	commits, err := d.Commits()
	if err != nil || len(commits) != 2 { // that of the tables, and one of all traces
		t.Errorf("%d commits, %v", len(commits), err)
	}
}
