package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ntconv/ntconv/fleet/storefake"
)

// asCommand makes the test binary run the command.
const asCommand = "NTCONV_FLEET_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A user is somebody with a store.
type user struct {
	*storefake.Server
	t   *testing.T
	dir string // working directory
	env []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{Server: storefake.New(t), t: t, dir: t.TempDir()}
	u.env = append(u.Environment(), asCommand+"=1", "XDG_CACHE_HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "NTCONV_LOCAL_SYMBOLS=false", "PATH="+os.Getenv("PATH"))
	return u
}

// result is what a run leaves.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the command.
func (u *user) run(args ...string) result {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.dir, u.env, &stdout, &stderr
	_ = cmd.Run()
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ok runs the command, which must succeed, and returns its standard output.
func (u *user) ok(args ...string) string {
	u.t.Helper()
	r := u.run(args...)
	if r.code != 0 {
		u.t.Fatalf("%q: exit code %d: %s", args, r.code, r.stderr)
	}
	return r.stdout
}

// file returns the path of a trace of testdata.
func file(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../testdata/" + name + ".nettrace.zst")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var traces = []string{"cpu-v6", "activities", "cpu-env"}

// TestObjectsAsFiles copies traces to a store by conversion, and reads them as every command reads files.
func TestObjectsAsFiles(t *testing.T) {
	u := newUser(t)
	for _, name := range traces {
		u.ok("to", "nettrace", file(t, name), "-o", "s3://bucket/traces/2026/"+name+".nettrace")
		u.ok("to", "nettrace", file(t, name), "-o", name+".nettrace")
	}
	for _, name := range traces {
		at, local := "s3://bucket/traces/2026/"+name+".nettrace", name+".nettrace"
		for _, args := range [][]string{{"info", "--json"}, {"print", "--json"}, {"top"}, {"print", "--stats"}} {
			want := strings.ReplaceAll(u.ok(append(args, local)...), local, at)
			if got := u.ok(append(args, at)...); got != want {
				t.Errorf("%s %s differs for the object:\n%.500s\nwant\n%.500s", args, name, got, want)
			}
		}
		u.ok("to", "pprof", at, "-o", "s3://bucket/out/"+name+".pb.gz")
		u.ok("to", "pprof", local, "-o", name+".pb.gz")
		u.ok("to", "folded", "s3://bucket/out/"+name+".pb.gz", "-o", "a-"+name+".folded")
		u.ok("to", "folded", name+".pb.gz", "-o", "b-"+name+".folded")
		a, b := read(t, u.dir, "a-"+name+".folded"), read(t, u.dir, "b-"+name+".folded")
		if a != b || a == "" {
			t.Errorf("%s: the profile in the store has other samples", name)
		}
	}
	// Patterns, directories, and one output per input.
	for _, words := range [][]string{{"s3://bucket/traces/2026/*.nettrace"}, {"s3://bucket/traces/**/*.nettrace"}, {"s3://bucket/traces/"}, {"s3://bucket/traces"}} {
		out := "s3://bucket/each" + fmt.Sprint(len(words[0]))
		u.ok(append(append([]string{"to", "folded", "--each"}, words...), "-o", out+"/")...)
		if got := u.ok(append([]string{"to", "folded", "--each", "-o", "local" + fmt.Sprint(len(words[0])) + "/"}, words...)...); got != "" {
			t.Errorf("%q on standard output", got)
		}
		files, err := filepath.Glob(filepath.Join(u.dir, "local"+fmt.Sprint(len(words[0])), "*", "*"))
		more, err2 := filepath.Glob(filepath.Join(u.dir, "local"+fmt.Sprint(len(words[0])), "*"))
		if err != nil || err2 != nil || len(files) != len(traces) && len(more) != len(traces) {
			t.Errorf("%s: %d outputs, want %d", words, len(files)+len(more), len(traces))
		}
	}
	// A directory of tables is an output and an input.
	u.ok("to", "parquet", "activities.nettrace", "-o", "s3://bucket/tables/")
	u.ok("to", "parquet", "activities.nettrace", "-o", "tables/")
	if a, b := u.ok("print", "--json", "s3://bucket/tables/"), u.ok("print", "--json", "tables/"); a != b || a == "" {
		t.Error("the tables in the store have other events")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestObjectsAreKept checks that nothing is replaced without -f, that an output is there as a whole or not at all, and messages.
func TestObjectsAreKept(t *testing.T) {
	u := newUser(t)
	at := "s3://bucket/a.folded"
	u.ok("to", "folded", file(t, "cpu-v6"), "-o", at)
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"to", "folded", file(t, "activities"), "-o", at}, 4, "exist"},
		{[]string{"to", "folded", "s3://bucket/no.nettrace"}, 1, "s3://bucket/no.nettrace: open: file does not exist"},
		{[]string{"to", "folded", "s3://bucket/no/*.nettrace"}, 1, "no file matches the pattern"},
		{[]string{"to", "folded", "s3://absent/no.nettrace"}, 1, "s3://absent/no.nettrace"},
		{[]string{"info", "ftp://host/a.nettrace"}, 1, "ftp"},
		{[]string{"dataset", "ls", "s3://bucket/none"}, 1, "s3://bucket/none"},
	} {
		r := u.run(c.args...)
		if r.code == 0 || !strings.Contains(r.stderr, c.text) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q", c.args, r.code, r.stderr)
		}
	}
	before := u.ok("to", "folded", at, "-o", "-")
	u.ok("to", "folded", "-f", file(t, "activities"), "-o", at)
	if u.ok("to", "folded", at, "-o", "-") == before {
		t.Error("-f has not replaced the object")
	}
}

// a listed trace, as ntconv dataset ls prints it.
type listed struct {
	UID    string `json:"uid"`
	Path   string `json:"path"`
	Events int64  `json:"events"`
}

// list returns the traces of a dataset.
func (u *user) list(set string) (list []listed) {
	u.t.Helper()
	if err := json.Unmarshal([]byte(u.ok("dataset", "ls", "--json", set)), &list); err != nil {
		u.t.Fatal(err)
	}
	return list
}

// TestDatasetInStore makes a dataset in a store with all its operations, while requests fail, and compares it with one on disk.
func TestDatasetInStore(t *testing.T) {
	u := newUser(t)
	var files []string
	for _, name := range traces {
		files = append(files, file(t, name))
	}
	u.ok(append([]string{"to", "parquet", "--dataset", "local", "--typed", "none"}, files...)...)
	u.Fail(0.05, 3)
	const set = "s3://bucket/warehouse"
	for i := range files { // three runs, and the last has all
		u.ok(append([]string{"to", "parquet", "--dataset", set, "--typed", "none"}, files[:i+1]...)...)
	}
	want, got := u.list("local"), u.list(set)
	if len(got) != len(want) {
		t.Fatalf("%d traces, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].UID != want[i].UID || got[i].Events != want[i].Events || got[i].Path != set+"/trace="+got[i].UID {
			t.Errorf("trace %d: %+v, want %+v", i, got[i], want[i])
		}
		a, b := u.ok("print", "--json", got[i].Path), u.ok("print", "--json", want[i].Path)
		if a != b || a == "" {
			t.Errorf("%s has other events", got[i].Path)
		}
	}
	u.ok("dataset", "verify", set)
	u.ok("dataset", "optimize", set)
	u.ok("dataset", "verify", set)
	u.ok("dataset", "rm", set, got[0].UID)
	if left := u.list(set); len(left) != len(want)-1 || slices.ContainsFunc(left, func(l listed) bool { return l.UID == got[0].UID }) {
		t.Errorf("after removal: %+v", left)
	}
	u.ok("dataset", "verify", set)
	if n := u.Failed.Load(); n < 10 {
		t.Errorf("only %d requests failed", n)
	}
	if _, err := os.Stat(filepath.Join(u.dir, "s3:")); err == nil {
		t.Error("a directory s3: was created")
	}
}

// TestQueriesOfObjects asks the same of tables and datasets in a store and on disk.
func TestQueriesOfObjects(t *testing.T) {
	duckdb, err := filepath.Abs("../bin/ntconv-duckdb")
	if err == nil {
		_, err = os.Stat(duckdb)
	}
	if err != nil {
		t.Fatalf("%v; make sql builds it", err)
	}
	u := newUser(t)
	for _, at := range []string{"", "s3://bucket/"} {
		u.ok("to", "parquet", "--dataset", at+"warehouse", "--typed", "none", file(t, "cpu-v6"), file(t, "activities"))
		u.ok("to", "parquet", file(t, "activities"), "-o", at+"tables/")
		u.ok("to", "parquet", "-f", file(t, "cpu-v6"), "-o", at+"tables/") // replaces what is there
	}
	traces := u.list("warehouse")
	for _, input := range []string{"warehouse", "tables/", "warehouse/trace=" + traces[0].UID} {
		for _, query := range []string{"SELECT 1", "SELECT count(*), sum(ts_ns), sum(tid) FROM events", "SELECT count(*) FROM spans JOIN events USING (trace)", "SHOW TABLES"} {
			want := u.ok("sql", "--duckdb", duckdb, query, input)
			if got := u.ok("sql", "--duckdb", duckdb, query, "s3://bucket/"+input); got != want || got == "" {
				t.Errorf("%s of %s: %q, want %q", query, input, got, want)
			}
		}
	}
	if r := u.run("sql", "--duckdb", duckdb, "--max-spool", "1KiB", "SELECT count(*) FROM events", "s3://bucket/warehouse"); r.code == 0 || !strings.Contains(r.stderr, "raise --max-spool") {
		t.Errorf("with a limit: exit code %d, %q", r.code, r.stderr)
	}
}

// TestPublishedObjects publishes a dataset in a store, and the same one on disk, to a catalog.
func TestPublishedObjects(t *testing.T) {
	u := newUser(t)
	rows := make(map[string]string)
	for _, at := range []string{"", "s3://bucket/"} {
		u.ok("to", "parquet", "--dataset", at+"warehouse", "--typed", "none", file(t, "cpu-v6"), file(t, "activities"))
		lake := []string{"--catalog", "sqlite:" + filepath.Join(u.dir, "catalog"+fmt.Sprint(len(at))+".db"), "--namespace", "ns"}
		if at != "" {
			lake = append(lake, "--catalog-property", "warehouse="+at+"lake", "--catalog-property", "s3.force-virtual-addressing=false")
		}
		var result struct {
			Tables []struct {
				Table string
				Rows  int64
			}
		}
		if err := json.Unmarshal([]byte(u.ok(append([]string{"dataset", "publish", "--json", at + "warehouse"}, lake...)...)), &result); err != nil {
			t.Fatal(err)
		}
		rows[at] = fmt.Sprint(result.Tables)
	}
	if rows[""] != rows["s3://bucket/"] || !strings.Contains(rows[""], "{trace_info 2}") {
		t.Errorf("tables in the store: %s\nwant %s", rows["s3://bucket/"], rows[""])
	}
}

// TestPipelineOfObjects runs pipelines with inputs and a dataset in a store.
func TestPipelineOfObjects(t *testing.T) {
	u := newUser(t)
	for _, name := range traces {
		u.ok("to", "nettrace", file(t, name), "-o", "s3://bucket/traces/"+name+".nettrace")
	}
	u.ok("pipeline", "tables", "--dataset", "s3://bucket/warehouse", "--typed", "none", "s3://bucket/traces/")
	if list := u.list("s3://bucket/warehouse"); len(list) != len(traces) {
		t.Errorf("%d traces, want %d", len(list), len(traces))
	}
	u.ok("dataset", "verify", "s3://bucket/warehouse")
	for _, args := range [][]string{
		{"pipeline", "pprof", "--kind", "wall", "s3://bucket/traces/", "-o", "s3://bucket/profiles"},
		{"pipeline", "tables", "--runner", "flink", "--dataset", "s3://bucket/warehouse", "s3://bucket/traces/", "--", "--endpoint=localhost:8081"},
	} {
		if r := u.run(args...); r.code != 1 || !strings.Contains(r.stderr, "name a directory") {
			t.Errorf("%q: exit code %d, %q", args, r.code, r.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(u.dir, "s3:")); err == nil {
		t.Error("a directory s3: was created")
	}
}

// TestDatasetWriters runs several processes that add the same traces to a dataset in a store.
func TestDatasetWriters(t *testing.T) {
	u := newUser(t)
	const set = "s3://bucket/warehouse"
	var all sync.WaitGroup
	results := make([]result, 4)
	for i := range results {
		one := *u
		one.env = append(slices.Clone(u.env), "XDG_CACHE_HOME="+t.TempDir()) // of another machine
		all.Go(func() {
			args := []string{"to", "parquet", "--dataset", set, "--typed", "none"}
			for k := range traces {
				args = append(args, file(t, traces[(i+k)%len(traces)]))
			}
			results[i] = one.run(args...)
		})
	}
	all.Wait()
	for i, r := range results {
		if r.code != 0 {
			t.Errorf("run %d: exit code %d: %s", i, r.code, r.stderr)
		}
	}
	if list := u.list(set); len(list) != len(traces) {
		t.Errorf("%d traces, want %d", len(list), len(traces))
	}
	u.ok("dataset", "verify", set)
}
