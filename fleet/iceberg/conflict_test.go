package iceberg

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// Publishers that run at the same time, while the dataset changes, leave its last state, and every commit is a whole state.
func TestConcurrentPublishers(t *testing.T) {
	for name, make := range catalogs(t) {
		if name == "postgres" {
			continue // its catalog has the code of sqlite
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			set, at := filepath.Join(dir, "warehouse"), make(t, dir)
			addTraces(t, set, "--typed", "none", "jit")
			var group sync.WaitGroup
			stop := time.Now().Add(3 * time.Second)
			var mu sync.Mutex
			runs, added := 0, 0
			for range 3 {
				l := openLake(t, at)
				group.Go(func() {
					for time.Now().Before(stop) {
						results, err := publish(l, set)
						mu.Lock()
						if err != nil {
							t.Error(err)
						}
						runs++
						for _, r := range results {
							added += r.Added
						}
						mu.Unlock()
					}
				})
			}
			for _, trace := range []string{"threads", "cpu-env"} {
				addTraces(t, set, trace)
			}
			succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
			group.Wait()
			l := openLake(t, at)
			_, err := publish(l, set)
			must(t, err)
			compare(t, l, set)
			t.Logf("%d runs added %d files", runs, added)
		})
	}
}

// A publisher that has read an older state than the one that another publisher has committed since does not restore it.
func TestStaleState(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "jit")
	slow, fast := openLake(t, at), openLake(t, at)
	_, err := publish(fast, set)
	must(t, err)
	// The library repeats commits of its own only if the table says so, and must not repeat this one.
	tx := tableOf(t, fast, "events").NewTransaction()
	must(t, tx.SetProperties(iceberg.Properties{icetable.CommitNumRetriesKey: "4"}))
	_, err = tx.Commit(t.Context())
	must(t, err)
	addTraces(t, set, "threads")
	moved := false
	slow.fault = func(step string) error {
		if step != "commit events" || moved {
			return nil
		}
		moved = true
		succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
		_, err := publish(fast, set)
		return err
	}
	results, err := publish(slow, set)
	must(t, err)
	if !moved {
		t.Fatal("no other publisher")
	}
	for _, r := range results {
		if r.Table == "events" && (r.Added != 0 || r.Rows != 1214) {
			t.Errorf("%+v", r)
		}
	}
	compare(t, slow, set)
}

// The state of the dataset is read after the tables: one that was read before lacks what another publisher has committed since.
func TestStateIsNewerThanTables(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "jit")
	slow, fast := openLake(t, at), openLake(t, at)
	d, err := dataset.Open(set)
	must(t, err)
	reads := 0
	err = slow.Publish(t.Context(), "ns", func() (*catalog.State, error) {
		s, err := catalog.Of(d)
		if reads++; reads == 1 {
			addTraces(t, set, "threads")
			_, other := publish(fast, set)
			err = errors.Join(err, other)
		}
		return s, err
	}, func(catalog.Result) {})
	must(t, err)
	compare(t, slow, set)
}

// A publisher whose files are removed while it reads them takes the new state.
func TestFilesRemoved(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit", "threads")
	l := openLake(t, directory(dir))
	removed := false
	l.fault = func(step string) error {
		if step == "table events" {
			removed = true
			succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
		}
		return nil
	}
	_, err := publish(l, set)
	must(t, err)
	if !removed {
		t.Fatal("nothing was removed")
	}
	l.fault = nil
	_, err = publish(l, set) // the tables before events have the files that were removed
	must(t, err)
	compare(t, l, set)
}

// A catalog in which every commit fails ends with an error after a bounded number of attempts.
func TestAttemptsAreBounded(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	l := openLake(t, directory(dir))
	waits := 0
	l.wait = func(time.Duration) { waits++ }
	l.fault = func(step string) error {
		if step != "commit events" {
			return nil
		}
		// Another program changes the table before each commit.
		tx := tableOf(t, l, "events").NewTransaction()
		must(t, tx.SetProperties(iceberg.Properties{"attempt": fmt.Sprint(waits)}))
		_, err := tx.Commit(t.Context())
		return errors.Join(err, icetable.ErrCommitFailed)
	}
	_, err := publish(l, set)
	if !errors.Is(err, icetable.ErrCommitFailed) || !strings.Contains(err.Error(), "10 attempts conflicted") || waits != maxAttempts-1 {
		t.Errorf("%d waits: %v", waits, err)
	}
}

// A run that was killed while it committed to a directory has left a claim, which ends after a minute.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "jit")
	l := openLake(t, at)
	_, err := publish(l, set)
	must(t, err)
	addTraces(t, set, "threads")
	claim := filepath.Join(at.address, "ns", "events", "metadata", "v3.metadata.json.claim")
	must(t, os.WriteFile(claim, nil, 0o600))
	waits := 0
	l.wait = func(time.Duration) {
		if waits++; waits == 3 {
			old := time.Now().Add(-2 * time.Minute)
			must(t, os.Chtimes(claim, old, old))
		}
	}
	_, err = publish(l, set)
	must(t, err)
	if waits != 3 {
		t.Errorf("%d waits", waits)
	}
	compare(t, l, set)
}

// Tables of another dataset and of other programs are refused and stay as they are. A dataset that was moved is the same.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	set, other := filepath.Join(dir, "warehouse"), filepath.Join(dir, "other")
	addTraces(t, set, "--typed", "none", "jit")
	addTraces(t, other, "--typed", "none", "threads")
	l := openLake(t, directory(dir))
	_, err := publish(l, set)
	must(t, err)
	before := tablesOf(t, l)
	if _, err = publish(l, other); !errors.Is(err, catalog.ErrForeign) || !strings.Contains(err.Error(), set) {
		t.Errorf("another dataset: %v", err)
	}
	if after := tablesOf(t, l); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the tables have changed")
	}
	moved := filepath.Join(dir, "moved")
	succeedRename(t, set, moved)
	_, err = publish(l, moved)
	must(t, err)
	compare(t, l, moved)

	foreign := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "x", Type: iceberg.PrimitiveTypes.Int64})
	must(t, l.cat.CreateNamespace(t.Context(), icetable.Identifier{"ns2"}, nil))
	_, err = l.cat.CreateTable(t.Context(), icetable.Identifier{"ns2", "events"}, foreign, icecatalog.WithProperties(nil))
	must(t, err)
	d, err := dataset.Open(moved)
	must(t, err)
	err = l.Publish(t.Context(), "ns2", func() (*catalog.State, error) { return catalog.Of(d) }, func(catalog.Result) {})
	if !errors.Is(err, catalog.ErrForeign) || !strings.Contains(err.Error(), "ns2.events") {
		t.Errorf("another program: %v", err)
	}
}

// Rows that another program has written or removed do not stay: the table is again what the dataset has, or the error says why not.
func TestOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	l := openLake(t, directory(dir))
	_, err := publish(l, set)
	must(t, err)
	table := tableOf(t, l, "events")
	filter := iceberg.LessThan(iceberg.Reference("event_id"), int64(100))
	deleted, _ := icebergSums(t, table, icetable.WithRowFilter(filter))
	_, err = table.Delete(t.Context(), filter, nil) // writes another file
	must(t, err)
	if n, _ := icebergSums(t, tableOf(t, l, "events")); deleted == 0 || n != 1911-deleted {
		t.Fatalf("%d rows, %d deleted", n, deleted)
	}
	_, err = publish(l, set)
	must(t, err)
	compare(t, l, set)

	must(t, table.Refresh(t.Context()))
	tx := table.NewTransaction()
	must(t, tx.SetProperties(iceberg.Properties{icetable.WriteDeleteModeKey: icetable.WriteModeMergeOnRead}))
	must(t, tx.Delete(t.Context(), filter, nil)) // writes a file with positions
	_, err = tx.Commit(t.Context())
	must(t, err)
	if _, err = publish(l, set); !errors.Is(err, errDeletes) {
		t.Errorf("rows are hidden: %v", err)
	}
}

// A column that a later release adds is added to the table, and old files have NULL there.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	l := openLake(t, directory(dir))
	// The promise of an earlier release: modules had fewer columns, and no rows.
	early := stateOf(t, set)
	for i := range early.Tables {
		table := &early.Tables[i]
		table.Files = nil
		if table.Name == "modules" {
			promise := early.Table("threads").Promised
			table.Promised = func(w io.Writer) error { return promise(w) }
		}
	}
	must(t, l.Publish(t.Context(), "ns", func() (*catalog.State, error) { return early, nil }, func(catalog.Result) {}))
	old := len(tableOf(t, l, "modules").Schema().Fields())
	results, err := publish(l, set)
	must(t, err)
	added := 0
	for _, r := range results {
		if r.Table == "modules" {
			added = r.Columns
		} else if r.Columns != 0 {
			t.Errorf("%+v", r)
		}
	}
	modules := tableOf(t, l, "modules")
	if now := len(modules.Schema().Fields()); added == 0 || now != old+added {
		t.Errorf("%d columns, %d before, %d added", now, old, added)
	}
	if f, ok := modules.Schema().FindFieldByName("tid"); !ok {
		t.Error("no column of the earlier release")
	} else if f.Required {
		t.Error("a column that files lack is required")
	}
	compare(t, l, set)
}

// A table without a promise has the columns of all its files. When its last file is removed, the dataset has no such table, and that of
// the catalog has no rows.
func TestTableWithoutPromise(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	s := stateOf(t, set)
	all := s.Tables
	typed := catalog.Table{Name: "event_typed", Files: append(s.Table("threads").Files, s.Table("modules").Files...)}
	s.Tables = append(s.Tables, typed)
	l := openLake(t, directory(dir))
	read := func() (*catalog.State, error) { return s, nil }
	must(t, l.Publish(t.Context(), "ns", read, func(catalog.Result) {}))
	table := tableOf(t, l, typed.Name)
	rows, got := icebergSums(t, table)
	if want := parquetSums(t, typed.Files); rows != typed.Rows() || !maps.Equal(got, want) {
		t.Errorf("%d rows, want %d: %v, want %v", rows, typed.Rows(), got, want)
	}
	for _, f := range table.Schema().Fields() {
		if f.Required {
			t.Errorf("column %s is required", f.Name)
		}
	}
	s.Tables = all
	var last catalog.Result
	must(t, l.Publish(t.Context(), "ns", read, func(r catalog.Result) {
		if r.Table == typed.Name {
			last = r
		}
	}))
	if rows, _ := icebergSums(t, tableOf(t, l, typed.Name)); rows != 0 || last.Removed != 2 || last.Files != 0 {
		t.Errorf("%d rows, %+v", rows, last)
	}
}
