package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// recursions has functions that call themselves, directly and by way of others, and names that readers of callgrind's
// format could mistake for something else.
const recursions = `main;walk;walk;walk;read 10
main;a;b;a;b;a 7
main;b;a;b;c 5
b;c;b 3
main;(12) odd;fn=(1) x;calls=1 0 4
main;(3);(4)[5];*7 2
main;walk;a;walk 1
`

// callgrindProfiles are inputs whose profiles differ: wall time, CPU time, allocations, waits and compilations of .NET, CPU
// time of a Go program, the text of perf script, its time without a CPU, and recursions.
func callgrindProfiles(t *testing.T) map[string][]string {
	t.Helper()
	folded := filepath.Join(t.TempDir(), "recursions.folded")
	must(t, os.WriteFile(folded, []byte(recursions), 0o600))
	testdata := func(name string) string { return filepath.Join("..", "testdata", name) }
	return map[string][]string{
		"wall":       {testdata("cpu-env.nettrace.zst")},
		"cpu":        {"--kind", "cpu", testdata("three-processes-v6.nettrace.zst")},
		"alloc":      {"--kind", "alloc", testdata("alloc-verbose.nettrace.zst")},
		"wait":       {"--kind", "wait", testdata("waits.nettrace.zst")},
		"jit":        {"--kind", "jit", testdata("jit.nettrace.zst")},
		"go":         {testdata("go-cpu.pb.gz")},
		"perf":       {filepath.Join("..", "importers", "perf", "testdata", "go.perf.zst")},
		"sched":      {"--kind", "off-cpu", filepath.Join("..", "importers", "perf", "testdata", "sched.perf.zst")},
		"recursions": {folded},
	}
}

// inBoth converts an input to callgrind's format and to pprof, and returns the file and the profile.
func inBoth(t *testing.T, args []string) (path string, p *profile.Profile) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "x.callgrind")
	succeed(t, append([]string{"to", "callgrind", "-o", path}, args...)...)
	succeed(t, append([]string{"to", "pprof", "--span-link", "off", "-o", filepath.Join(dir, "x.pb.gz")}, args...)...)
	f, err := os.Open(filepath.Join(dir, "x.pb.gz"))
	must(t, err)
	defer f.Close()
	p, err = profile.Parse(f)
	must(t, err)
	return path, p
}

// annotate returns the costs of functions that callgrind_annotate prints, and the total.
func annotate(t *testing.T, path string, inclusive string) (costs map[string]int64, total int64) {
	t.Helper()
	r := run(t, "callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", "--inclusive="+inclusive, path)
	if r.code != 0 || len(r.stderr) > 0 {
		t.Fatalf("callgrind_annotate: %d, %s", r.code, r.stderr)
	}
	costs = map[string]int64{}
	for line := range strings.Lines(string(r.stdout)) {
		line = strings.TrimSuffix(line, "\n")
		if numbers, ok := strings.CutSuffix(line, "  PROGRAM TOTALS"); ok {
			total = firstNumber(t, numbers)
			continue
		}
		i := strings.Index(line, ":")
		if i < 0 || line == "" || strings.Trim(line[:1], " 0123456789") != "" {
			continue
		}
		numbers, file := line[:i], ""
		if k := strings.LastIndex(numbers, "  "); k >= 0 {
			numbers, file = numbers[:k], numbers[k+2:]
		}
		name := line[i+1:]
		if k := strings.LastIndex(name, " ["); k >= 0 && strings.HasSuffix(name, "]") && name != "[no stack]" {
			name = name[:k]
		}
		costs[file+":"+name] += firstNumber(t, numbers)
	}
	return costs, total
}

func firstNumber(t *testing.T, text string) int64 {
	t.Helper()
	word := strings.ReplaceAll(strings.Fields(text)[0], ",", "")
	if word == "." { // how callgrind_annotate prints 0
		return 0
	}
	n, err := strconv.ParseInt(word, 10, 64)
	must(t, err)
	return n
}

// callgrind_annotate computes the same costs of functions, with and without those that they call, as google's library
// does from the pprof profile.
func TestCallgrindAnnotate(t *testing.T) {
	if _, err := exec.LookPath("callgrind_annotate"); err != nil {
		t.Skip("not installed (package valgrind): ", err)
	}
	for name, args := range callgrindProfiles(t) {
		t.Run(name, func(t *testing.T) {
			path, p := inBoth(t, args)
			self, inclusive, total := costsOf(p)
			inclusive["???:(root)"] = total
			for form, want := range map[string]map[string]int64{"no": self, "yes": inclusive} {
				got, sum := annotate(t, path, form)
				if sum != total {
					t.Errorf("inclusive=%s: total %d, want %d", form, sum, total)
				}
				for function, v := range want {
					if got[function] != v {
						t.Errorf("inclusive=%s: %s: %d, want %d", form, function, got[function], v)
					}
				}
				for function, v := range got {
					if want[function] != v {
						t.Errorf("inclusive=%s: %s: %d, which no sample has", form, function, v)
					}
				}
			}
		})
	}
}

// costsOf returns the values of the default sample type by file and function, of a sample's innermost function and of
// all of its functions.
func costsOf(p *profile.Profile) (self, inclusive map[string]int64, total int64) {
	column := len(p.SampleType) - 1
	for i, st := range p.SampleType {
		if st.Type == p.DefaultSampleType {
			column = i
		}
	}
	self, inclusive = map[string]int64{}, map[string]int64{}
	for _, s := range p.Sample {
		v := s.Value[column]
		total += v
		seen := map[string]bool{}
		first := true
		for _, l := range s.Location {
			for _, line := range l.Line {
				file := line.Function.Filename
				if file == "" && l.Mapping != nil {
					file = l.Mapping.File
				}
				if file == "" {
					file = "???"
				}
				key := file + ":" + line.Function.Name
				if first && v != 0 {
					self[key] += v
				}
				if first = false; !seen[key] && v != 0 {
					inclusive[key] += v
				}
				seen[key] = true
			}
		}
		if first && v != 0 {
			self["???:[no stack]"] += v
			inclusive["???:[no stack]"] += v
		}
	}
	return self, inclusive, total
}

// speedscope reads the functions; it omits calls of less than 0.01% of the total. It makes stacks of the calls, so that the
// total is that of the samples only if no function calls itself.
func TestCallgrindInSpeedscope(t *testing.T) {
	needNode(t, "speedscope")
	for name, args := range callgrindProfiles(t) {
		t.Run(name, func(t *testing.T) {
			path, p := inBoth(t, args)
			self, _, total := costsOf(p)
			got := inSpeedscope(t, path)[0]
			if got.Error != "" || len(got.Warnings) > 0 || len(got.Profiles) == 0 {
				t.Fatalf("%s, %q, %d profiles", got.Error, got.Warnings, len(got.Profiles))
			}
			if sum := int64(got.Profiles[0].Total); sum != total && !recurses(p) {
				t.Errorf("total %d, want %d", sum, total)
			}
			for function, v := range self {
				if v < total/1000 {
					continue
				}
				_, name, _ := strings.Cut(function, ":")
				if _, ok := got.Profiles[0].Frames[name]; !ok {
					t.Errorf("no function %s", name)
				}
			}
		})
	}
}

// recurses reports whether a stack of the profile has a function twice.
func recurses(p *profile.Profile) bool {
	for _, s := range p.Sample {
		seen := map[*profile.Function]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if seen[line.Function] {
					return true
				}
				seen[line.Function] = true
			}
		}
	}
	return false
}
