package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// fleet makes a directory of n different traces, each a recorded trace truncated at a different place, and returns its
// name.
func fleet(t *testing.T, dir string, n int) string {
	t.Helper()
	data := unpacked(t, "cpu-v6")
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		write(t, dir, fmt.Sprintf("traces/%03d.nettrace", i), data[:len(data)-i])
	}
	return filepath.Join(dir, "traces")
}

// tracesOf returns the traces of a dataset, which must be right and without leftovers.
func tracesOf(t *testing.T, dir, set string) []dataset.Trace {
	t.Helper()
	if r := invoke(t, dir, nil, "dataset", "verify", set); r.code != exitOK || !strings.HasPrefix(r.stdout, "complete: ") {
		t.Fatalf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if left, err := os.ReadDir(filepath.Join(set, "_staging")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	d, err := dataset.Open(set)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := d.Traces()
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// Every output treats a start time beyond 63 bits of nanoseconds as unknown. All but datasets say so.
func TestFarStart(t *testing.T) {
	for _, year := range []uint16{1676, 2263, 20000} {
		data := slices.Clone(unpacked(t, "cpu-v6"))
		at := bytes.Index(data, binary.LittleEndian.AppendUint16(nil, 2026))
		if at < 0 || at > 100 {
			t.Fatalf("the year is at byte %d", at)
		}
		binary.LittleEndian.PutUint16(data[at:], year)
		dir := t.TempDir()
		write(t, dir, "far.nettrace", data)
		for _, args := range [][]string{
			{"to", "parquet", "--dataset", "set"}, {"to", "parquet", "-o", "tables/"}, {"to", "pprof", "-o", "a.pb.gz"},
			{"to", "chrome", "-o", "a.json"}, {"to", "perfetto", "-o", "a.pftrace"}, {"to", "firefox", "-o", "a.profile.json"},
			{"to", "speedscope", "-o", "a.speedscope.json"}, {"to", "nettrace", "-o", "a.nettrace"}, {"info"}, {"info", "--json"},
			{"print", "--json"}, {"top"},
		} {
			r := invoke(t, dir, nil, append(args, "far.nettrace")...)
			noted := strings.Contains(r.stderr, "bad-header") || strings.Contains(r.stdout, "not a date between 1678 and 2262")
			if r.code != exitOK || !noted && !slices.Contains(args, "--dataset") {
				t.Errorf("year %d, %q: code %d: %s", year, args, r.code, r.stderr)
			}
		}
		if traces := tracesOf(t, dir, filepath.Join(dir, "set")); len(traces) != 1 || !traces[0].Manifest.Start.IsZero() {
			t.Errorf("year %d: %d traces", year, len(traces))
		}
	}
}

// Each trace is added once, regardless of its compression and name. A corrupt trace is added as far as it can be read.
// A file that is not a trace is reported and prevents no other from being added.
func TestDataset(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	write(t, dir, "copy.nettrace", unpacked(t, "cpu-env"))
	write(t, dir, "noise.nettrace", []byte("this is not a trace"))
	write(t, dir, "list", []byte(trace(t, "threads")+"\n"))
	r := invoke(t, dir, nil, "to", "parquet", "--dataset", set, "--files-from", "list", "--jobs", "3",
		trace(t, "cpu-env"), "copy.nettrace", trace(t, "crash"), "noise.nettrace", trace(t, "jit"), "missing.nettrace")
	for _, want := range []string{"4 traces added (1 incomplete), 1 already there, 2 failed; ", "noise.nettrace: ", "missing.nettrace: ", "crash.nettrace.zst: "} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q does not contain %q", r.stderr, want)
		}
	}
	if r.code != exitInput {
		t.Errorf("code %d", r.code)
	}
	traces := tracesOf(t, dir, set)
	if len(traces) != 4 {
		t.Fatalf("%d traces", len(traces))
	}
	for _, tr := range traces {
		m := tr.Manifest
		if known := !strings.Contains(m.Source, "crash"); m.Events == 0 || m.Duration <= 0 || m.Start.IsZero() || known != (m.Service == "shop") || known != (m.Incomplete == "") {
			t.Errorf("%+v", m)
		}
		if want := filepath.Join("day=2026-11-21", "service="+strings.ReplaceAll(m.Service, ":", "%3A"), "trace="+m.UID); tr.Path != filepath.Join(set, want) {
			t.Errorf("%s, want %s", tr.Path, want)
		}
	}

	r = invoke(t, dir, nil, "to", "parquet", "--dataset", set, "--report", "json", trace(t, "jit"), "copy.nettrace")
	var report struct {
		Added  int `json:"added"`
		There  int `json:"already_there"`
		Traces []struct{ UID, Path, Status string }
	}
	if err := json.Unmarshal([]byte(r.stderr), &report); err != nil || r.code != exitOK || report.Added != 0 || report.There != 2 || len(report.Traces) != 2 || report.Traces[0].UID == "" {
		t.Errorf("code %d, %v: %s", r.code, err, r.stderr)
	}
}

// The service can be named, other keys partition another dataset, and standard input is an input.
func TestDatasetKeys(t *testing.T) {
	dir := t.TempDir()
	r := invoke(t, dir, unpacked(t, "cpu-v6"), "to", "parquet", "--dataset", "fleet", "--partition", "arch,service,hour", "--service", "till 1", "-")
	if r.code != exitOK {
		t.Fatal(r.stderr)
	}
	traces := tracesOf(t, dir, filepath.Join(dir, "fleet"))
	if len(traces) != 1 || !strings.Contains(traces[0].Path, "service=till%201") || !strings.Contains(traces[0].Path, "fleet/arch=") || !strings.Contains(traces[0].Path, "/hour=0") {
		t.Errorf("%+v", traces)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"to", "parquet", "--dataset", "fleet", "--partition", "day", "x"}, exitInput, "partitioned by arch,service,hour"},
		{[]string{"to", "parquet", "--dataset", "fleet", "--partition", "shoe", trace(t, "jit")}, exitUsage, `no such partition key: "shoe"`},
		{[]string{"to", "parquet", "--dataset", "fleet", "-o", "x", trace(t, "jit")}, exitUsage, "omit -o"},
		{[]string{"to", "parquet", "--dataset", "fleet", "--single", trace(t, "jit")}, exitUsage, "one file"},
		{[]string{"to", "parquet", "--dataset", "fleet", "-f", trace(t, "jit")}, exitUsage, "dataset rm"},
		{[]string{"to", "parquet", "--dataset", "fleet", "--jobs", "0", trace(t, "jit")}, exitUsage, "at least 1"},
		{[]string{"to", "parquet", "--partition", "day", trace(t, "jit")}, exitUsage, "--partition needs --dataset"},
		{[]string{"to", "parquet", "--dataset", "fleet"}, exitUsage, "no input given"},
		{[]string{"to", "parquet", "--dataset", "fleet", "nothing-*"}, exitInput, "no file matches"},
		{[]string{"info", "fleet"}, exitInput, "ntconv dataset ls fleet"},
		{[]string{"to", "parquet", "--dataset", "other", "fleet"}, exitInput, "ntconv dataset ls fleet"},
		{[]string{"dataset", "ls", "."}, exitInput, "not a dataset"},
		{[]string{"dataset", "ls", "missing"}, exitInput, "no such file"},
		{[]string{"dataset", "rm", "fleet"}, exitUsage, "nothing selected"},
		{[]string{"dataset", "rm", "fleet", "xyz"}, exitUsage, "first 4 digits"},
		{[]string{"dataset", "rm", "fleet", "--where", "day=1"}, exitUsage, "arch,service,hour"},
		{[]string{"dataset", "rm", "fleet", "--older-than", "1y"}, exitUsage, "36h or 30d"},
		{[]string{"dataset", "rm", "fleet", "0123456789abcdef"}, exitEmpty, "no trace is selected"},
		{[]string{"dataset", "rm", "fleet", traces[0].UID, "0123456789abcdef"}, exitEmpty, "has no trace 0123456789abcdef, and none was removed"},
		{[]string{"dataset", "frobnicate"}, exitUsage, "no command"},
	} {
		if c.args[len(c.args)-1] == "x" {
			c.args[len(c.args)-1], c.code = trace(t, "jit"), exitUsage
		}
		if r := invoke(t, dir, nil, c.args...); r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: code %d, want %d: %s, want %q", c.args, r.code, c.code, r.stderr, c.says)
		}
	}
}

// ls lists what rm removes, and verify names what was changed.
func TestDatasetCommands(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	if r := invoke(t, dir, nil, "to", "parquet", "-q", "--dataset", set, trace(t, "jit"), trace(t, "threads"), trace(t, "stress-drop")); r.code != exitOK || r.stderr != "" {
		t.Fatal(r.stderr)
	}
	traces := tracesOf(t, dir, set)
	r := invoke(t, dir, nil, "dataset", "ls", set)
	for _, tr := range traces {
		if !strings.Contains(r.stdout, tr.UID) {
			t.Errorf("%s lacks %s", r.stdout, tr.UID)
		}
	}
	var list []listedTrace
	r = invoke(t, dir, nil, "dataset", "ls", "--json", "--where", "service=shop", set)
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) != 2 || list[0].Keys["service"] != "shop" || list[0].Manifest.Events == 0 {
		t.Errorf("%v: %s", err, r.stdout)
	}
	for _, dry := range []bool{true, false} {
		args := []string{"dataset", "rm", set, "--where", "service=shop", list[0].UID[:6]}
		if dry {
			args = append(args, "--dry-run")
		}
		if r := invoke(t, dir, nil, args...); r.code != exitOK || !strings.Contains(r.stdout, list[0].Path) || strings.Count(r.stdout, "\n") != 1 {
			t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		if got := len(tracesOf(t, dir, set)); got != 3 && dry || got != 2 && !dry {
			t.Errorf("%d traces", got)
		}
	}
	traces = tracesOf(t, dir, set)
	if r := invoke(t, dir, nil, "dataset", "rm", set, traces[0].UID, "00000000"); r.code != exitEmpty || !strings.Contains(r.stderr, "has no trace 00000000") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	traces = tracesOf(t, dir, set)
	if len(traces) != 2 {
		t.Fatalf("%d traces", len(traces))
	}
	table := filepath.Join(traces[0].Path, "events.parquet")
	if err := os.Truncate(table, 100); err != nil {
		t.Fatal(err)
	}
	r = invoke(t, dir, nil, "dataset", "verify", set)
	if r.code != exitIncomplete || !strings.Contains(r.stdout, "events.parquet: the file has 100 bytes") || !strings.Contains(r.stdout, "ntconv dataset rm "+set+" "+traces[0].UID) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "dataset", "rm", set, "--older-than", "0s"); r.code != exitOK || strings.Count(r.stdout, "removed ") != 2 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if names := files(t, set); !slices.Equal(names, []string{"_dataset.json", "_staging"}) {
		t.Errorf("left: %q", names)
	}
}

// Traces that are converted concurrently do not share what was learned about one of them, such as its spans.
func TestDatasetJobs(t *testing.T) {
	dir := t.TempDir()
	args := []string{"to", "parquet", "-q"}
	for _, name := range []string{"spans-stop", "activities", "otel-cpu", "cpu-v6", "jit", "threads"} {
		args = append(args, trace(t, name))
	}
	files := make(map[string][]dataset.File)
	for _, jobs := range []string{"1", "8"} {
		set := filepath.Join(dir, jobs)
		if r := invoke(t, dir, nil, append(args, "--dataset", set, "--jobs", jobs)...); r.code != exitOK {
			t.Fatal(r.stderr)
		}
		for _, tr := range tracesOf(t, dir, set) {
			if jobs == "1" {
				files[tr.UID] = tr.Manifest.Files
			} else if !slices.Equal(files[tr.UID], tr.Manifest.Files) {
				t.Errorf("%s: the tables differ from those of one job", tr.Manifest.Source)
			}
		}
	}
	if len(files) != 6 {
		t.Errorf("%d traces", len(files))
	}
}
