package iceberg

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
)

// published runs dataset publish, and returns the results by table.
func published(t *testing.T, set string, at *place, args ...string) map[string]catalog.Result {
	t.Helper()
	out := succeed(t, "", slices.Concat([]string{"dataset", "publish", set, "--json"}, at.args(), args)...)
	var list struct{ Tables []catalog.Result }
	must(t, json.Unmarshal([]byte(out), &list))
	results := make(map[string]catalog.Result)
	for _, r := range list.Tables {
		results[r.Table] = r
	}
	if len(results) == 0 || len(args) == 0 && list.Tables[len(list.Tables)-1].Table != "trace_info" {
		t.Errorf("%d tables, the last is not trace_info", len(results))
	}
	return results
}

// A dataset that grows, loses a trace and is joined has the same rows in each catalog after each publication, by one commit per table
// that changes, and none if nothing does.
func TestPublish(t *testing.T) {
	typed := map[string]string{"directory": "", "sqlite": "none", "rest": "none", "glue": "none", "postgres": "none"} // the tables of the runtime take time
	for name, make := range catalogs(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			set, at := filepath.Join(dir, "warehouse"), make(t, dir)
			addTraces(t, set, "cpu-env", "jit", "--typed", typed[name])
			first := published(t, set, at)
			if r := first["events"]; !r.Created || r.Added != 1 || r.Rows != 3697 || r.Snapshot == 0 {
				t.Errorf("events: %+v", r)
			}
			if r, ok := first["event_clr_ExceptionThrown"]; ok != (name == "directory") || ok && (!r.Created || r.Added+r.Files != 0 || r.Snapshot != 0) {
				t.Errorf("a table without rows: %+v", r)
			}
			l := openLake(t, at)
			compare(t, l, set)
			snapshot := first["events"].Snapshot
			for name, r := range published(t, set, at) {
				if r.Created || r.Added+r.Removed+r.Columns != 0 || r.Snapshot != 0 || r.Rows != first[name].Rows {
					t.Errorf("again: %+v", r)
				}
			}
			if s := tableOf(t, l, "events").CurrentSnapshot(); s.SnapshotID != snapshot {
				t.Errorf("snapshot %d, want %d", s.SnapshotID, snapshot)
			}
			addTraces(t, set, "threads")
			if r := published(t, set, at)["events"]; r.Added != 1 || r.Removed != 0 || r.Files != 2 {
				t.Errorf("more: %+v", r)
			}
			compare(t, l, set)
			succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
			if r := published(t, set, at)["events"]; r.Added != 1 || r.Removed != 1 || r.Files != 2 {
				t.Errorf("after rm: %+v", r)
			}
			compare(t, l, set)
			succeed(t, "", "dataset", "optimize", set)
			if r := published(t, set, at)["events"]; r.Added == 0 || r.Removed != 2 {
				t.Errorf("after optimize: %+v", r)
			}
			compare(t, l, set)
			if n := len(tableOf(t, l, "events").Metadata().Snapshots()); n != 4 {
				t.Errorf("%d snapshots, want one per run that changed the dataset", n)
			}
			succeed(t, "", "dataset", "rm", set, "--older-than", "0s")
			if r := published(t, set, at)["events"]; r.Files != 0 || r.Rows != 0 || r.Removed == 0 {
				t.Errorf("without traces: %+v", r)
			}
			if n, _ := icebergSums(t, tableOf(t, l, "events")); n != 0 {
				t.Errorf("%d events without traces", n)
			}
		})
	}
}

// traceOf returns the UID of a trace by its source.
func traceOf(t *testing.T, set, source string) string {
	t.Helper()
	var list []struct {
		UID   string
		Trace struct{ Source string }
	}
	must(t, json.Unmarshal([]byte(succeed(t, "", "dataset", "ls", "--json", set)), &list))
	for _, trace := range list {
		if strings.Contains(trace.Trace.Source, source) {
			return trace.UID
		}
	}
	t.Fatalf("no trace of %s", source)
	return ""
}

// A scan for a value of a partition key reads the files of that partition only, whatever characters it has, and also for NULL.
func TestPartitions(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	odd := "a/b c%=ü:'" + `"\`
	addTraces(t, set, "--partition", "day,hour,host,service,year", "--service", odd, "jit")
	addTraces(t, set, "threads")
	l := openLake(t, directory(dir))
	_, err := publish(l, set)
	must(t, err)
	compare(t, l, set)
	events := tableOf(t, l, "events")
	var keys []string
	spec := events.Spec()
	for _, f := range spec.Fields() {
		keys = append(keys, f.Name+" "+f.Transform.String())
	}
	if got, want := strings.Join(keys, ","), "day identity,hour identity,host identity,service identity,year identity"; got != want {
		t.Errorf("partitions %s, want %s", got, want)
	}
	// trace_info has its own column service, whose values are not those of the directories.
	info := tableOf(t, l, "trace_info").Spec()
	for _, f := range info.Fields() {
		if f.Name == "service" {
			t.Error("trace_info is partitioned by its own column")
		}
	}
	day, hour := iceberg.Reference("day"), iceberg.Reference("hour")
	host, service, year := iceberg.Reference("host"), iceberg.Reference("service"), iceberg.Reference("year")
	for _, c := range []struct {
		filter iceberg.BooleanExpression
		files  int
	}{
		{iceberg.EqualTo(service, odd), 1},
		{iceberg.EqualTo(service, "a"), 0},
		{iceberg.IsNull(host), 2},
		{iceberg.EqualTo(host, "x"), 0},
		{iceberg.EqualTo(year, int32(2026)), 2},
		{iceberg.EqualTo(year, int32(2025)), 0},
		{iceberg.GreaterThanEqual(day, "2026-01-01"), 2},
		{iceberg.GreaterThan(hour, int32(23)), 0},
		{iceberg.EqualTo(iceberg.Reference("trace"), traceOf(t, set, "jit")), 1}, // by the statistics
		{iceberg.LessThan(iceberg.Reference("ts"), "2026-01-01T00:00:00+00:00"), 0},
	} {
		tasks, err := events.Scan(icetable.WithRowFilter(c.filter)).PlanFiles(t.Context())
		must(t, err)
		if len(tasks) != c.files {
			t.Errorf("%s: %d files, want %d", c.filter, len(tasks), c.files)
		}
		want := int64(0)
		for _, task := range tasks {
			want += task.File.Count()
		}
		if n, _ := icebergSums(t, events, icetable.WithRowFilter(c.filter)); n != want {
			t.Errorf("%s: %d rows, want %d", c.filter, n, want)
		}
	}
}

// A publisher that ends between two tables, or before a commit, leaves whole tables, and the next one does the rest.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "cpu-env", "jit")
	for _, at := range []string{"table events", "commit events", "table trace_info", "commit trace_info"} {
		l := openLake(t, directory(filepath.Join(dir, strings.ReplaceAll(at, " ", "-"))))
		l.fault = func(step string) error {
			if step == at {
				return errKilled
			}
			return nil
		}
		results, err := publish(l, set)
		_, name, _ := strings.Cut(at, " ")
		if err == nil || !strings.Contains(err.Error(), "killed") || len(results) == 0 || slices.ContainsFunc(results, func(r catalog.Result) bool { return r.Table == name }) {
			t.Fatalf("%s: %d tables, %v", at, len(results), err)
		}
		l.fault = nil
		rest, err := publish(l, set)
		must(t, err)
		added := 0
		for _, r := range rest {
			added += r.Added
		}
		if all := len(results) + added; added == 0 || all <= added {
			t.Errorf("%s: the second run added %d files", at, added)
		}
		compare(t, l, set)
	}
}

// Publishers that are killed at any moment leave a catalog that the next one completes.
func TestSIGKILL(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "cpu-env", "jit")
	killed := 0
	for i := range 12 {
		cmd := exec.Command(os.Args[0], append([]string{"dataset", "publish", set}, at.args()...)...)
		cmd.Env = append(os.Environ(), "NTCONV_FLEET=1")
		must(t, cmd.Start())
		time.Sleep(time.Duration(50+i*50) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil {
			killed++
		}
	}
	l := openLake(t, at)
	_, err := publish(l, set)
	must(t, err)
	compare(t, l, set)
	if killed == 0 {
		t.Error("no run was killed")
	}
	t.Logf("%d runs were killed", killed)
}

// What a catalog refers to can be read until the catalog has moved on: after removal, joining and replacement, and until the last catalog
// has been published to.
func TestSnapshotsStayReadable(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	other := &place{address: "sqlite:" + filepath.Join(dir, "catalog.db")}
	addTraces(t, set, "cpu-env", "--typed", "none")
	addTraces(t, set, "jit", "--event", "Method*", "--typed", "none")
	published(t, set, at)
	published(t, set, other)
	l, second := openLake(t, at), openLake(t, other)
	rows, want := icebergSums(t, tableOf(t, l, "events"))
	if rows == 0 {
		t.Fatal("no rows")
	}
	addTraces(t, set, "jit", "--typed", "none") // replaces the part
	succeed(t, "", "dataset", "optimize", set)
	if code, _, stderr := invoke(t, "", "dataset", "rm", set, traceOf(t, set, "cpu-env")); code != 0 || !strings.Contains(stderr, "kept until the dataset has been published again in "+filepath.Join(dir, "lake")+", namespace ns and in file:"+filepath.Join(dir, "catalog.db")) {
		t.Errorf("rm: code %d, %q", code, stderr)
	}
	for name, l := range map[string]*lake{"directory": l, "sqlite": second} {
		if n, got := icebergSums(t, tableOf(t, l, "events")); n != rows || !maps.Equal(got, want) {
			t.Errorf("%s: %d rows of the snapshot, want %d", name, n, rows)
		}
	}
	published(t, set, at, "--table", "events") // other tables still refer to the old files
	if n, _ := icebergSums(t, tableOf(t, l, "trace_info")); n != 2 {
		t.Errorf("%d rows of a table that was not published, want 2", n)
	}
	published(t, set, at)
	if n, got := icebergSums(t, tableOf(t, second, "events")); n != rows || !maps.Equal(got, want) {
		t.Errorf("after the first catalog: %d rows of the second, want %d", n, rows)
	}
	published(t, set, other)
	compare(t, l, set)
	compare(t, second, set)
	if out := succeed(t, "", "dataset", "verify", set); strings.Contains(out, "replaced file") {
		t.Errorf("files stay although both catalogs have moved on: %s", out)
	}
}
