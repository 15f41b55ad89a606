package speedscope_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// times are milliseconds of threads and methods, with those that a method calls.
type times map[string]map[string]float64

func (m times) add(thread string, stack []string, millis float64) {
	if m[thread] == nil {
		m[thread] = make(map[string]float64)
	}
	seen := map[string]bool{}
	for _, method := range stack {
		if !seen[method] {
			seen[method] = true
			m[thread][method] += millis
		}
	}
}

var (
	threadID = regexp.MustCompile(`\((\d+)\)`)
	// notMethods are frames that dotnet-trace adds.
	notMethods = regexp.MustCompile(`^(Process\d* .*|\(.*|Threads|Thread \(.*|Activity .*|CPU_TIME|UNMANAGED_CODE_TIME)$`)
)

// unresolved are the names of frames without a symbol.
var unresolved = regexp.MustCompile(`^(\?|0x[0-9a-f]+|.*\+0x[0-9a-f]+)$`)

// method returns the name of a method without its module and parameters, which the two programs spell differently.
// Frames without a symbol are one method.
func method(name string) string {
	name, _, _ = strings.Cut(name, "(")
	if _, after, ok := strings.Cut(name, "!"); ok {
		name = after
	}
	if name = strings.TrimSpace(name); unresolved.MatchString(name) {
		return "?"
	}
	return name
}

// dotnetTrace returns what dotnet-trace convert --format Speedscope writes for a trace: an evented profile per thread.
func dotnetTrace(t *testing.T, f corpus.File) times {
	t.Helper()
	program := corpus.Shared(t, "oracle", "traceevent")
	dir := t.TempDir()
	in := filepath.Join(dir, "trace.nettrace")
	if err := os.WriteFile(in, f.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "convert", "--format", "Speedscope", "-o", filepath.Join(dir, "trace"), in).CombinedOutput(); err != nil {
		t.Skipf("dotnet-trace is absent or cannot convert: %v: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "trace.speedscope.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Name   string
			Events []struct {
				Type  string
				Frame int
				At    float64
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	m := make(times)
	for _, p := range file.Profiles {
		thread := threadID.FindStringSubmatch(p.Name)[1]
		var stack []string
		for i, e := range p.Events {
			if i > 0 {
				m.add(thread, methods(stack), e.At-p.Events[i-1].At)
			}
			if e.Type == "O" {
				stack = append(stack, file.Shared.Frames[e.Frame].Name)
			} else {
				stack = stack[:len(stack)-1]
			}
		}
	}
	return m
}

func methods(frames []string) (list []string) {
	for _, f := range frames {
		if !notMethods.MatchString(f) {
			list = append(list, method(f))
		}
	}
	return list
}

// TestDotnetTrace compares the time of each method of each thread with what dotnet-trace convert writes. dotnet-trace
// gives no time to the last sample of a thread, which has no successor; docs/speedscope.md explains the differences.
func TestDotnetTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: another program converts traces")
	}
	for _, name := range []string{"own/cpu-env", "own/cpu-default", "own/cpu-norundown", "own/jit", "own/waits", "nettrace/filtrace-contention-net10"} {
		t.Run(name, func(t *testing.T) {
			f := corpus.SharedTrace(t, name)
			want, got := dotnetTrace(t, f), ours(t, f)
			compared := 0
			for thread, methods := range want {
				for method, millis := range methods {
					compared++
					// dotnet-trace rounds times to doubles of milliseconds and moves events by less than a microsecond.
					if d := got[thread][method] - millis; math.Abs(d) > 0.005 {
						t.Errorf("thread %s: %s: got %.6f ms, want %.6f ms", thread, method, got[thread][method], millis)
					}
				}
			}
			for thread, methods := range got {
				for method, millis := range methods {
					if millis > 0.005 && want[thread][method] == 0 {
						t.Errorf("thread %s: %s: got %.6f ms, want none", thread, method, millis)
					}
				}
			}
			if compared < 20 {
				t.Errorf("only %d methods were compared", compared)
			}
		})
	}
}

// ours returns the same from a file of this package, without the last sample of each thread.
func ours(t *testing.T, f corpus.File) times {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(&symbol.Options{Names: symbol.NamesRaw})
	var out bytes.Buffer
	sink := speedscope.New(&out, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, ntconvtest.Poison(symbol.Watch(src, names))); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	file, m := parse(t, out.Bytes()), make(times)
	for _, p := range file.Profiles {
		if p.Type != "sampled" || strings.HasPrefix(p.Name, speedscope.AllThreads) {
			continue
		}
		_, thread, _ := strings.Cut(numbers.FindString(p.Name), " ")
		id := regexp.MustCompile(`\d+`).FindAllString(thread, -1)
		for i, stack := range (*p.Samples)[:len(*p.Samples)-1] {
			frames := make([]string, len(stack))
			for j, n := range stack {
				frames[j] = method(file.Shared.Frames[n].Name)
			}
			m.add(id[len(id)-1], frames, float64((*p.Weights)[i])/1e6)
		}
	}
	return m
}
