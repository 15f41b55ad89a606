package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// command returns the path of ntconv, which is built once for all tests.
var command string

func TestMain(m *testing.M) {
	// A script ignores Ctrl-C in what it starts in the background, and so would the commands that tests interrupt.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "ntconv-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "ntconv.exe")
	build := exec.Command("go", "build", "-o", command, "./cmd/ntconv")
	build.Dir = ".."                                  // with the versions in ntconv's own go.mod
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the command: %w\n%s", err, out)
	}
	// The files of this machine must not change outputs.
	if err := os.Setenv("NTCONV_LOCAL_SYMBOLS", "false"); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// A result is the result of a command run.
type result struct {
	code           int
	stdout, stderr []byte
}

// run runs a command to its end. It is fatal if the command cannot start, but not if the exit code is not 0.
func run(t *testing.T, name string, args ...string) result {
	t.Helper()
	var out, msg bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &msg
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.Bytes(), msg.Bytes()}
}

// succeed runs ntconv, which must succeed.
func succeed(t *testing.T, args ...string) result {
	t.Helper()
	r := run(t, command, args...)
	if r.code != complete {
		t.Fatalf("%q: exit code %d: %s", args, r.code, r.stderr)
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

// contentAt returns the contents of a file.
func contentAt(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// A trace is a test file.
type trace struct {
	name, path string
	events     string // event lines of the reference, "" if it has none for this file
	stacks     string // stacks of the reference, "" if it has none for this file
	truth      []string
}

// shared returns a path in the directory of shared traces and reference output, or skips the test.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{sharedRoot()}, elem...)...)
	if _, err := os.Stat(sharedRoot()); err != nil {
		t.Skip("no shared traces (NTCONV_SHARED): ", err)
	}
	_, err := os.Stat(path)
	must(t, err) // a test with a wrong path would be skipped forever
	return path
}

// sharedRoot is the directory used by shared, which may be absent.
func sharedRoot() string {
	if root := os.Getenv("NTCONV_SHARED"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "shared")
}

// sharedTraces lists all shared traces.
func sharedTraces(t *testing.T) []trace {
	t.Helper()
	var list []trace
	for _, path := range glob(t, filepath.Join(shared(t, "data"), "*", "*.net*.zst")) {
		name := traceName(path)
		oracle := shared(t, "oracle")
		list = append(list, trace{
			name: name, path: path,
			events: ifExists(filepath.Join(oracle, "events", name+".jsonl.zst")),
			stacks: ifExists(filepath.Join(oracle, "stacks", name+".jsonl.zst")),
			truth:  glob(t, filepath.Join(filepath.Dir(path), name+".*truth.json")),
		})
	}
	if len(list) < 70 {
		t.Fatalf("only %d traces", len(list))
	}
	for _, own := range ownTraces(t) { // most are copies of these
		if !slices.ContainsFunc(list, func(tr trace) bool { return tr.name == own.name }) {
			list = append(list, own)
		}
	}
	return list
}

// comparedTraces returns sharedTraces without the largest and many others, unless tests run in full or write tables. isComplete is false if
// any are missing.
func comparedTraces(t *testing.T) (list []trace, isComplete bool) {
	t.Helper()
	all := sharedTraces(t)
	for _, tr := range all {
		info, err := os.Stat(tr.path)
		if err != nil {
			t.Fatal(err)
		}
		if *update || !corpus.IsSkipped(tr.path, info.Size()) {
			list = append(list, tr)
		}
	}
	return list, len(list) == len(all)
}

// ownTraces lists the traces in testdata.
func ownTraces(t *testing.T) []trace {
	t.Helper()
	var list []trace
	dir := filepath.Join("..", "testdata")
	for _, path := range glob(t, filepath.Join(dir, "*.nettrace.zst")) {
		name := traceName(path)
		list = append(list, trace{
			name: name, path: path,
			events: ifExists(filepath.Join(dir, name+".events.jsonl.zst")),
			stacks: ifExists(filepath.Join(dir, name+".stacks.jsonl.zst")),
			truth:  glob(t, filepath.Join(dir, name+".*truth.json")),
		})
	}
	if len(list) < 20 {
		t.Fatalf("only %d traces in testdata", len(list))
	}
	return list
}

// find returns the trace with a name in testdata or in the shared traces, or skips the test.
func find(t *testing.T, name string) trace {
	t.Helper()
	named := func(tr trace) bool { return tr.name == name }
	list := ownTraces(t)
	if !slices.ContainsFunc(list, named) {
		list = sharedTraces(t)
	}
	i := slices.IndexFunc(list, named)
	if i < 0 {
		t.Fatal("no trace ", name)
	}
	return list[i]
}

func traceName(path string) string {
	base := filepath.Base(path)
	return base[:strings.LastIndex(base, ".net")] // .nettrace.zst or .netperf.zst
}

func ifExists(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	must(t, err)
	return list
}
