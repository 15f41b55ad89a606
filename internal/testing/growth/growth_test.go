package growth

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
)

var (
	all    = flag.Bool("all", false, "run all commands on all inputs, not only those that matter")
	sample = flag.Int("sample", 0, "run one of so many commands that matter; 1 runs them all, 0 none")
	table  = flag.String("table", "", "write a table of all costs to this file")
)

// Maximum cost ratios for twice the size: a little more than 2, because of logarithms and of costs that begin at a
// certain size. Quadratic growth has a ratio of 4.
const (
	maxRatio      = 2.3
	maxFuncRatio  = 3 // of a single function; it may have a bound that it has not quite reached
	stepFloor     = 4000
	allocateFloor = 3 << 20 // buffers and pools
	measured      = 2       // the sizes are N and 2N divided by this
)

// start builds the command, unless no flag asks for these tests, which take minutes.
func start(t *testing.T) *Program {
	t.Helper()
	if *sample == 0 && !*all {
		t.Skip("no -sample, which makes it run for minutes: make growth and make nightly set it")
	}
	return Start(t)
}

// The cost of every command grows at most like n log n, for inputs with many of anything.
func TestGrowth(t *testing.T) {
	p := start(t)
	report := io.Discard
	if *table != "" {
		f, err := os.Create(*table)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		report = f
	}
	n := 0
	for _, in := range Inputs() {
		var commands []Command
		for _, c := range Commands() {
			if *all {
				commands = append(commands, c)
			} else if slices.Contains(in.Commands, c.Name) {
				if n++; n%*sample == 0 {
					commands = append(commands, c)
				}
			}
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(in.Name, func(t *testing.T) {
			files := map[int][2]string{}
			for _, c := range commands {
				n := in.size(&c)
				if files[n][0] == "" {
					files[n] = saveBoth(t, in, n)
				}
				compare(t, p, c, files[n][0], files[n][1], report)
			}
		})
	}
}

// saveBoth saves an input of two sizes, the second twice the first, each with a copy.
func saveBoth(t *testing.T, in Input, n int) (files [2]string) {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"small.", "large."} {
		files[i] = filepath.Join(dir, name+in.Ext)
		for _, path := range []string{files[i], copyOf(files[i])} {
			save(t, path, in, (1+i)*(n/measured))
		}
	}
	return files
}

// TestFormats checks that inputs have every format that can be read, and that commands write every format.
func TestFormats(t *testing.T) {
	others := map[string]string{"parquet": "TestGrowthOfTables", "netperf": "its blocks have the rows of nettrace"}
	read, written := map[string]bool{}, map[string]bool{}
	for _, in := range Inputs() {
		var b bytes.Buffer
		if err := in.Write(&b, 20); err != nil {
			t.Fatal(err)
		}
		if f, err := formats.Detect(formats.Readable(), in.Name, b.Bytes()[:min(b.Len(), formats.HeadSize)]); err == nil {
			read[f.Name] = true
		}
	}
	for _, c := range Commands() {
		if rest, ok := strings.CutPrefix(c.Args, "to "); ok {
			written[strings.Fields(rest)[0]] = true
		}
	}
	for _, f := range formats.All() {
		if f.In != nil && !read[f.Name] && others[f.Name] == "" {
			t.Errorf("no generator of Inputs writes %s", f.Name)
		}
		if f.Out != nil && !written[f.Name] {
			t.Errorf("no command of Commands writes %s", f.Name)
		}
	}
}

// The same holds for tables that are read back.
func TestGrowthOfTables(t *testing.T) {
	p := start(t)
	names := []string{"types", "fields", "threads-named", "processes", "stacks-unique", "stacks-shared", "methods", "mappings", "labels-keys",
		"labels-long-list", "activities-chain", "chrome-args-shapes", "pprof-labels", "otlp-attributes"}
	for _, in := range Inputs() {
		if !*all && !slices.Contains(names, in.Name) || *sample > 1 && in.Name != "stacks-unique" {
			continue
		}
		for _, name := range []string{"tables/", "events.parquet"} {
			t.Run(in.Name+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				var files [2]string
				for i := range files {
					trace := filepath.Join(dir, fmt.Sprint(i, ".", in.Ext))
					save(t, trace, in, (1+i)*(in.N/measured))
					files[i] = filepath.Join(dir, fmt.Sprint(i, name))
					args := []string{"to", "parquet", "-q", trace, "-o", files[i]}
					if name == "tables/" {
						args = []string{"to", "parquet", "-q", trace, "-o", files[i] + "/", "--typed-rows", "20"}
					}
					if c, err := p.Run(args...); err != nil || c.Code != 0 {
						t.Fatalf("%v: %+v %v", args, c, err)
					}
				}
				for _, c := range Commands() {
					if c.Name == "nettrace" {
						compare(t, p, c, files[0], files[1], t.Output())
					}
				}
			})
		}
	}
}

// copyOf returns the name of a second file with the same content, because a command rejects the same file twice.
func copyOf(path string) string {
	return filepath.Join(filepath.Dir(path), "copy-"+filepath.Base(path))
}

func save(t *testing.T, path string, in Input, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := in.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compare fails the test if the cost of a command grows too fast.
func compare(t *testing.T, p *Program, command Command, small, large string, report io.Writer) {
	t.Helper()
	a, b := runOn(t, p, command, small), runOn(t, p, command, large)
	fmt.Fprintf(report, "%-34s %-10s exit %d  steps %9d x%4.2f  allocated %9d KiB x%4.2f\n", strings.TrimPrefix(t.Name(), "TestGrowth/"), command.Name,
		b.Code, b.Steps, float64(b.Steps)/float64(a.Steps), b.Allocated>>10, float64(b.Allocated)/float64(a.Allocated))
	total := float64(b.Steps) > maxRatio*float64(a.Steps)+stepFloor || float64(b.Allocated) > maxRatio*float64(a.Allocated)+allocateFloor
	if !total && !suspicious(a, b) {
		return
	}
	hot, err := p.Hot(a, b, 6)
	if err != nil {
		t.Error(err)
	}
	if total || slices.ContainsFunc(hot, tooHot) {
		t.Errorf("%s: for twice the size, %d steps become %d, and %d allocated bytes %d (%s): %v", command.Args, a.Steps, b.Steps, a.Allocated,
			b.Allocated, b.Stderr, hot)
	}
}

// suspicious reports whether a function grows faster than its input. The total would hide a quadratic function with a
// small factor.
func suspicious(a, b *Cost) bool {
	for id, blocks := range b.funcs {
		if grows(sum(a.funcs[id]), sum(blocks)) {
			return true
		}
	}
	return false
}

func grows(before, after uint64) bool { return float64(after) > maxFuncRatio*float64(before)+stepFloor }

// tooHot reports whether a block grows faster than its input. The length of a search in an intern.Index depends on
// chance and on its load.
func tooHot(b Block) bool {
	return grows(uint64(b.Before), uint64(b.After)) && !strings.HasPrefix(b.Place, "internal/data/intern/index.go")
}

func runOn(t *testing.T, p *Program, command Command, in string) *Cost {
	t.Helper()
	args := []string{"-q"}
	for _, arg := range strings.Fields(command.Args) {
		switch {
		case arg == "IN":
			arg = in
		case arg == "COPY":
			arg = copyOf(in)
		case strings.HasPrefix(arg, "OUT"):
			arg = filepath.Join(filepath.Dir(in), "out") + arg[len("OUT"):] // keep the slash of a directory
			args = append(args, "-f")
		}
		args = append(args, arg)
	}
	c, err := p.Run(append(args[1:], args[0])...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Code == 1 {
		t.Fatalf("%q: usage: %s", args, c.Stderr)
	}
	return c
}

// Repeating a run gives the same number of steps within 2%, and the positions of steps are known.
func TestDeterministic(t *testing.T) {
	p := start(t)
	var costs []*Cost
	for _, n := range []int{100, 100, 400} {
		var b bytes.Buffer
		if err := Inputs()[0].Write(&b, n); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "in.nettrace")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := p.Run("print", "--json", file)
		if err != nil || c.Code != 0 {
			t.Fatal(c, err)
		}
		costs = append(costs, c)
	}
	// The memory watch wakes up at intervals and takes a few steps each time.
	if a, b, c := costs[0].Steps, costs[1].Steps, costs[2].Steps; max(a, b)-min(a, b) > a/50 || c < 2*a {
		t.Errorf("%d steps, the same run %d, and %d for four times as many types", a, b, c)
	}
	hot, err := p.Hot(costs[0], costs[2], 5)
	if err != nil || len(hot) != 5 || !strings.Contains(hot[0].Place, ".go:") {
		t.Errorf("blocks with the most growth: %v, %v", hot, err)
	}
}
