package dataset

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func uidOf(i int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	return UIDOf(sum[:])
}

// Removing a trace also removes directories that become empty. The trace can be added again.
func TestRemove(t *testing.T) {
	d := newDataset(t)
	for i := range 3 {
		add(d, i, 2)
	}
	if err := d.Remove(uidOf(1)); err != nil {
		t.Fatal(err)
	}
	clean(t, d, 2)
	if _, err := os.Stat(filepath.Join(d.Dir(), "day=2026-11-21")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the day still exists: %v", err)
	}
	if err := d.Remove(uidOf(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got := add(d, 1, 2); got != "added" {
		t.Error(got)
	}
	clean(t, d, 3)
}

// Adding and removing traces concurrently, with directories that appear and disappear, loses no trace.
func TestAddWhileRemoving(t *testing.T) {
	d := newDataset(t)
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 30 {
				n := w*1000 + i
				if got := add(d, n, 1); got != "added" {
					t.Errorf("%d: %s", n, got)
				}
				if i%3 > 0 {
					if err := d.Remove(uidOf(n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	clean(t, d, 40)
}

// A mutation is a change to a dataset or to the directory of one of its traces.
type mutation struct {
	name string
	do   func(d *Dataset, dir string) error
	says string // what Verify says about it
}

// mutations returns changes that Verify must report, and changes that it must accept.
func mutations() []mutation {
	write := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	return []mutation{
		{"nothing", func(*Dataset, string) error { return nil }, ""},
		{"hidden files", func(d *Dataset, dir string) error {
			return errors.Join(write(filepath.Join(dir, "_note"), ""), write(filepath.Join(d.Dir(), "_SUCCESS"), ""))
		}, ""},
		{"changed", func(_ *Dataset, dir string) error {
			return write(filepath.Join(dir, "table0.parquet"), strings.Repeat("x", sha256.Size))
		}, "has changed"},
		{"truncated", func(_ *Dataset, dir string) error { return os.Truncate(filepath.Join(dir, "table1.parquet"), 5) }, "has 5 bytes, want 32"},
		{"missing", func(_ *Dataset, dir string) error { return os.Remove(filepath.Join(dir, "table1.parquet")) }, "missing"},
		{"too much", func(_ *Dataset, dir string) error { return write(filepath.Join(dir, "x.parquet"), "") }, "does not belong to the trace"},
		{"no manifest", func(_ *Dataset, dir string) error { return os.Remove(filepath.Join(dir, ManifestName)) }, "no _trace.json"},
		{"broken manifest", func(_ *Dataset, dir string) error { return os.Truncate(filepath.Join(dir, ManifestName), 20) }, "unexpected EOF"},
		{"manifest with a path to the outside", func(_ *Dataset, dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, ManifestName))
			if err != nil {
				return err
			}
			return write(filepath.Join(dir, ManifestName), strings.Replace(string(data), "table0", "../table0", 1))
		}, "not a name of a file in the directory"},
		{"moved", func(d *Dataset, dir string) error {
			return os.Rename(filepath.Dir(filepath.Dir(dir)), filepath.Join(d.Dir(), "day=2020-01-01"))
		}, "belongs in day=2026-11-21/"},
		{"twice", func(d *Dataset, dir string) error {
			return os.CopyFS(filepath.Join(d.Dir(), "day=2020-01-01", "service=x", filepath.Base(dir)), os.DirFS(dir))
		}, "twice"},
		{"foreign directory", func(d *Dataset, _ string) error { return os.Mkdir(filepath.Join(d.Dir(), "backup"), 0o700) }, "day=VALUE"},
		{"killed run", func(d *Dataset, _ string) error {
			return os.Mkdir(filepath.Join(d.staging(), uidOf(5)+"-0123456789abcdef"), 0o700)
		}, "left by a killed run"},
		{"foreign file in staging", func(d *Dataset, _ string) error { return write(filepath.Join(d.staging(), "x"), "") }, "does not belong here"},
	}
}

// Verify reports everything that is changed, missing or added, and nothing else.
func TestVerify(t *testing.T) {
	place := func(d *Dataset) string {
		path, err := d.index.find(uidOf(1))
		if err != nil || path == "" {
			t.Fatal(path, err)
		}
		return path
	}
	for _, c := range mutations() {
		d := newDataset(t)
		add(d, 1, 2)
		add(d, 2, 2)
		if err := c.do(d, place(d)); err != nil {
			t.Fatal(err)
		}
		v, err := d.Verify(&Check{})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, p := range v.Problems {
			found += p.Text + "\n"
		}
		if c.says == "" && found != "" || !strings.Contains(found, c.says) {
			t.Errorf("%s: %q, want %q", c.name, found, c.says)
		}
	}
}

// Verify does not report a trace that another run removes meanwhile.
func TestVerifyWhileRemoving(t *testing.T) {
	d := newDataset(t)
	for i := range 3 {
		add(d, i, 2)
	}
	v, err := d.Verify(&Check{Tables: func(tr *Trace) error {
		if tr.UID != uidOf(1) {
			return nil
		}
		if err := d.Remove(tr.UID); err != nil {
			t.Error(err)
		}
		_, err := os.Stat(filepath.Join(tr.Path, "table0.parquet"))
		return err
	}})
	if err != nil || len(v.Problems) > 0 || v.Traces != 2 || v.Files != 4 || v.Events != 2 {
		t.Errorf("%v, %+v", err, v)
	}
}

// Verify reports leftovers in a fixed order.
func TestVerifyOrder(t *testing.T) {
	d := newDataset(t)
	add(d, 0, 1)
	var want []string
	for i := range 20 {
		want = append(want, uidOf(i)+"-0123456789abcdef")
		if err := os.Mkdir(filepath.Join(d.staging(), want[i]), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	v, err := d.Verify(&Check{})
	if err != nil || len(v.Problems) != len(want) {
		t.Fatalf("%v, %+v", err, v)
	}
	for i, p := range v.Problems {
		if p.Path != "_staging/"+want[i] {
			t.Errorf("problem %d is that of %s, want %s", i, p.Path, want[i])
		}
	}
}

// A value round-trips through the name of a directory, unless it is too long. The result is always a single name.
func TestEscape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		name := escape(value)
		if strings.ContainsAny(name, `/\:*?"<>|= `) || name == "" || len(name) > 3*maxValue || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			t.Fatalf("%q", name)
		}
		back, ok := unescape(name)
		if !ok || back != value && len(value) <= maxValue && value != nullValue {
			t.Fatalf("%q: %q", name, back)
		}
	})
}

// A filter selects by a UID prefix, by the time of the recording, and by partition values.
func TestFilter(t *testing.T) {
	d := newDataset(t)
	for i := range 6 {
		add(d, i, 1)
	}
	traces, err := d.Traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 6},
		{Filter{UIDs: []string{uidOf(1)[:8], uidOf(2)}}, 2},
		{Filter{Values: map[string]string{"service": "shop/1"}}, 3},
		{Filter{Values: map[string]string{"service": "shop/1", "day": "2026-11-21"}}, 1},
		{Filter{Values: map[string]string{"host": ""}}, 0},
		{Filter{Before: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}, 2},
	} {
		n := 0
		for i := range traces {
			if c.filter.Match(d, &traces[i]) {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%+v: %d, want %d", c.filter, n, c.want)
		}
	}
}
