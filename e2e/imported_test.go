package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	rpprof "runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// profiles returns profiles by name: the test files of google/pprof, a profile of a Go program, and profiles that
// ntconv creates from traces.
func profiles(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"go-cpu": filepath.Join("..", "testdata", "go-cpu.pb.gz")}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof").Output()
	must(t, err)
	for _, path := range glob(t, filepath.Join(strings.TrimSpace(string(out)), "profile", "testdata", "*")) {
		if data, err := os.ReadFile(path); err == nil {
			if p, err := profile.ParseData(data); err == nil && len(p.Sample) > 0 {
				found[filepath.Base(path)] = path
			}
		}
	}
	if len(found) < 15 {
		t.Fatalf("only %d profiles", len(found))
	}
	for _, kind := range []string{"allocs", "goroutine", "threadcreate"} {
		path := filepath.Join(t.TempDir(), kind+".pb.gz")
		f, err := os.Create(path)
		must(t, err)
		must(t, errors.Join(rpprof.Lookup(kind).WriteTo(f, 0), f.Close()))
		found["go-"+kind] = path
	}
	for _, name := range []string{"cpu-env", "cpu-v6", "three-processes-v6", "waits-v6"} {
		path := filepath.Join(t.TempDir(), name+".pb.gz")
		succeed(t, "to", "pprof", filepath.Join("..", "testdata", name+".nettrace.zst"), "-o", path)
		found[name] = path
	}
	return found
}

// readProfile reads a profile with google's library.
func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	data := contentAt(t, path)
	p, err := profile.ParseData(data)
	must(t, err)
	return p
}

// TraceEvent finds every sample of a profile that was converted to a trace, and every frame with its name.
func TestMicrosoftReadsProfiles(t *testing.T) {
	reader := traceevent(t)
	all := profiles(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, addresses := range []string{"mixed", "synthetic"} {
			t.Run(name+"/"+addresses, func(t *testing.T) {
				t.Parallel()
				p := readProfile(t, all[name])
				path := filepath.Join(t.TempDir(), "x.nettrace")
				succeed(t, "to", "nettrace", "--addresses", addresses, all[name], "-o", path)
				checkSummary(t, run(t, reader, "summary", path), len(p.Sample))
				checkNamedStacks(t, run(t, reader, "stacks", path), p)
			})
		}
	}
}

// dotnet-trace, which contains an older TraceEvent, reads traces of profiles and shows their names. Its report lists
// them as calls of each event alone. Its Speedscope files contain only samples of .NET's sample profiler, as with all
// machine-wide traces.
func TestDotnetTraceReadsProfiles(t *testing.T) {
	tool := traceevent(t)
	for name, file := range profiles(t) {
		for _, addresses := range []string{"mixed", "real", "synthetic"} {
			t.Run(name+"/"+addresses, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				path := filepath.Join(dir, "x.nettrace")
				succeed(t, "to", "nettrace", "--addresses", addresses, file, "-o", path)
				report := run(t, tool, "report", path, "topN", "-n", "100000", "--inclusive")
				if text := append(report.stdout, report.stderr...); report.code != 0 || bytes.Contains(text, []byte("ERROR")) {
					t.Fatalf("dotnet-trace report: exit code %d: %.500s", report.code, text)
				}
				if want := map[string]string{"go-cpu": " shop!main.fib ", "cpu-env": " Cpu.Spin(double) "}[name]; !bytes.Contains(report.stdout, []byte(want)) {
					t.Errorf("the report does not name %s:\n%.3000s", want, report.stdout)
				}
				convert := run(t, tool, "convert", "--format", "Speedscope", "-o", filepath.Join(dir, "x"), path)
				if text := append(convert.stdout, convert.stderr...); convert.code != 0 || bytes.Contains(text, []byte("ERROR")) {
					t.Errorf("convert: exit code %d: %.500s", convert.code, text)
				}
			})
		}
	}
}

// A trace of several profiles contains all of them, each as a separate process.
func TestMicrosoftReadsSeveralProfiles(t *testing.T) {
	reader := traceevent(t)
	all := profiles(t)
	path := filepath.Join(t.TempDir(), "x.nettrace")
	args := []string{"to", "nettrace", "-o", path}
	both := &profile.Profile{}
	for _, name := range []string{"go-cpu", "java.heap", "cpu-env"} {
		p := readProfile(t, all[name])
		both.Sample = append(both.Sample, p.Sample...)
		args = append(args, all[name])
	}
	succeed(t, args...)
	checkSummary(t, run(t, reader, "summary", path), len(both.Sample))
	checkNamedStacks(t, run(t, reader, "stacks", path), both)
}

// checkSummary compares the number of samples, and checks that no event is lost or out of order.
func checkSummary(t *testing.T, r result, samples int) {
	t.Helper()
	var s struct {
		EventsLost, TimeInversions int
		Providers                  map[string]map[string][2]int
	}
	if r.code != 0 {
		t.Fatalf("the reference rejects it: %s", r.stderr)
	}
	decode(t, r.stdout, &s)
	n := 0
	for _, count := range s.Providers["Universal.Events"] {
		n += count[0]
	}
	if n != samples || s.EventsLost != 0 || s.TimeInversions != 0 {
		t.Errorf("%d samples, %d lost, %d out of order; want %d", n, s.EventsLost, s.TimeInversions, samples)
	}
}

// address matches the placeholder for a frame without a symbol.
var address = regexp.MustCompile(`^(.*\+)?0x[0-9a-f]+$`)

// checkNamedStacks compares the stacks of all samples by modules and names.
func checkNamedStacks(t *testing.T, r result, p *profile.Profile) {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("the reference finds no stacks: %s", r.stderr)
	}
	module := moduleText(t, r.stdout)
	want := map[string]int{}
	for _, s := range p.Sample {
		if len(s.Location) > 0 {
			want[stackOf(s, module)]++
		}
	}
	got := map[string]int{}
	stacks := parseStacks(t, r.stdout)
	for key, ids := range stacks.events {
		if key.provider != "Universal.Events" {
			continue
		}
		for _, id := range ids {
			var b strings.Builder
			for _, f := range stacks.frames[id] {
				name := f[2]
				if name == "" || address.MatchString(name) {
					name = "?"
				}
				fmt.Fprintf(&b, "%s!%s\n", module(f[1]), name)
			}
			got[strings.ToLower(b.String())]++ // the reference shows modules in lower case
		}
	}
	for text, n := range want {
		if text = strings.ToLower(text); got[text] != n {
			t.Errorf("%d of %d stacks\n%.500s", got[text], n, text)
			break
		}
	}
}

// stackOf returns the modules and names of a sample, leaf first.
func stackOf(s *profile.Sample, module func(string) string) string {
	var b strings.Builder
	for _, l := range s.Location {
		file := ""
		if l.Mapping != nil {
			file = l.Mapping.File
		}
		file = module(moduleName(file))
		for _, n := range l.Line {
			name := n.Function.Name
			if name == "" || address.MatchString(name) {
				name = "?"
			}
			fmt.Fprintf(&b, "%s!%s\n", file, name)
		}
		if len(l.Line) == 0 {
			fmt.Fprintf(&b, "%s!?\n", file)
		}
	}
	return b.String()
}

// moduleName returns the name that the reference shows for a file.
func moduleName(file string) string {
	base := file[strings.LastIndexAny(file, `/\`)+1:]
	for _, ext := range []string{".dll", ".exe"} {
		if len(base) > len(ext) && strings.EqualFold(base[len(base)-len(ext):], ext) {
			return base[:len(base)-len(ext)]
		}
	}
	return base
}

// moduleText returns the name of a module for comparisons: frames without a file have the name of their process, for
// any process.
func moduleText(t *testing.T, dump []byte) func(string) string {
	t.Helper()
	processes := map[string]bool{"": true}
	for line := range bytes.Lines(dump) {
		var row struct{ Process string }
		if line[0] == '{' && json.Unmarshal(line, &row) == nil && row.Process != "" {
			processes[strings.ToLower(moduleName(row.Process))] = true
		}
	}
	return func(name string) string {
		if processes[strings.ToLower(name)] {
			return "(process)"
		}
		return name
	}
}
