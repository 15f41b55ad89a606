package dataset

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// plain is the configuration of the datasets of tests: without the tables of the runtime, which take time to create.
var plain = Config{Schema: 1, Typed: []string{typedtable.None}}

// TestMain runs a child process that adds traces if an environment variable is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DATASET_CHILD"); dir != "" {
		childMain(dir)
		return
	}
	os.Exit(m.Run())
}

// childMain adds traces in a random order and prints the outcome of each.
func childMain(dir string) {
	d, err := Create(dir, plain)
	if err == nil {
		_, err = d.Clean()
	}
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	n, _ := strconv.Atoi(os.Getenv("DATASET_TRACES"))
	for _, i := range rand.Perm(n) {
		fmt.Println(add(d, i, 20))
	}
}

// A row is a row of the tables that tests write.
type row struct {
	ID   int64  `parquet:"id"`
	Text string `parquet:"text,optional,dict"`
}

// A wideRow is a row of a table whose columns differ between traces.
type wideRow struct {
	row
	More int32 `parquet:"more"`
}

// add adds trace i and returns the outcome. It has i events, and other tables.
func add(d *Dataset, i, others int) string {
	a, outcome := begin(d, i, others)
	if outcome != "" {
		return outcome
	}
	if err := a.Commit(manifest(i)); err != nil {
		return "failed " + err.Error()
	}
	return "added"
}

// addTo adds the first n traces to a batch, and counts those that are published.
func addTo(t *testing.T, b *Batch, n int, published *int) {
	t.Helper()
	b.wait = time.Hour // however slow the machine is
	for i := range n {
		a, outcome := begin(b.d, i, 0)
		if outcome != "" {
			t.Fatal(outcome)
		}
		b.Add(a, manifest(i), func(err error) {
			if err != nil {
				t.Error(err)
			}
			*published++
		})
	}
}

// begin stages trace i. If outcome is not empty, that did not succeed.
func begin(d *Dataset, i, others int) (a *Addition, outcome string) {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	a, err := d.Begin(sum[:], nil)
	var exists *ExistsError
	switch {
	case errors.As(err, &exists):
		return nil, "exists"
	case errors.Is(err, ErrBusy):
		return nil, "busy"
	case err != nil:
		return nil, "failed " + err.Error()
	}
	if err := writeTables(a, i, others); err != nil {
		return nil, fmt.Sprint("failed ", err, a.Abort())
	}
	return a, ""
}

func writeTables(a *Addition, i, others int) error {
	out, err := a.Outputs(fileio.OutputOptions{})
	if err != nil {
		return err
	}
	rows := make([]row, i)
	for k := range rows {
		rows[k] = row{int64(k), fmt.Sprint("event ", k, " of ", i)}
	}
	err = errors.Join(writeTable(out, "trace_info", []row{{ID: int64(i)}}), writeTable(out, "events", rows), writeTable(out, "losses", []row{}))
	if i%2 == 0 {
		err = errors.Join(err, writeTable(out, "event_typed", []row{{ID: 1}}))
	} else {
		err = errors.Join(err, writeTable(out, "event_typed", []wideRow{{row{ID: 1}, 2}}))
	}
	for k := range others {
		err = errors.Join(err, writeTable(out, fmt.Sprint("table", k), []row{{ID: int64(k)}}))
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

func writeTable[T any](out *fileio.Outputs, name string, rows []T) error {
	m, err := out.Create(name + ".parquet")
	if err != nil {
		return err
	}
	w := parquetwriter.NewWriter[T](m, &parquetwriter.Options{})
	return errors.Join(w.Write(rows), w.Close(), m.Close())
}

func manifest(i int) *Manifest {
	p := Properties{Start: time.Date(2026, 11, 20+i%3, 1, 2, 3, 0, time.UTC), Service: "shop/" + strconv.Itoa(i%2)}
	return &Manifest{Source: fmt.Sprintf("%d.nettrace", i), Properties: p, Events: int64(i), Schema: 1, Added: time.Now()}
}

// visible returns the number of rows of a table per trace, as an engine reads them that reads the directory.
func visible(t testing.TB, d *Dataset, table string) map[string]int64 {
	t.Helper()
	rows := make(map[string]int64)
	err := filepath.WalkDir(filepath.Join(d.dir, table), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		s, err := open(piece{name: name})
		if err != nil {
			return err
		}
		defer s.close()
		runs, err := s.rows.Runs(TraceKey)
		for _, run := range runs {
			rows[run.Value] += run.To - run.From
		}
		return errors.Join(err, s.rows.Check())
	})
	if err != nil {
		t.Error(err)
	}
	return rows
}

func newDataset(t *testing.T) *Dataset {
	t.Helper()
	d, err := Create(filepath.Join(t.TempDir(), "fleet"), plain)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// clean fails unless the dataset has the given number of traces, Verify finds no problem, and its directories have exactly the rows
// of the traces.
func clean(t testing.TB, d *Dataset, traces int) {
	t.Helper()
	v, err := d.Verify(&Check{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Traces != traces || len(v.Problems) > 0 || v.Busy > 0 {
		t.Errorf("%d traces, want %d; %d busy; %v", v.Traces, traces, v.Busy, v.Problems)
	}
	list, err := d.Traces()
	if err != nil {
		t.Fatal(err)
	}
	events, infos := visible(t, d, "events"), visible(t, d, "trace_info")
	for _, tr := range list {
		if events[tr.UID] != tr.Manifest.Events || infos[tr.UID] != 1 {
			t.Errorf("%s: %d events, want %d; %d rows of trace_info", tr.Manifest.Source, events[tr.UID], tr.Manifest.Events, infos[tr.UID])
		}
		delete(events, tr.UID)
		delete(infos, tr.UID)
	}
	if len(events)+len(infos) > 0 {
		t.Errorf("rows of other traces: %v, %v", events, infos)
	}
}

// The same trace is added once, and the layout is that of the package comment.
func TestAdd(t *testing.T) {
	d := newDataset(t)
	for _, want := range []string{"added", "exists"} {
		if got := add(d, 7, 3); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	clean(t, d, 1)
	traces, err := d.Traces()
	if err != nil || len(traces) != 1 {
		t.Fatalf("%+v %v", traces, err)
	}
	m, c := traces[0].Manifest, traces[0].Commit
	if m.Events != 7 || len(c.Files) != 6 || m.Service != "shop/1" || m.Bytes == 0 || c.Files[5].Table != "trace_info" {
		t.Errorf("%+v", m)
	}
	for _, table := range []string{"events", "table0", "table2", "event_typed"} {
		if _, err := os.Stat(filepath.Join(d.Dir(), table, "day=2026-11-21", "service=shop%2F1", c.ID+"-0.parquet")); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(d.staging()); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if v := d.Values(&m.Properties); v["service"] != "shop/1" || v["day"] != "2026-11-21" || len(v) != 2 {
		t.Errorf("%v", v)
	}
}

// Small traces share files: one per table, partition and set of columns.
func TestBatch(t *testing.T) {
	d := newDataset(t)
	b := d.NewBatch()
	added := 0
	addTo(t, b, 60, &added)
	if added > 0 {
		t.Errorf("%d traces were published before Flush", added)
	}
	b.Flush()
	clean(t, d, 60)
	files := 0
	commits, err := d.Commits()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		if len(c.Traces) > 0 {
			files += len(c.Files)
		}
	}
	if want := 3 * 6; added != 60 || files != want { // 3 tables with rows, 3 days of 2 services, each of which has one set of columns
		t.Errorf("%d traces in %d files, want %d", added, files, want)
	}
}

// TestOutputLimits: the check and the quota of an addition's outputs stop writing.
func TestOutputLimits(t *testing.T) {
	d := newDataset(t)
	refused := errors.New("limit exceeded")
	for i, o := range []fileio.OutputOptions{{Check: func() error { return refused }}, {Check: func() error { return nil }}} {
		sum := sha256.Sum256([]byte{byte(i)})
		a, err := d.Begin(sum[:], nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Outputs(o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := out.Create("events.parquet")
		if err == nil {
			_, err = m.Write(make([]byte, 1<<20))
			err = errors.Join(err, m.Close())
		}
		if errors.Is(err, refused) != (i == 0) || i > 0 && err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if err := a.Abort(); err != nil {
			t.Error(err)
		}
	}
}

// An aborted addition leaves nothing, at any stage. A Cleaner aborts all open additions.
func TestAbort(t *testing.T) {
	d := newDataset(t)
	sum := sha256.Sum256([]byte("x"))
	for stage := range 3 {
		var c fileio.Cleaner
		a, err := d.Begin(sum[:], &BeginOptions{Cleaner: &c})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Begin(sum[:], nil); !errors.Is(err, ErrBusy) {
			t.Errorf("two additions of one trace: %v", err)
		}
		if stage > 0 {
			out, err := a.Outputs(fileio.OutputOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Create("events.parquet"); err != nil {
				t.Fatal(err)
			}
			if stage > 1 {
				if err := out.Commit(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.AbortAll(); err != nil {
			t.Error(err)
		}
		if err := a.Commit(manifest(1)); !errors.Is(err, fileio.ErrAborted) {
			t.Errorf("commit after abort: %v", err)
		}
		if _, err := d.Begin(sum[:], &BeginOptions{Cleaner: &c}); !errors.Is(err, fileio.ErrAborted) {
			t.Errorf("begin after abort: %v", err)
		}
		if left, _ := os.ReadDir(d.staging()); len(left) > 0 {
			t.Errorf("stage %d left %v", stage, left)
		}
	}
	clean(t, d, 0)
}

// A dataset keeps its keys and schema, and a directory with other files does not become a dataset.
func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "fleet")
	if _, err := Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	want := Config{Schema: 1, Partition: []Key{Service, Month}, Typed: []string{"none"}}
	for range 2 {
		d, err := Create(dir, want)
		if err != nil || JoinKeys(d.Config().Partition) != "service,month" {
			t.Fatal(err)
		}
	}
	if d, err := Create(dir, Config{Schema: 1}); err != nil || len(d.Config().Partition) != 2 {
		t.Error(err)
	}
	for _, c := range []struct {
		config Config
		says   string
	}{
		{Config{Schema: 1, Partition: []Key{Day}}, "partitioned by service,month, not by day"},
		{Config{Schema: 2}, "schema version 1"},
		{Config{Schema: 1, Typed: []string{"A/*", "B/C"}}, "its typed tables are none, not A/*,B/C"},
		{Config{Schema: 1, Partition: []Key{"color"}}, `no such partition key: "color"`},
		{Config{Schema: 1, Partition: []Key{Day, Day}}, "twice"},
	} {
		if _, err := Create(dir, c.config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	other := t.TempDir()
	os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o600)
	if _, err := Create(other, Config{Schema: 1}); !errors.Is(err, ErrNotDataset) || !strings.Contains(err.Error(), "thesis.txt") {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(other); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}

// Prepare creates nothing. A dataset cannot be in another one, and a creation that was interrupted is named so.
func TestPrepare(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "fleet")
	d, err := Prepare(dir, plain)
	if err != nil || d.Exists() || d.Dir() != dir {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("it created %v", entries)
	}
	if err := os.MkdirAll(filepath.Join(dir, stagingName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBegun) || !errors.Is(err, ErrNotDataset) {
		t.Errorf("begun: %v", err)
	}
	if err := d.Create(); err != nil || !d.Exists() || JoinKeys(d.Config().Partition) != "day,service" {
		t.Fatal(err)
	}
	for _, inner := range []string{"trace=0123456789abcdef", "events/new", "_staging/x/y"} {
		if _, err := Create(filepath.Join(dir, inner), plain); !errors.Is(err, ErrNotDataset) || !strings.Contains(err.Error(), "in the dataset "+dir) {
			t.Errorf("%s: %v", inner, err)
		}
		if _, err := os.Stat(filepath.Join(dir, inner)); err == nil {
			t.Errorf("%s was created", inner)
		}
	}
	// Another run creates it, with other keys, after Prepare.
	late, err := Prepare(filepath.Join(root, "late"), Config{Schema: 1, Partition: []Key{Host}, Typed: plain.Typed})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(late.Dir(), plain); err != nil {
		t.Fatal(err)
	}
	if err := late.Create(); !errors.Is(err, ErrMismatch) {
		t.Errorf("late: %v", err)
	}
}

// If the disk is full, the traces of a batch that fit are published.
func TestBatchFull(t *testing.T) {
	for _, c := range []struct{ failures, added int }{{0, 5}, {2, 5}, {3, 4}, {1000, 0}} { // the third is that of a trace alone
		d := newDataset(t)
		b := d.NewBatch()
		added := 0
		for i := range 5 {
			a, outcome := begin(d, i, 0)
			if outcome != "" {
				t.Fatal(outcome)
			}
			b.Add(a, manifest(i), func(err error) {
				if err == nil {
					added++
				} else if !errors.Is(err, syscall.ENOSPC) {
					t.Error(err)
				}
			})
		}
		failures := c.failures
		d.fault = func() error {
			if failures--; failures >= 0 {
				return &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
			}
			return nil
		}
		b.Flush()
		if d.fault = nil; added != c.added {
			t.Errorf("%d failures: %d traces were added, want %d", c.failures, added, c.added)
		}
		clean(t, d, c.added)
	}
}

// Several goroutines and processes add the same traces concurrently: each trace is added exactly once.
func TestConcurrent(t *testing.T) {
	d := newDataset(t)
	const traces = 40
	var mu sync.Mutex
	outcomes := map[string]int{}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			cmd := child(d.Dir(), traces)
			out, err := cmd.Output()
			mu.Lock()
			defer mu.Unlock()
			for _, line := range strings.Fields(string(out)) {
				outcomes[line]++
			}
			if err != nil {
				outcomes["failed"]++
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for _, i := range rand.Perm(traces) {
				outcome := add(d, i, 5)
				mu.Lock()
				outcomes[outcome]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if outcomes["added"] != traces || outcomes["added"]+outcomes["exists"]+outcomes["busy"] != 5*traces {
		t.Errorf("%v", outcomes)
	}
	clean(t, d, traces)
}

func child(dir string, traces int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DATASET_CHILD="+dir, "DATASET_TRACES="+strconv.Itoa(traces))
	cmd.Stderr = os.Stderr
	return cmd
}

// Processes are killed at random moments. All traces in the dataset are complete at any time. At the end each trace is
// in the dataset once and nothing else remains.
func TestKilled(t *testing.T) {
	d := newDataset(t)
	const traces = 60
	rounds := 4
	if corpus.Nightly() {
		rounds = 250 // 500 processes
	}
	for round := range rounds {
		if round%12 == 11 { // so that there is always something to add
			if _, err := d.Clean(); err != nil {
				t.Fatal(err)
			}
			for i := range traces {
				if err := d.remove1(uidOf(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
		}
		killChildren(t, d.Dir(), traces)
		v, err := d.Verify(&Check{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range v.Problems {
			if !strings.HasPrefix(p.Path, stagingName) && p.Path != commitsName+"/"+pendingName {
				t.Errorf("%+v", p)
			}
		}
	}
	if _, err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(d.staging()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for i := range traces {
		if outcome := add(d, i, 2); outcome != "added" && outcome != "exists" {
			t.Error(outcome)
		}
	}
	clean(t, d, traces)
}

// killChildren starts two processes and kills them after both have added a trace.
func killChildren(t *testing.T, dir string, traces int) {
	t.Helper()
	var running []*exec.Cmd
	for range 2 {
		cmd := child(dir, traces)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it has started
			t.Fatal(err)
		}
		go func() { // so that the child never blocks
			b := make([]byte, 1024)
			for {
				if _, err := out.Read(b); err != nil {
					return
				}
			}
		}()
		running = append(running, cmd)
	}
	time.Sleep(rand.N(40 * time.Millisecond))
	for _, cmd := range running {
		cmd.Process.Kill()
		cmd.Wait()
	}
}
