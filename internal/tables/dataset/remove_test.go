package dataset

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
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

// remove1 removes a trace that no other run uses.
func (d *Dataset) remove1(uid string) error {
	busy, err := d.Remove([]string{uid})
	if len(busy) > 0 {
		return ErrBusy
	}
	return err
}

// Removing a trace also removes directories that become empty. The trace can be added again.
func TestRemove(t *testing.T) {
	d := newDataset(t)
	for i := range 3 {
		add(d, i, 2)
	}
	if err := d.remove1(uidOf(1)); err != nil {
		t.Fatal(err)
	}
	clean(t, d, 2)
	if _, err := os.Stat(filepath.Join(d.Dir(), "events", "day=2026-11-21")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the day still exists: %v", err)
	}
	if err := d.remove1(uidOf(1)); !errors.Is(err, fs.ErrNotExist) {
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
					if err := d.remove1(uidOf(n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	clean(t, d, 40)
}

// A mutation is a change to a dataset that has the given commit.
type mutation struct {
	name string
	do   func(d *Dataset, c *Commit) error
	says string // what Verify says about it
}

// mutations returns changes that Verify must report, and changes that it must accept.
func mutations() []mutation {
	write := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	file := func(d *Dataset, c *Commit) string { return d.file(c.Files[0].Path) }
	return []mutation{
		{"nothing", func(*Dataset, *Commit) error { return nil }, ""},
		{"hidden files", func(d *Dataset, c *Commit) error {
			return errors.Join(write(filepath.Join(filepath.Dir(file(d, c)), "_note"), ""), write(filepath.Join(d.Dir(), "_SUCCESS"), ""))
		}, ""},
		{"changed", func(d *Dataset, c *Commit) error { return write(file(d, c), strings.Repeat("x", int(c.Files[0].Size))) }, "has changed"},
		{"truncated", func(d *Dataset, c *Commit) error { return os.Truncate(file(d, c), 5) }, "has 5 bytes, want"},
		{"missing", func(d *Dataset, c *Commit) error { return os.Remove(file(d, c)) }, "missing"},
		{"too much", func(d *Dataset, c *Commit) error {
			return os.CopyFS(d.file("events/day=2020-01-01"), os.DirFS(filepath.Dir(file(d, c))))
		}, "belongs to no trace"},
		{"no commit", func(d *Dataset, c *Commit) error { return os.Remove(d.commitFile(c.ID + ".json")) }, "belongs to no trace"},
		{"broken commit", func(d *Dataset, c *Commit) error { return os.Truncate(d.commitFile(c.ID+".json"), 20) }, "unexpected EOF"},
		{"commit with a path to the outside", func(d *Dataset, c *Commit) error {
			data, err := os.ReadFile(d.commitFile(c.ID + ".json"))
			if err != nil {
				return err
			}
			return write(d.commitFile(c.ID+".json"), strings.Replace(string(data), `"path":"`, `"path":"../`, 1))
		}, "which is not in the dataset"},
		{"moved", func(d *Dataset, c *Commit) error {
			return os.Rename(d.file("events/day=2026-11-21"), d.file("events/day=2020-01-01"))
		}, "missing"},
		{"twice", func(d *Dataset, c *Commit) error {
			data, err := os.ReadFile(d.commitFile(c.ID + ".json"))
			if err != nil {
				return err
			}
			return write(d.commitFile("0123456789abcdef.json"), strings.ReplaceAll(string(data), c.ID, "0123456789abcdef"))
		}, "twice"},
		{"foreign file", func(d *Dataset, _ *Commit) error { return write(filepath.Join(d.Dir(), "backup.zip"), "") }, "belongs to no trace"},
		{"killed run", func(d *Dataset, _ *Commit) error {
			return os.Mkdir(filepath.Join(d.staging(), uidOf(5)+"-0123456789abcdef"), 0o700)
		}, "left by a killed run"},
		{"foreign file in staging", func(d *Dataset, _ *Commit) error { return write(filepath.Join(d.staging(), "x"), "") }, "does not belong here"},
	}
}

// Verify reports everything that is changed, missing or added, and nothing else.
func TestVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	for _, c := range mutations() {
		d := newDataset(t)
		add(d, 1, 2)
		add(d, 2, 2)
		tr, found, err := d.find(uidOf(1))
		if err != nil || !found {
			t.Fatal(found, err)
		}
		if err := c.do(d, tr.Commit); err != nil {
			t.Fatal(err)
		}
		again, err := Open(d.Dir()) // which has not read the commits
		if err != nil {
			t.Fatal(err)
		}
		v, err := again.Verify(&Check{})
		if err != nil {
			t.Fatal(err)
		}
		texts := ""
		for _, p := range v.Problems {
			texts += p.Text + "\n"
		}
		if c.says == "" && texts != "" || !strings.Contains(texts, c.says) {
			t.Errorf("%s: %q, want %q", c.name, texts, c.says)
		}
	}
}

// Verify does not report a trace that another run removes meanwhile.
func TestVerifyWhileRemoving(t *testing.T) {
	d := newDataset(t)
	for i := range 3 {
		add(d, i, 2)
	}
	tr, _, err := d.find(uidOf(1))
	if err != nil {
		t.Fatal(err)
	}
	removed := false
	v, err := d.Verify(&Check{Table: func(name string, f *File) error {
		if strings.Contains(name, tr.Commit.ID) && !removed {
			removed = true
			if err := d.remove1(tr.UID); err != nil {
				t.Error(err)
			}
		}
		_, err := os.Stat(name)
		return err
	}})
	if err != nil || len(v.Problems) > 0 || v.Traces != 2 || v.Events != 2 {
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

// Engines read some names of directories as NULL. A service that is called NULL has an encoded one, and one that is called as the
// directory of unknown values is unknown, also in the column.
func TestNullNames(t *testing.T) {
	for value, want := range map[string]string{
		"NULL": "service=%4EULL", "null": "service=%6Eull", "Null": "service=%4Eull", "NULLS": "service=NULLS", "": "service=" + nullValue, nullValue: "service=" + nullValue,
	} {
		p := &Properties{Service: value}
		column := Service.constant(p)
		if value == nullValue {
			value = ""
		}
		if got := Service.directory(p); got != want || Service.Canonical(p.Service) != value || column.Text != value || column.Null != (value == "") {
			t.Errorf("%q: %s, column %+v", p.Service, got, column)
		}
	}
	for text, want := range map[string]string{"6": "06", "06": "06", "16": "16", "": ""} {
		if got := Hour.Canonical(text); got != want {
			t.Errorf("hour %q: %q, want %q", text, got, want)
		}
	}
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

// A trace that shares files with others is replaced, wherever it is in their order; the rows of the others stay.
func TestReplaceSharing(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	for _, joined := range []bool{false, true} {
		for _, one := range []int{7, 13, 19} {
			d := newDataset(t)
			b := d.NewBatch()
			for _, i := range []int{7, 13, 19} { // of one partition
				a, outcome := begin(d, i, 1)
				if outcome != "" {
					t.Fatal(outcome)
				}
				b.Add(a, manifest(i), func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
				if joined {
					b.Flush()
				}
			}
			b.Flush()
			if joined {
				if _, err := d.Optimize(1<<30, nil); err != nil {
					t.Fatal(err)
				}
			}
			before := visible(t, d, "events")
			sum := sha256.Sum256([]byte(strconv.Itoa(one)))
			a, err := d.Begin(sum[:], &BeginOptions{Replaces: func(*Manifest) bool { return true }})
			if err != nil {
				t.Fatal(err)
			}
			if err := writeTables(a, one, 1); err != nil {
				t.Fatal(err)
			}
			if err := a.Commit(manifest(one)); err != nil {
				t.Fatal(err)
			}
			clean(t, d, 3)
			for _, table := range []string{"trace_info", "events", "event_typed", "table0"} {
				rows := visible(t, d, table)
				if len(rows) != 3 {
					t.Errorf("trace %d, %s: rows of %d traces", one, table, len(rows))
				}
				if table == "events" && !maps.Equal(rows, before) {
					t.Errorf("trace %d: %v, want %v", one, rows, before)
				}
			}
		}
	}
}
