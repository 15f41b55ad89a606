package command

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// fleet makes a directory of n different traces, each a recorded trace truncated at a different place, and returns its
// name.
func fleet(t *testing.T, dir string, n int) string {
	t.Helper()
	data := unpacked(t, "cpu-v6")
	must(t, os.Mkdir(filepath.Join(dir, "traces"), 0o700))
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
	must(t, err)
	traces, err := d.Traces()
	must(t, err)
	return traces
}

// A trace that another run is adding is not there yet: the run ends with 3, and the next one adds it.
func TestDatasetBusy(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, "jit"))
	d, err := dataset.Open(set)
	must(t, err)
	sum := sha256.Sum256(unpacked(t, "threads"))
	other, err := d.Begin(sum[:], nil)
	must(t, err)
	args := []string{"to", "parquet", "--dataset", set, trace(t, "threads"), trace(t, "empty")}
	r := invoke(t, dir, nil, args...)
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "threads.nettrace.zst: another run is adding it") ||
		!strings.Contains(r.stderr, "1 trace added, 1 being added by another run") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	must(t, other.Abort())
	if r := succeed(t, dir, args...); !strings.Contains(r.stderr, "1 trace added, 1 already there") {
		t.Errorf("then: %s", r.stderr)
	}
	if len(tracesOf(t, dir, set)) != 3 {
		t.Error("not all traces are there")
	}
}

// A dataset is created when an input has been opened, and not before: a wrong name or flag leaves nothing.
func TestDatasetNotCreated(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "words.txt", []byte("no trace"))
	in := trace(t, "empty")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitInput, "MISTYPED: open: no such file", []string{"MISTYPED"}},
		{exitInput, "MISTYPED: open: no such file", []string{"words.txt", "MISTYPED"}},
		{exitUsage, `--partition: no such partition key: ""`, []string{"--partition", "", in}},
		{exitUsage, `--partition: no such partition key: "color"`, []string{"--partition", "color", in}},
		{exitUsage, "--service __HIVE_DEFAULT_PARTITION__: query engines read this name as NULL", []string{"--service", "__HIVE_DEFAULT_PARTITION__", in}},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", "fleet"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
		if exists(filepath.Join(dir, "fleet")) {
			t.Fatalf("%q: the dataset was created", c.args)
		}
	}
	r := invoke(t, dir, nil, "to", "parquet", "--dataset", "fleet", "--typed", "none", "MISTYPED", in, trace(t, "jit"))
	if r.code != exitInput || len(tracesOf(t, dir, filepath.Join(dir, "fleet"))) != 2 {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	for _, inner := range []string{"fleet/trace=0123456789abcdef", "fleet/events/more"} {
		if r := invoke(t, dir, nil, "to", "parquet", "--dataset", inner, in); r.code != exitUsage || !strings.Contains(r.stderr, inner+": not a dataset: the directory is in the dataset ") {
			t.Errorf("%s: code %d: %s", inner, r.code, r.stderr)
		}
	}
	if got := len(tracesOf(t, dir, filepath.Join(dir, "fleet"))); got != 2 { // which verifies it, too
		t.Errorf("%d traces", got)
	}
	// Of a run that was killed while it created a dataset.
	must(t, os.MkdirAll(filepath.Join(dir, "begun", "_staging"), 0o700))
	for _, verb := range []string{"ls", "verify"} {
		if r := invoke(t, dir, nil, "dataset", verb, "begun"); r.code != exitInput ||
			!strings.Contains(r.stderr, "begun: not a dataset: its creation was interrupted; the next run finishes it: ntconv to parquet --dataset begun TRACE") {
			t.Errorf("%s: code %d: %s", verb, r.code, r.stderr)
		}
	}
	succeed(t, dir, "to", "parquet", "--dataset", "begun", "--typed", "none", in)
}

// Traces are selected by partition values, and removed by all forms of their names.
func TestDatasetSelection(t *testing.T) {
	dir := t.TempDir()
	add := func(service string, names ...string) {
		args := []string{"to", "parquet", "-q", "--dataset", "fleet", "--typed", "none", "--partition", "hour,service,host", "--service", service}
		for _, name := range names {
			args = append(args, trace(t, name))
		}
		succeed(t, dir, args...)
	}
	add("NULL", "jit")
	add("till", "threads", "empty", "activities")
	for where, want := range map[string]int{
		"hour=6": 4, "hour=06": 4, "hour=07": 0, "service=NULL": 1, "service=till": 3, "service=null": 0, "service=": 0, "host=": 4,
		"host=__HIVE_DEFAULT_PARTITION__": 4,
	} {
		r := invoke(t, dir, nil, "dataset", "ls", "fleet", "--where", where)
		if got := strings.Count(r.stdout, ".nettrace"); got != want || r.code != map[bool]int{true: exitOK, false: exitEmpty}[want > 0] {
			t.Errorf("%s: code %d, %d traces, want %d: %s", where, r.code, got, want, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "dataset", "ls", "fleet", "--json", "--where", "service=shop"); r.code != exitEmpty || r.stdout != "[]\n" ||
		!strings.Contains(r.stderr, "fleet: no trace is selected; ntconv dataset ls fleet lists all") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "dataset", "ls", "fleet", "--where", "day=2026-11-21"); r.code != exitUsage || !strings.Contains(r.stderr, "KEY is one of hour,service,host") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	must(t, os.Mkdir(filepath.Join(dir, "other"), 0o700))
	traces := tracesOf(t, dir, filepath.Join(dir, "fleet"))
	for _, wrong := range []string{"other/trace=" + traces[0].UID, "fleet/" + traces[0].UID, "trace=", "trace=xyzxyz"} {
		if r := invoke(t, dir, nil, "dataset", "rm", "fleet", wrong); r.code != exitUsage {
			t.Errorf("%s: code %d: %s", wrong, r.code, r.stderr)
		}
	}
	succeed(t, dir, "dataset", "rm", "fleet", "trace="+traces[0].UID, filepath.Join(dir, "fleet", "trace="+traces[1].UID), strings.ToUpper(traces[2].UID), "fleet/trace="+traces[3].UID+"/")
	if left := tracesOf(t, dir, filepath.Join(dir, "fleet")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// A dataset has no files that are traces.
	for _, args := range [][]string{{"info", "fleet/**/trace=*"}, {"info", "fleet/events"}, {"to", "parquet", "--dataset", "new", "fleet/trace=*"}} {
		r := invoke(t, dir, nil, args...)
		if r.code != exitInput || !strings.Contains(r.stderr, "a file of a dataset has the rows of many traces, and is not a trace; ntconv dataset ls ") ||
			!strings.Contains(r.stderr, "fleet lists its traces, each of which is an input: ") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
}

// A message about an incomplete trace of a dataset has the name of the trace once.
func TestDatasetIncompleteCopy(t *testing.T) {
	dir := t.TempDir()
	data := unpacked(t, "jit")
	write(t, dir, "cut.nettrace", data[:len(data)/2])
	invoke(t, dir, nil, "to", "parquet", "--dataset", "fleet", "--typed", "none", "cut.nettrace")
	name := tracesOf(t, dir, filepath.Join(dir, "fleet"))[0].UID
	r := invoke(t, dir, nil, "to", "parquet", "--dataset", "copy", "fleet/trace="+name)
	if r.code != exitIncomplete || strings.Count(r.stderr, "fleet/trace="+name+": ") != 1 {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// A part of a trace is not the whole: the whole replaces it, and other settings are refused unless they are to replace.
func TestDatasetParts(t *testing.T) {
	dir := t.TempDir()
	set, in := filepath.Join(dir, "fleet"), trace(t, "cpu-env")
	sizes := map[string]int64{} // events by selection
	for _, c := range []struct {
		args, says string
		code       int
		selection  string
	}{
		{"--event GC*", "1 trace added", exitOK, "--event GC*"},
		{"--event GC*", "1 already there", exitOK, "--event GC*"},
		{"--event Thread*", "the dataset has it with --event GC*, and this run has --event Thread*; add --replace to replace it", exitUsage, "--event GC*"},
		{"--raw", "the dataset has it with --event GC*, and this run has --raw", exitUsage, "--event GC*"},
		{"", "1 trace added", exitOK, ""},
		{"", "1 already there", exitOK, ""},
		{"--event GC*", "the dataset has it with all events and the default settings, and this run has --event GC*", exitUsage, ""},
		{"--raw --replace", "1 trace added", exitOK, ""},
		{"--raw --replace", "1 already there", exitOK, ""},
		{"--raw --replace --service other", "1 trace added", exitOK, ""}, // in another directory
		{"--raw --service third", "the dataset has it with --service other, and this run has --service third; add --replace", exitUsage, ""},
		{"--event GC* --replace", "1 trace added", exitOK, "--event GC*"},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", set, in}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: code %d, want %d: %s\nwant %s", c.args, r.code, c.code, r.stderr, c.says)
		}
		traces := tracesOf(t, dir, set)
		if len(traces) != 1 || traces[0].Manifest.Selection != c.selection {
			t.Fatalf("%s: %d traces, %+v", c.args, len(traces), traces[0].Manifest)
		}
		events := traces[0].Manifest.Events
		if known, ok := sizes[c.selection]; ok && known != events {
			t.Errorf("%s: %d events, before %d", c.args, events, known)
		}
		sizes[c.selection] = events
		marked := strings.Contains(succeed(t, dir, "dataset", "ls", set).stdout, message.Group(events)+"+ ")
		verified := strings.Contains(succeed(t, dir, "dataset", "verify", set).stdout, "; 1 trace has a selection of events")
		if part := c.selection != ""; marked != part || verified != part {
			t.Errorf("%s: marked %v, verified %v", c.args, marked, verified)
		}
	}
	if part, whole := sizes["--event GC*"], sizes[""]; part == 0 || part >= whole {
		t.Errorf("%d of %d events", part, whole)
	}
}

// verify names what was changed in a dataset, and how to repair it.
func TestDatasetVerify(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, "jit"), trace(t, "threads"))
	traces := tracesOf(t, dir, set)
	c := traces[0].Commit
	events := slices.IndexFunc(c.Files, func(f dataset.File) bool { return f.Table == "events" })
	must(t, os.Truncate(filepath.Join(set, filepath.FromSlash(c.Files[events].Path)), 100))
	r := invoke(t, dir, nil, "dataset", "verify", set)
	if r.code != exitIncomplete || !strings.Contains(r.stdout, ".parquet: the file has 100 bytes") || !strings.Contains(r.stdout, "ntconv dataset rm "+set+" ") || !strings.Contains(r.stdout, traces[0].UID) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "dataset", "rm", set, traces[0].UID, "00000000"); r.code != exitEmpty || !strings.Contains(r.stderr, "has no trace 00000000") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	// Traces that share a damaged file are removed together.
	repair := regexp.MustCompile(`(?m)^to restore what is damaged: ntconv (.*), and add the traces again$`).FindStringSubmatch(r.stdout)
	if repair == nil {
		t.Fatalf("no repair: %s", r.stdout)
	}
	args := strings.Fields(repair[1])
	if succeed(t, dir, args...); len(tracesOf(t, dir, set)) != 2-len(args[3:]) {
		t.Error("a damaged trace is still there")
	}
}

// Traces that are converted concurrently do not share what was learned about one of them, such as its spans.
func TestDatasetJobs(t *testing.T) {
	dir := t.TempDir()
	args := []string{"to", "parquet", "-q"}
	for _, name := range []string{"spans-stop", "activities", "otel-cpu", "cpu-v6", "jit", "threads"} {
		args = append(args, trace(t, name))
	}
	files := make(map[string]string)
	for _, jobs := range []string{"1", "8"} {
		set := filepath.Join(dir, jobs)
		succeed(t, dir, append(args, "--dataset", set, "--jobs", jobs)...)
		for _, tr := range tracesOf(t, dir, set) {
			d, err := dataset.Open(set)
			must(t, err)
			out := filepath.Join(t.TempDir(), "tables")
			must(t, d.Extract(tr.UID, out))
			sum := sha256.New()
			for _, name := range namesIn(t, out) {
				data, err := os.ReadFile(filepath.Join(out, name))
				must(t, err)
				if name != dataset.ManifestName {
					fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(data))
				}
			}
			got := fmt.Sprintf("%x", sum.Sum(nil))
			if jobs == "1" {
				files[tr.UID] = got
			} else if files[tr.UID] != got {
				t.Errorf("%s: the tables differ from those of one job", tr.Manifest.Source)
			}
		}
	}
	if len(files) != 6 {
		t.Errorf("%d traces", len(files))
	}
}

// namesIn returns the names of the files in a directory, sorted.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// oldDataset makes a dataset of layout 1 from the tables of a trace.
func oldDataset(t *testing.T, dir, tables string, trace []byte) {
	t.Helper()
	at := filepath.Join(dir, "day=2026-11-21", "service=till", "trace=0123456789abcdef")
	must(t, os.CopyFS(at, os.DirFS(tables)))
	m := fmt.Sprintf(`{"uid": "0123456789abcdef", "sha256": "%x", "source": "was.nettrace", "size": 7, "format": "nettrace 4", "start": "2026-11-21T06:52:56Z", "service": "till", "selection": "--event *", "schema": 1}`,
		sha256.Sum256(trace))
	must(t, os.WriteFile(filepath.Join(at, dataset.ManifestName), []byte(m), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, dataset.ConfigName), []byte(`{"layout": 1, "schema": 1, "partition": ["day", "service"], "ntconv_version": "v0.9"}`), 0o600))
}

// A dataset of layout 1 is refused with the command that moves it. What is moved keeps its identity, service and selection, so that
// the trace itself is then there.
func TestDatasetMoved(t *testing.T) {
	dir := t.TempDir()
	tables, set := filepath.Join(dir, "tables"), filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", trace(t, "jit"), "-o", tables+"/")
	oldDataset(t, filepath.Join(dir, "old"), tables, unpacked(t, "jit"))
	r := invoke(t, dir, nil, "dataset", "ls", "old")
	if r.code != exitInput || !strings.Contains(r.stderr, "written by ntconv v0.9") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	_, move, ok := strings.Cut(strings.TrimSpace(r.stderr), "move its traces to a new dataset: ntconv ")
	if !ok {
		t.Fatal(r.stderr)
	}
	succeed(t, dir, shellWords(t, "ntconv "+strings.Replace(move, "NEW", "fleet", 1))...)
	traces := tracesOf(t, dir, set)
	m := traces[0].Manifest
	if len(traces) != 1 || m.Service != "till" || m.Source != "was.nettrace" || m.Selection != "--event *" || m.SHA256 != fmt.Sprintf("%x", sha256.Sum256(unpacked(t, "jit"))) {
		t.Errorf("%+v", m)
	}
	// The whole replaces the part.
	if r := succeed(t, dir, "to", "parquet", "--dataset", set, trace(t, "jit")); !strings.Contains(r.stderr, "1 trace added") {
		t.Errorf("the trace itself: %s", r.stderr)
	}
	if r := succeed(t, dir, "to", "parquet", "--dataset", set, trace(t, "jit")); !strings.Contains(r.stderr, "1 already there") {
		t.Errorf("the trace itself, again: %s", r.stderr)
	}
}

// A trace of a dataset is an input of every command, by its name, and has the events that were added. A copy in another dataset is
// the same trace.
func TestDatasetInputs(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	names := []string{"jit", "threads", "activities"}
	args := []string{"to", "parquet", "-q", "--dataset", set}
	for _, name := range names {
		args = append(args, trace(t, name))
	}
	succeed(t, dir, args...)
	for _, tr := range tracesOf(t, dir, set) {
		source := tr.Manifest.Source
		want := succeed(t, dir, "print", "--json", source).stdout
		if got := succeed(t, dir, "print", "--json", tr.Path).stdout; got != want || strings.Count(got, "\n") < 30 {
			t.Errorf("%s: %d bytes, want %d", source, len(got), len(want))
		}
		copied := filepath.Join(dir, "copy")
		succeed(t, dir, "to", "parquet", "-q", "--dataset", copied, tr.Path)
		if r := succeed(t, dir, "to", "parquet", "--dataset", copied, source); !strings.Contains(r.stderr, "1 already there") {
			t.Errorf("%s: the trace after its copy: %s", source, r.stderr)
		}
	}
	if got := tracesOf(t, dir, filepath.Join(dir, "copy")); len(got) != len(names) {
		t.Errorf("%d traces in the copy", len(got))
	}
	if r := invoke(t, dir, nil, "info", filepath.Join(set, "trace=0123456789abcdef")); r.code != exitInput || !strings.Contains(r.stderr, "trace=0123456789abcdef") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// A trace that was added while it was recorded is replaced by what was recorded until later.
func TestDatasetGrowing(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	data := unpacked(t, "jit")
	other := unpacked(t, "threads")
	events := int64(0)
	for i, length := range []int{len(data) / 2, len(data) / 4 * 3, len(data)} {
		write(t, dir, "app.nettrace", data[:length])
		r := invoke(t, dir, nil, "to", "parquet", "--dataset", set, "app.nettrace")
		if want := map[bool]int{true: exitOK, false: exitIncomplete}[i == 2]; r.code != want || !strings.Contains(r.stderr, "1 trace added") {
			t.Fatalf("%d bytes: code %d: %s", length, r.code, r.stderr)
		}
		traces := tracesOf(t, dir, set)
		if len(traces) != 1 || traces[0].Manifest.Events <= events {
			t.Fatalf("%d bytes: %d traces, %+v", length, len(traces), traces[0].Manifest)
		}
		events = traces[0].Manifest.Events
	}
	write(t, dir, "app.nettrace", other) // another recording with this name
	succeed(t, dir, "to", "parquet", "--dataset", set, "app.nettrace")
	if got := len(tracesOf(t, dir, set)); got != 2 {
		t.Errorf("%d traces", got)
	}
	// A part of what was recorded later does not replace the whole of the beginning.
	write(t, dir, "b.nettrace", data[:len(data)/2])
	set = filepath.Join(dir, "parts")
	invoke(t, dir, nil, "to", "parquet", "--dataset", set, "b.nettrace")
	write(t, dir, "b.nettrace", data)
	if r := invoke(t, dir, nil, "to", "parquet", "--dataset", set, "--event", "GC*", "b.nettrace"); r.code != exitUsage || !strings.Contains(r.stderr, "add --replace to replace it") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// Tables of event types are the same in all datasets: a trace with few events of a type has its rows in the table, and one without
// has none.
func TestDatasetTyped(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, "alloc-verbose"), trace(t, "jit"), trace(t, "activities"))
	d, err := dataset.Open(set)
	must(t, err)
	commits, err := d.Commits()
	must(t, err)
	rows := make(map[string]int64)
	for _, c := range commits {
		for _, f := range c.Files {
			rows[f.Table] += f.Rows
		}
	}
	for table, want := range map[string]int64{
		"event_clr_GCAllocationTick": 62, "event_clr_ExceptionThrown": 0, "event_clr_FinalizeObject": 124, "event_rundown_MethodDCEndVerbose": 855 + 704,
	} {
		if got, ok := rows[table]; !ok || table != "event_rundown_MethodDCEndVerbose" && got != want || want > 0 && got == 0 {
			t.Errorf("%s: %d rows, want %d", table, got, want)
		}
	}
	if len(rows) < 180 {
		t.Errorf("%d tables", len(rows))
	}
	for _, c := range []struct{ args, says string }{
		{"--typed-rows 5", "does not depend on the number of events; omit it"},
		{"--typed Shop/*", "its typed tables are those of the runtime, not Shop/*; omit --typed, or add to another dataset"},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", set, trace(t, "threads")}, strings.Fields(c.args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: code %d: %s", c.args, r.code, r.stderr)
		}
	}
	// --typed is a property of the dataset: later runs need not repeat it.
	other := filepath.Join(dir, "other")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", other, "--typed", "Shop-Activities/*", trace(t, "jit"))
	succeed(t, dir, "to", "parquet", "-q", "--dataset", other, trace(t, "activities"))
	found, err := filepath.Glob(filepath.Join(other, "event_Shop_Activities_*", "*", "*", "*.parquet"))
	if err != nil || len(found) == 0 {
		t.Errorf("%q, %v", found, err)
	}
}

// optimize joins files without changing what the dataset has.
func TestDatasetOptimize(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	names := []string{"jit", "threads", "activities", "empty", "cpu-v6"}
	for _, name := range names {
		succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, name))
	}
	print := func() (text string) {
		for _, tr := range tracesOf(t, dir, set) {
			text += succeed(t, dir, "print", tr.Path).stdout
		}
		return text
	}
	before, files := print(), len(namesBelow(t, set))
	r := succeed(t, dir, "dataset", "optimize", set)
	if !strings.HasPrefix(r.stdout, "5 traces were joined: ") {
		t.Error(r.stdout)
	}
	if after := print(); after != before || len(before) < 10_000 {
		t.Errorf("%d bytes of events, before %d", len(after), len(before))
	}
	if got := len(namesBelow(t, set)); got >= files {
		t.Errorf("%d files, before %d", got, files)
	}
	if r := succeed(t, dir, "dataset", "optimize", set); !strings.HasPrefix(r.stdout, "0 traces were joined: ") {
		t.Errorf("again: %s", r.stdout)
	}
	if r := succeed(t, dir, "dataset", "optimize", "--json", "--older-than", "0s", set); !strings.Contains(r.stdout, `"expired": 5`) || len(tracesOf(t, dir, set)) != 0 {
		t.Errorf("%s", r.stdout)
	}
}

// Parquet is read from a pipe and from compressed files as from a file, within the limit of temporary files.
func TestParquetPipes(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "to", "parquet", "-q", trace(t, "jit"), "-o", "events.parquet")
	data, err := os.ReadFile(filepath.Join(dir, "events.parquet"))
	must(t, err)
	want := succeed(t, dir, "print", "events.parquet").stdout
	if strings.Count(want, "\n") < 1000 {
		t.Fatalf("%d bytes of events", len(want))
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(data)
	must(t, z.Close())
	write(t, dir, "events.parquet.gz", packed.Bytes())
	if got := succeed(t, dir, "print", "events.parquet.gz").stdout; got != want {
		t.Errorf("compressed: %d bytes of events, want %d", len(got), len(want))
	}
	for name, in := range map[string][]byte{"a pipe": data, "compressed in a pipe": packed.Bytes()} {
		if r := invoke(t, dir, in, "print", "-"); r.code != exitOK || r.stdout != want {
			t.Errorf("%s: code %d, %d bytes of events, want %d: %s", name, r.code, len(r.stdout), len(want), r.stderr)
		}
		if r := invoke(t, dir, in, "to", "pprof", "--kind", "wall", "-f", "-", "-o", "p.pb.gz"); r.code != exitOK && r.code != exitEmpty { // read twice
			t.Errorf("%s: code %d: %s", name, r.code, r.stderr)
		}
	}
	if r := invoke(t, dir, data[:len(data)-100], "print", "-"); r.code != exitInput || !strings.Contains(r.stderr, "truncated") {
		t.Errorf("cut: code %d: %s", r.code, r.stderr)
	}
	if r := invoke(t, dir, data, "print", "--max-spool", "10000", "-"); r.code != exitLimit {
		t.Errorf("with a limit: code %d: %s", r.code, r.stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "ntconv-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
