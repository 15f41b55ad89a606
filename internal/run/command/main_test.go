package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The test binary is the command itself when this variable is set, so that tests see what a shell sees.
const asCommand = "NTCONV_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if into := os.Getenv(asMeter); into != "" {
		meter(into)
	}
	if os.Getenv(asCommand) != "" {
		limitFiles()
		registerTestRunner()
		Main()
	}
	// The files of this machine must not change outputs.
	if err := os.Setenv(formats.EnvLocalSymbols, "false"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A result is what a run of the command has left.
type result struct {
	code   int
	stdout string
	stderr string
}

// command prepares a run of the command in a directory.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+dir)
	return cmd
}

// invoke runs the command with bytes on standard input.
func invoke(t *testing.T, dir string, stdin []byte, args ...string) result {
	t.Helper()
	cmd := command(t, dir, args...)
	// A pipe, not a file: it cannot be read again.
	cmd.Stdin = struct{ io.Reader }{bytes.NewReader(stdin)}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	return result{exitCode(t, cmd.Run()), out.String(), errs.String()}
}

// succeed runs the command, which must succeed.
func succeed(t *testing.T, dir string, args ...string) result {
	t.Helper()
	r := invoke(t, dir, nil, args...)
	if r.code != exitOK {
		t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
	}
	return r
}

// must ends the test with an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// decode decodes JSON text.
func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
}

// contentAt returns the contents of a file.
func contentAt(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

// trace returns the path of a trace.
func trace(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../../../testdata/" + name + ".nettrace.zst")
	must(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// unpacked returns the decompressed bytes of a trace.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	return corpus.Trace(t, name).Data
}

// someTraces returns the traces of testdata; in short mode one of each kind, because every command is a process of its
// own and takes long to start with the race detector.
func someTraces(t *testing.T) []corpus.File {
	t.Helper()
	all := corpus.Traces(t)
	if len(all) < 20 {
		t.Fatalf("only %d traces", len(all))
	}
	if testing.Short() {
		all = slices.DeleteFunc(all, func(f corpus.File) bool {
			return !slices.Contains([]string{"cpu-env", "cpu-v6", "jit", "sources-netperf3", "stress-cut", "threads"}, f.Name)
		})
	}
	return all
}

// files returns the names in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, b, 0o600))
	return path
}

// profileAt parses an output, with pprof's own library.
func profileAt(t *testing.T, path string) *profile.Profile {
	t.Helper()
	b := contentAt(t, path)
	p, err := profile.ParseData(b)
	must(t, err)
	return p
}

// treeOf returns the names and contents of all files below a directory.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		content := "/"
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("=%.20q ", data)
		}
		b.WriteString(name + content)
		return nil
	})
	must(t, err)
	return b.String()
}

// Pipes: input from one that cannot be read twice, output to one. Names come last in a trace, so some commands keep the
// input in a temporary file, of which nothing is left.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"to", "pprof", "-o", "-"}, {"print", "--json", "--frames", "--event", "ThreadSample", "--from-time=-100ms"},
		{"filter", "--provider", "Microsoft-DotNETCore-SampleProfiler", "-o", "-"},
		{"filter", "--provider", "Microsoft-DotNETCore-SampleProfiler", "--keep-symbols=false", "-o", "-"},
	} {
		piped, read := invoke(t, dir, unpacked(t, "cpu-env"), append(args, "-")...), succeed(t, dir, append(args, trace(t, "cpu-env"))...)
		if piped.code != exitOK || piped.stdout != read.stdout || piped.stdout == "" {
			t.Errorf("%q: code %d, %d bytes, %d from a file: %s", args, piped.code, len(piped.stdout), len(read.stdout), piped.stderr)
		}
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}

// lines returns the JSON lines of an output.
func lines(t *testing.T, out string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for l := range strings.Lines(out) {
		var m map[string]any
		decode(t, []byte(l), &m)
		list = append(list, m)
	}
	return list
}

func TestPrintJSON(t *testing.T) {
	dir := t.TempDir()
	r := invoke(t, dir, nil, "print", "--json", "--crc", "--hex", "--stacks", trace(t, "cpu-env"))
	all := lines(t, r.stdout)
	if r.code != exitOK || len(all) != 1786 {
		t.Fatalf("code %d, %d lines: %s", r.code, len(all), r.stderr)
	}
	for i, m := range all {
		for _, key := range []string{"ticks", "time", "pid", "tid", "provider", "id", "version", "event", "opcode", "level", "keywords", "size", "crc32", "payload_hex"} {
			if _, ok := m[key]; !ok {
				t.Fatalf("line %d without %s: %v", i, key, m)
			}
		}
		if i > 0 && m["time"].(string) < all[i-1]["time"].(string) {
			t.Fatalf("line %d is earlier than the one before", i)
		}
	}
	file := invoke(t, dir, nil, "print", "--json", "--order", "file", "-q", trace(t, "cpu-env"))
	if file.code != exitOK || file.stderr != "" || len(lines(t, file.stdout)) != len(all) {
		t.Errorf("file order: code %d, %s", file.code, file.stderr)
	}
}

// A selection prints the lines that a search in the whole output finds.
func TestSelection(t *testing.T) {
	dir := t.TempDir()
	const sync = 2428275000097 // of the trace
	all := lines(t, invoke(t, dir, nil, "print", "--json", trace(t, "cpu-env")).stdout)
	last := all[len(all)-1]["ticks"].(float64)
	for _, c := range []struct {
		args []string
		keep func(map[string]any) bool
	}{
		{[]string{"--provider", "*runtime"}, func(m map[string]any) bool { return m["provider"] == "Microsoft-Windows-DotNETRuntime" }},
		{[]string{"--event", "ThreadSample,GC*"}, func(m map[string]any) bool {
			return m["event"] == "ThreadSample" || strings.HasPrefix(m["event"].(string), "GC")
		}},
		{[]string{"--event", "80", "--event", "0"}, func(m map[string]any) bool { return m["id"] == 80.0 || m["id"] == 0.0 }},
		{[]string{"--tid", "15673"}, func(m map[string]any) bool { return m["tid"] == 15673.0 }},
		{[]string{"--from-time", "100ms", "--to-time", "300ms"}, func(m map[string]any) bool {
			at := m["ticks"].(float64) - sync
			return at >= 100e6 && at < 300e6
		}},
		{[]string{"--from-time", "-50ms"}, func(m map[string]any) bool { return m["ticks"].(float64) >= last-50e6 }},
		{[]string{"--to-time", "2026-11-21T06:52:53.5Z"}, func(m map[string]any) bool { return m["time"].(string) < "2026-11-21T06:52:53.5" }},
	} {
		want := 0
		for _, m := range all {
			if c.keep(m) {
				want++
			}
		}
		got := lines(t, invoke(t, dir, nil, append([]string{"print", "--json", trace(t, "cpu-env")}, c.args...)...).stdout)
		if want == 0 || want == len(all) {
			t.Errorf("%q: selects %d of %d, which shows nothing", c.args, want, len(all))
		}
		if len(got) != want || slices.ContainsFunc(got, func(m map[string]any) bool { return !c.keep(m) }) {
			t.Errorf("%q: %d events, want %d", c.args, len(got), want)
		}
	}
}

// table removes the lines above the list.
func table(report string) string {
	_, rest, _ := strings.Cut(report, "      flat")
	return rest
}

func TestReportJSON(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"to", "pprof", "-o", "a", trace(t, "cpu-env")}, exitOK},
		{[]string{"to", "pprof", "-o", "b", trace(t, "empty")}, exitEmpty},
		{[]string{"print", "-o", "c", trace(t, "crash")}, exitIncomplete},
		{[]string{"info", "nowhere"}, exitInput},
		{[]string{"top", trace(t, "cpu-env")}, exitOK},
	} {
		r := invoke(t, dir, nil, append(c.args, "--report", "json")...)
		var s summaryJSON
		if err := json.Unmarshal([]byte(r.stderr), &s); err != nil || strings.Count(r.stderr, "\n") != 1 {
			t.Fatalf("%q: %v: %s", c.args, err, r.stderr)
		}
		if r.code != c.code || s.Exit != c.code || (s.Error == "") != (c.code == exitOK) || s.Input != c.args[len(c.args)-1] {
			t.Errorf("%q: code %d, %+v", c.args, r.code, s)
		}
		if !strings.Contains(r.stderr, `"report":[`) {
			t.Errorf("%q: the report is not a list: %s", c.args, r.stderr)
		}
		if c.args[0] == "print" && (len(s.Report) == 0 || s.Report[0].Code != "truncated" || s.Report[0].Offset == nil) {
			t.Errorf("%q: no truncation with its place in %+v", c.args, s.Report)
		}
	}
}

func TestVersion(t *testing.T) {
	a, b := invoke(t, t.TempDir(), nil, "version"), invoke(t, t.TempDir(), nil, "--version")
	if a.code != exitOK || a.stdout != b.stdout || !strings.HasPrefix(a.stdout, "ntconv ") || !strings.Contains(a.stdout, "go1.") {
		t.Errorf("code %d: %s%s", a.code, a.stdout, a.stderr)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := invoke(t, t.TempDir(), nil, "completion", shell); r.code != exitOK || len(r.stdout) < 1000 {
			t.Errorf("%s: code %d, %d bytes", shell, r.code, len(r.stdout))
		}
	}
	writable, readable := slices.Sorted(slices.Values(formats.NamesOf(formats.Writable()))), slices.Sorted(slices.Values(formats.NamesOf(formats.Readable())))
	for args, want := range map[string]string{
		"to|": writable[0], "from|": readable[0], "from|pprof|to|": writable[0], "convert|--to|": strings.Join(formats.NamesOf(formats.Writable()), "\n"),
		"info|--from|": strings.Join(formats.NamesOf(formats.Readable()), "\n"), "print|--order|": "time\nfile", "to|pprof|--kind|": "auto\nwall\ncpu",
		"top|": "nettrace", "help|": "collect\t", "help|to|": writable[0], "help|wh": "where\t", "help|li": "limits\t",
		"verify|--ignore|": "marks", "verify|--ignore|damage,ma": "damage,marks", "verify|--ignore|damage,dam": ":",
		"top|--provider|System.Net.H": "System.Net.Http\n", "top|--provider|System.Runtime,System.Net.H": "System.Runtime,System.Net.Http\n",
		"print|--event|ExceptionTh": "ExceptionThrown", "top|--where|": "$time\n", "top|--tid|": ":4", "top|--focus|": ":4",
		"to|pprof|--span-link|label,": "label,activity\nlabel,thread\n:", "top|--base|": "nettrace", "to|pprof|-o|": ":0",
		"top|--max-thr": "--max-threads\t", "top|--names|": "pretty\nshort\nraw",
	} {
		r := invoke(t, t.TempDir(), nil, append([]string{"__complete"}, strings.Split(args, "|")...)...)
		if r.code != exitOK || !strings.HasPrefix(r.stdout, want) {
			t.Errorf("%s: code %d: %s", args, r.code, r.stdout)
		}
	}
}
