package dataset

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/files/store"
)

// commitsOf returns the IDs of the commits of a dataset.
func commitsOf(t *testing.T, d *Dataset) (ids []string) {
	t.Helper()
	list, err := d.Commits()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

// publication pins what a dataset has, as a run that publishes it does, and returns the names of these files.
func publication(t *testing.T, d *Dataset, catalog string) (*Publication, []string) {
	t.Helper()
	p, err := d.Publication(catalog, "ns")
	if err != nil {
		t.Fatal(err)
	}
	for added := true; added; {
		if added, err = p.Pin(commitsOf(t, d)); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	list, _ := d.Commits()
	for _, c := range list {
		for i := range c.Files {
			files = append(files, d.file(c.Files[i].Path))
		}
	}
	return p, files
}

// missing returns how many of the files do not exist.
func missing(files []string) (n int) {
	for _, name := range files {
		if _, err := store.Stat(name); err != nil {
			n++
		}
	}
	return n
}

// Files that a catalog refers to stay while traces are removed and joined, and disappear when every catalog has moved on. No trace of
// an earlier state reappears meanwhile.
func TestPins(t *testing.T) {
	for _, place := range []string{"directory", "store"} {
		t.Run(place, func(t *testing.T) {
			d, err := Create(t.TempDir()+"/set", plain)
			if place == "store" {
				d, _ = runIn(t, objects(t), shortLease)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				add(d, i, 0)
			}
			a, first := publication(t, d, "a")
			b, _ := publication(t, d, "b")
			for _, p := range []*Publication{a, b} {
				if err := p.Release(); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.remove1(uidOf(1)); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Optimize(1<<30, nil); err != nil {
				t.Fatal(err)
			}
			if err := d.remove1(uidOf(2)); err != nil { // of the joined commit, which no catalog has
				t.Fatal(err)
			}
			check := func(when string, gone, kept bool) {
				t.Helper()
				sound(t, d, 2)
				if n := missing(first); (n > 0) != gone {
					t.Errorf("%s: %d of %d published files are missing", when, n, len(first))
				}
				if k, err := d.Kept(); err != nil || (k.Files > 0) != kept {
					t.Errorf("%s: kept %+v, %v", when, k, err)
				}
				if got, want := slices.Sorted(slices.Values(uids(t, d))), slices.Sorted(slices.Values([]string{uidOf(0), uidOf(3)})); !slices.Equal(got, want) {
					t.Errorf("%s: traces %v, want %v", when, got, want)
				}
			}
			check("before publication", false, true)
			a, _ = publication(t, d, "a")
			check("while the first catalog is published", false, true)
			if err := a.Release(); err != nil {
				t.Fatal(err)
			}
			check("while the second catalog is old", false, true)
			b, _ = publication(t, d, "b")
			if err := b.Release(); err != nil {
				t.Fatal(err)
			}
			check("after both", true, false)
			if _, err := d.Remove([]string{uidOf(0), uidOf(3)}); err != nil { // nothing is left of the commit
				t.Fatal(err)
			}
			sound(t, d, 0)
			b, _ = publication(t, d, "b")
			a, _ = publication(t, d, "a")
			if err := b.Release(); err != nil {
				t.Fatal(err)
			}
			if err := a.Release(); err != nil {
				t.Fatal(err)
			}
			sound(t, d, 0)
			if k, err := d.Kept(); err != nil || k.Files > 0 {
				t.Errorf("of an empty dataset: kept %+v, %v", k, err)
			}
			if again, _ := publication(t, d, "a"); len(again.before) != 1 || len(again.own) != 1 {
				t.Errorf("a publication without changes has %d pins, and writes %d others", len(again.before), len(again.own)-1)
			}
		})
	}
}
