// Package growth measures how the cost of the command grows with the size of its input. It counts steps, so the result
// does not depend on the machine or its load.
//
// A step is one execution of a basic block of this module or of a library that decodes untrusted input. The command is
// built with -cover, so the compiler inserts the counters. Steps of the standard library are not counted, because that
// would double the build time; its copies and tables appear in the allocated bytes.
package growth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// counted are the packages whose steps are counted.
const (
	module  = "github.com/ntconv/ntconv"
	counted = module + "/...,github.com/go-json-experiment/json/jsontext,github.com/google/pprof/..."
)

// A Program is the command with counters. Several runs share a process. A Program is not safe for concurrent use.
type Program struct {
	dir, path string
	runs      int // number of runs in the current process
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	errs      strings.Builder
}

// maxRuns is the number of runs per process. The command is written for one run per process; what a run leaves in
// memory slows down the next ones.
const maxRuns = 20

// Start builds the command. The test ends its process.
func Start(tb testing.TB) *Program {
	tb.Helper()
	p := &Program{dir: tb.TempDir()}
	p.path = filepath.Join(p.dir, "ntconv")
	if err := p.build(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.stop)
	return p
}

// start starts a process.
func (p *Program) start() (err error) {
	p.stop()
	p.cmd = exec.Command(p.path)
	p.cmd.Dir = p.dir
	// With one thread, goroutines do not overwrite each other's counts, and pools are deterministic.
	p.cmd.Env = append(os.Environ(), "GOCOVERDIR="+p.dir, "GOMAXPROCS=1", "GOGC=400", "TMPDIR="+p.dir, "NTCONV_LOCAL_SYMBOLS=false")
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	p.errs.Reset()
	p.cmd.Stderr = &p.errs
	return p.cmd.Start()
}

// stop ends the process, if any.
func (p *Program) stop() {
	if p.cmd != nil {
		_ = p.in.Close() // this ends the process
		_ = p.cmd.Wait()
	}
	p.cmd = nil
}

// build builds a copy of the module in which testdata/batch.go replaces the main function of the command. An overlay
// would be simpler, but the go command does not count steps of files in an overlay.
func (p *Program) build() error {
	const root = "../../.."
	source := filepath.Join(p.dir, "source")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(source, path[len(root):])
		if d.IsDir() {
			switch name := d.Name(); {
			case path == root:
			case name == "testdata", path == root+"/bin", path == root+"/e2e", path == root+"/fleet", strings.HasPrefix(name, "."):
				return filepath.SkipDir
			}
			return os.MkdirAll(to, 0o700)
		}
		if !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return copyFile(to, path)
	})
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(source, "internal/run/command/main.go"), "testdata/batch.go"); err != nil {
		return err
	}
	// Without paths, the go command finds earlier results in its cache.
	cmd := exec.Command(
		"go",
		"build",
		"-trimpath",
		"-buildvcs=false",
		"-cover",
		"-covermode",
		"atomic",
		"-coverpkg",
		counted,
		"-ldflags=-s -w",
		"-o",
		p.path,
		"./cmd/ntconv",
	)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the command with counters: %w: %s", err, out)
	}
	return nil
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// A Cost is the cost of one run of the command.
type Cost struct {
	Code      int    // exit code
	Stderr    string // its standard error
	Allocated uint64 // total of all allocations in bytes
	Output    int64  // bytes on standard output
	Steps     uint64 // executions of blocks
	funcs     map[funcID][]uint32
	counters  []byte
}

// Run runs the command.
func (p *Program) Run(args ...string) (*Cost, error) {
	if p.runs%maxRuns == 0 {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	p.runs++
	stdout := filepath.Join(p.dir, "stdout")
	request, err := json.Marshal(map[string]any{"Args": args, "Stdout": stdout})
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return nil, fmt.Errorf("%v: %w: %s", args, err, p.errs.String())
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%v: the process ended: %w: %s", args, err, tail(p.errs.String()))
	}
	var answer struct {
		Code      int
		Stderr    string
		Allocated uint64
		Counters  []byte
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, fmt.Errorf("%v: %w: %.200s", args, err, line)
	}
	c := &Cost{Code: answer.Code, Stderr: answer.Stderr, Allocated: answer.Allocated, counters: answer.Counters}
	if info, err := os.Stat(stdout); err == nil {
		c.Output = info.Size()
	}
	c.funcs, err = decode(c.counters)
	for _, blocks := range c.funcs {
		c.Steps += sum(blocks)
	}
	return c, err
}

// tail returns the start of a message, which may be as long as that of a stack overflow.
func tail(s string) string { return s[:min(len(s), 4000)] }
