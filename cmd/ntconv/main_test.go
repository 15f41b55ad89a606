package main

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
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/spf13/cobra"
)

// The test binary is the command itself when this variable is set, so that tests see what a shell sees.
const asCommand = "NTCONV_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if into := os.Getenv(asMeter); into != "" {
		meter(into)
	}
	if os.Getenv(asCommand) != "" {
		limitFiles()
		main()
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
	if err != nil {
		t.Fatal(err)
	}
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
	path, err := filepath.Abs("../../testdata/" + name + ".nettrace.zst")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// profileAt parses an output, with pprof's own library.
func profileAt(t *testing.T, path string) *profile.Profile {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "x.pb.gz", []byte("precious"))
	r := invoke(t, dir, nil, "convert", trace(t, "cpu-env"), "x.pb.gz")
	if r.code != exitOutput || !strings.Contains(r.stderr, "x.pb.gz") || !strings.Contains(r.stderr, "-f") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Fatalf("%q, %v", b, err)
	}
	// A run that fails does no harm to the file that it was to replace.
	if r := invoke(t, dir, nil, "convert", "-f", trace(t, "empty"), "x.pb.gz"); r.code != exitEmpty {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Fatalf("%q, %v", b, err)
	}
	if r := invoke(t, dir, nil, "convert", "-f", trace(t, "cpu-env"), "x.pb.gz"); r.code != exitOK {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if p := profileAt(t, path); len(p.Sample) == 0 {
		t.Error("no samples")
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files %q", got)
	}
}

// Pipes: input from one that cannot be read twice, output to one.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	r := invoke(t, dir, unpacked(t, "cpu-env"), "to", "pprof", "-")
	if r.code != exitOK || strings.Contains(r.stdout, "nettrace 4)") {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	piped, err := profile.ParseData([]byte(r.stdout))
	if err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, dir, nil, "to", "pprof", trace(t, "cpu-env")); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	if a, b := piped.String(), profileAt(t, filepath.Join(dir, "cpu-env.pb.gz")).String(); a != b {
		t.Error("another profile than from a file")
	}

	// Names come last: a pipe is kept in a temporary file, and nothing is left of that.
	os.Remove(filepath.Join(dir, "cpu-env.pb.gz"))
	args := []string{"print", "--json", "--frames", "--event", "ThreadSample", "--from-time=-100ms"}
	a, b := invoke(t, dir, unpacked(t, "cpu-env"), append(args, "-")...), invoke(t, dir, nil, append(args, trace(t, "cpu-env"))...)
	if a.code != exitOK || a.stdout != b.stdout || !strings.Contains(a.stdout, `"Shop.Cpu.Spin(double)"`) {
		t.Errorf("codes %d and %d, %d and %d bytes, %s%s", a.code, b.code, len(a.stdout), len(b.stdout), a.stderr, b.stderr)
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
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
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

// Marks are printed where they belong to what is selected: everything, or a time that they lie in.
func TestPrintMarks(t *testing.T) {
	marks := func(flags ...string) int {
		r := invoke(t, t.TempDir(), nil, append(append([]string{"print"}, flags...), trace(t, "threads-reused"))...)
		if r.code != exitOK {
			t.Fatalf("%q: code %d: %s", flags, r.code, r.stderr)
		}
		return strings.Count(r.stdout, "  -- sequence point")
	}
	all, early, late := marks(), marks("--to-time", "130ms"), marks("--from-time", "130ms")
	if early == 0 || late == 0 || early+late != all {
		t.Errorf("%d marks, of which %d before and %d after 130 ms", all, early, late)
	}
	for _, flags := range [][]string{{"--event", "*"}, {"--provider", "*"}, {"--pid", "2"}, {"--tid", "2"}, {"--where", "$size > 0"}} {
		if n := marks(flags...); n != 0 {
			t.Errorf("%q: %d marks", flags, n)
		}
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

// Symbols come from events that are not selected.
func TestSelectionKeepsNames(t *testing.T) {
	r := invoke(t, t.TempDir(), nil, "top", "--provider", "Microsoft-DotNETCore-SampleProfiler", trace(t, "cpu-env"))
	if r.code != exitOK || !strings.Contains(r.stdout, "Shop.Cpu.Spin") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

func TestTop(t *testing.T) {
	dir := t.TempDir()
	direct := invoke(t, dir, nil, "top", "-n", "7", trace(t, "cpu-env"))
	if direct.code != exitOK || !strings.Contains(direct.stdout, "Shop.Cpu.Spin(double)") || !strings.Contains(direct.stderr, "wall profile") {
		t.Fatalf("code %d: %s%s", direct.code, direct.stdout, direct.stderr)
	}
	if r := invoke(t, dir, nil, "to", "pprof", "-o", "x.pb.gz", trace(t, "cpu-env")); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	again := invoke(t, dir, nil, "top", "-n", "7", "x.pb.gz")
	if again.code != exitOK || table(again.stdout) != table(direct.stdout) || strings.Count(table(again.stdout), "\n") != 8 {
		t.Errorf("code %d, %s\nfrom the profile:\n%s\nfrom the trace:\n%s", again.code, again.stderr, again.stdout, direct.stdout)
	}
	if samples := len(profileAt(t, filepath.Join(dir, "x.pb.gz")).Sample); !strings.HasSuffix(again.stderr, fmt.Sprintf("%d distinct samples from %d of %d events in x.pb.gz (pprof)\n", samples, samples, samples)) {
		t.Errorf("%d samples: %s", samples, again.stderr)
	}
	cum := invoke(t, dir, nil, "top", "--cum", "-n", "7", "x.pb.gz")
	if cum.code != exitOK || table(cum.stdout) == table(direct.stdout) {
		t.Errorf("code %d: %s", cum.code, cum.stdout)
	}
	for _, bad := range [][]string{{"--focus", "("}, {"--sample-type", "nothing"}, {"-n", "-1"}} {
		if r := invoke(t, dir, nil, append([]string{"top", "x.pb.gz"}, bad...)...); r.code != exitUsage {
			t.Errorf("%q: code %d: %s", bad, r.code, r.stderr)
		}
	}
}

// table removes the lines above the list.
func table(report string) string {
	_, rest, _ := strings.Cut(report, "      flat")
	return rest
}

// A trace that is written again prints the same lines, and events that are not selected do not count as lost.
func TestToNettrace(t *testing.T) {
	for _, name := range []string{"sources", "cpu-norundown", "cpu-netperf3", "threads-reused", "three-processes-v6"} {
		dir := t.TempDir()
		if r := ntconvTo(t, dir, name); r.code != exitOK {
			t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
		}
		args := []string{"print", "--json", "--crc", "--stacks", "-q"}
		before, after := invoke(t, dir, nil, append(args, trace(t, name))...), invoke(t, dir, nil, append(args, "out.nettrace")...)
		if before.stdout != after.stdout || len(before.stdout) == 0 {
			t.Errorf("%s: other lines after writing: %d and %d bytes", name, len(before.stdout), len(after.stdout))
		}
	}
	dir := t.TempDir()
	if r := ntconvTo(t, dir, "cpu-env", "--provider", "Microsoft-DotNETCore-SampleProfiler"); r.code != exitOK || !strings.Contains(r.stderr, "194 of 1,786 events") {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	if r := invoke(t, dir, nil, "print", "-q", "--fail-on-loss", "out.nettrace"); r.code != exitOK || strings.Count(r.stdout, "ThreadSample") != 194 {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// TestToNettraceLateType checks that an event whose metadata row follows it is written with its type, and that nothing
// is lost: strict reading accepts both traces, and verify finds them equal.
func TestToNettraceLateType(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	s := wirestream.New(&b, wire.V6)
	s.Threads(wire.Thread{Index: 1, TID: 12, Has: 1 << wire.ThreadTID})
	block := s.Events()
	block.Add(&wire.EventHeader{MetadataID: 1, Sequence: 1, Thread: 1, CaptureThread: 1, Time: 1_000_000_001}, nil)
	block.Flush()
	s.Types(wirestream.Type{ID: 1, Provider: "Shop", Event: 7, Name: "Sale"})
	s.End()
	write(t, dir, "late.nettrace", b.Bytes())
	for _, args := range [][]string{
		{"to", "nettrace", "--strict", "-o", "out.nettrace", "late.nettrace"}, {"convert", "late.nettrace", "again.nettrace"},
		{"verify", "late.nettrace", "out.nettrace"}, {"verify", "late.nettrace", "again.nettrace"},
	} {
		if r := invoke(t, dir, nil, args...); r.code != exitOK {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "print", "--strict", "--order", "file", "out.nettrace"); !strings.Contains(r.stdout, "Shop/Sale") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

func ntconvTo(t *testing.T, dir, name string, flags ...string) result {
	t.Helper()
	return invoke(t, dir, nil, append([]string{"to", "nettrace", "-o", "out.nettrace", trace(t, name)}, flags...)...)
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

func TestQuiet(t *testing.T) {
	for _, args := range [][]string{{"to", "pprof", "-q"}, {"print", "-q"}, {"info", "-q"}, {"top", "-q"}} {
		if r := invoke(t, t.TempDir(), nil, append(args, trace(t, "cpu-env"))...); r.code != exitOK || r.stderr != "" {
			t.Errorf("%q: code %d, %s", args, r.code, r.stderr)
		}
	}
	if r := invoke(t, t.TempDir(), nil, "info", "-q", "nowhere"); r.code != exitInput || r.stderr == "" {
		t.Error("an error was silenced")
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
		"top|": "nettrace", "help|": "completion\t", "help|to|": writable[0], "help|wh": "where\t", "help|li": "limits\t",
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

// Every command has a description and examples, and its help goes to standard output.
func TestHelp(t *testing.T) {
	root := newApp(io.Discard, io.Discard).command(nil)
	n := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		n++
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "ntconv ") || !strings.Contains(c.Example, "# ") {
			t.Errorf("%s: no description or no example", c.CommandPath())
		}
		if usage := c.Flags().FlagUsages(); strings.Contains(usage, "(default [])") {
			t.Errorf("%s: an empty list for a default:\n%s", c.CommandPath(), usage)
		}
		for line := range strings.Lines(c.Example) {
			if words := strings.Fields(line); words[0] == "ntconv" {
				if found, _, err := root.Find(words[1:]); err != nil || found == root && len(words) > 1 {
					t.Errorf("%s: example of an unknown command: %s", c.CommandPath(), line)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if n < 10 {
		t.Errorf("%d commands", n)
	}
	for command, order := range map[string]string{
		"to nettrace": "file", "filter": "file", "to pprof": "time", "print": "time", "info": "file", "top": "time", "verify": "time",
		"convert": ordersOf(formats.Writable()), "to folded": "time", "from pprof to nettrace": "file",
	} {
		c, _, err := root.Find(strings.Fields(command))
		if err != nil || !strings.Contains(c.Flags().FlagUsages(), "time or file (default "+order+")") {
			t.Errorf("%s: the help does not state the default of --order as %s: %v", command, order, err)
		}
	}
	for _, args := range [][]string{{"--help"}, {"help", "top"}, {"to", "pprof", "-h"}, {"help", "limits"}, {}, {"to"}} {
		r := invoke(t, t.TempDir(), nil, args...)
		if len(args) == 1 && args[0] == "to" {
			if r.code != exitUsage {
				t.Errorf("%q: code %d", args, r.code)
			}
			continue
		}
		if r.code != exitOK || !strings.Contains(r.stdout, "Examples:") || r.stderr != "" {
			t.Errorf("%q: code %d, %s", args, r.code, r.stderr)
		}
	}
}
