//go:build unix

package repository_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
)

var update = flag.Bool("update", false, "write what the commands in README.md and docs print into them")

// documents returns the pages for users: README.md and those of docs.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages in docs, %v", len(pages), err)
	}
	return append([]string{"README.md"}, pages...)
}

// allDocuments returns the text of all documents.
func allDocuments(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, name := range documents(t) {
		b.WriteString(page(t, name))
	}
	return b.String()
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadmeCommands runs every command of the console blocks of README.md and docs, those of a page in one directory
// with testdata and with the current command, and compares their output. A line "..." matches any number of lines.
func TestReadmeCommands(t *testing.T) {
	bin := buildCommand(t)
	for _, name := range documents(t) {
		text := page(t, name)
		blocks := consoleBlocks.FindAllString(text, -1)
		if len(blocks) == 0 && name == "README.md" {
			t.Error("README.md has no console blocks")
		}
		if len(blocks) == 0 {
			continue
		}
		run := shellIn(t, bin)
		fresh := consoleBlocks.ReplaceAllStringFunc(text, func(block string) string { return checkBlock(t, name, block, run) })
		if *update && fresh != text {
			if err := os.WriteFile(name, []byte(fresh), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checkBlock runs the commands of a block and returns the block with what they print.
func checkBlock(t *testing.T, name, block string, run func(string) string) string {
	t.Helper()
	out := "```console\n"
	for _, c := range splitConsole(consoleBlocks.FindStringSubmatch(block)[1]) {
		got := run(c.line)
		switch {
		case matchLines(lines(c.output), lines(got)):
			got = c.output
		case *update && !strings.Contains(c.output, "\n...\n"):
			t.Errorf("$ %s: output in %s is replaced", c.line, name)
		default:
			t.Errorf("$ %s\nprints\n%swhere %s says\n%s", c.line, got, name, c.output)
			got = c.output
		}
		out += "$ " + c.line + "\n" + got
	}
	return out + "```\n"
}

var consoleBlocks = regexp.MustCompile("(?ms)^```console\n(.*?)^```\n")

// buildCommand returns a directory with the command as it is now.
func buildCommand(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "./cmd/ntconv").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// shell returns a function that runs a command line as shellIn does, with the command as it is now.
func shell(t *testing.T) func(line string) string {
	t.Helper()
	return shellIn(t, buildCommand(t))
}

// shellIn returns a function that runs a command line, in a directory that holds testdata and with the ntconv of bin,
// and returns all that it prints. Commands may fail: the documents show that too.
func shellIn(t *testing.T, bin string) func(line string) string {
	t.Helper()
	dir := t.TempDir()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testdata, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TZ=UTC", "NTCONV_LOCAL_SYMBOLS=false")
	return func(line string) string {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err)
		}
		return string(out)
	}
}

type consoleCommand struct{ line, output string }

// splitConsole returns the commands of a block: lines that begin with "$ ", each with the output that follows.
func splitConsole(body string) (list []consoleCommand) {
	for line := range strings.Lines(body) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, consoleCommand{line: strings.TrimSuffix(c, "\n")})
		} else if len(list) > 0 {
			list[len(list)-1].output += line
		}
	}
	return list
}

func lines(s string) []string { return slices.Collect(strings.Lines(s)) }

// matchLines reports whether got equals want, in which "..." matches any lines.
func matchLines(want, got []string) bool {
	for i, w := range want {
		if w != "...\n" {
			if i >= len(got) || got[i] != w {
				return false
			}
			continue
		}
		for j := i; j <= len(got); j++ {
			if matchLines(want[i+1:], got[j:]) {
				return true
			}
		}
		return false
	}
	return len(want) == len(got)
}

// shown lists functions that the documents must show.
var shown = map[string][]string{
	"example_test.go":            {"convert", "printEvents"},
	"example_schema_test.go":     {"exceptions", "pauses"},
	"convert/example_test.go":    {"busiest", "count", "fold", "profileThread", "send", "sendAll"},
	"reader/example_test.go":     {"readSmall"},
	"examples/otlp/send/send.go": {"stream"},
	"examples/parquet/write.go":  {"writeTable"},
	"samples/example_test.go":    {"wallTime"},
}

// TestReadmeShowsExamples checks that README.md and docs show the functions that they must, and that all Go code in
// them is that of functions which are compiled and run. Whole programs are built by TestLibraryInClone.
func TestReadmeShowsExamples(t *testing.T) {
	text, code := allDocuments(t), ""
	for file, names := range shown {
		for _, name := range names {
			function := functionOf(t, file, name)
			if !strings.Contains(text, function) {
				t.Errorf("no document shows func %s of %s:\n%s", name, file, function)
			}
			code += function + "\n"
		}
	}
	blocks := goBlocks.FindAllStringSubmatch(text, -1)
	if len(blocks) < len(shown) {
		t.Errorf("%d blocks of Go code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(code, b[1]) && !strings.HasPrefix(b[1], "package main\n") {
			t.Errorf("this code of the documents is not a compiled function:\n%s", b[1])
		}
	}
}

var goBlocks = regexp.MustCompile("(?ms)^```go\n(.*?)^```\n")

// functionOf returns the source of a function.
func functionOf(t *testing.T, file, name string) string {
	t.Helper()
	source := page(t, file)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
			return source[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset]
		}
	}
	t.Fatalf("%s has no func %s", file, name)
	return ""
}

// TestReadmeTables checks that what the tables of README.md and docs say about formats, exit codes and limits is what
// the command says. The table of formats is in README.md.
func TestReadmeTables(t *testing.T) {
	readme, text := page(t, "README.md"), allDocuments(t)
	for _, f := range formats.All() {
		way := "in"
		if f.In == nil {
			way = "out"
		} else if f.Out != nil {
			way = "in, out"
		}
		row := fmt.Sprintf("| %s | %s | `%s` | %s |", f.Name, way, strings.Join(f.Exts, "` `"), f.Doc)
		if !strings.Contains(readme, row+"\n") {
			t.Errorf("README.md lacks the row of the table of formats:\n%s", row)
		}
	}
	run := shell(t)
	codes := regexp.MustCompile(`(?m)^  (\d)  (.+)$`).FindAllStringSubmatch(run("ntconv help exit-codes"), -1)
	wrapped := regexp.MustCompile(`\n {20,}`)
	limits := regexp.MustCompile(`(?m)^ +(--max-[a-z-]+) \S+ +(.+) \(default (\S+)\)$`).
		FindAllStringSubmatch(wrapped.ReplaceAllString(run("ntconv help limits"), " "), -1)
	if len(codes) < 7 || len(limits) < 10 {
		t.Fatalf("%d exit codes and %d limits in the help: has it changed its form?", len(codes), len(limits))
	}
	for _, c := range codes {
		if row := "| " + c[1] + " | " + c[2] + " |\n"; !strings.Contains(text, row) {
			t.Errorf("no document has the row of the table of exit codes:\n%s", row)
		}
	}
	for _, l := range limits {
		if row := "| `" + l[1] + "` | " + l[3] + " | " + l[2] + " |\n"; !strings.Contains(text, row) {
			t.Errorf("no document has the row of the table of limits:\n%s", row)
		}
	}
}

// TestLinks checks that the targets of links in the documents exist.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, name := range append(documents(t), "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "testdata/README.md") {
		for _, m := range link.FindAllStringSubmatch(page(t, name), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestLibraryNamesPublicPackages checks that the table of packages in docs/library.md has a row for each public one.
func TestLibraryNamesPublicPackages(t *testing.T) {
	text := page(t, "docs/library.md")
	for _, p := range listPackages(t) {
		rel := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.DepOnly || p.Name == "main" || rel == p.ImportPath || strings.HasPrefix(rel, "internal/") {
			continue
		}
		if !strings.Contains(text, "| `ntconv/"+rel+"` | ") {
			t.Errorf("docs/library.md lacks ntconv/%s in the table of packages", rel)
		}
	}
}

// TestLibraryStatesWhatImportsNeed checks the columns of that table with what an import compiles: the number of other
// modules, and the size of the source files outside the standard library. -update writes them.
func TestLibraryStatesWhatImportsNeed(t *testing.T) {
	const name = "docs/library.md"
	all, text := listPackages(t), page(t, name)
	row := regexp.MustCompile(`(?m)^\| .ntconv/(\S+). \| (.*?)( \| (\d+) \| ([0-9.]+) MB)? \|$`)
	wrong := 0
	text = row.ReplaceAllStringFunc(text, func(line string) string {
		m := row.FindStringSubmatch(line)
		modules, bytes := needs(t, all, module+"/"+m[1])
		mb, _ := strconv.ParseFloat(m[5], 64) // "" is wrong in any case
		if m[4] != strconv.Itoa(modules) || math.Abs(mb-bytes/1e6) > 0.15 {
			wrong++
			t.Logf("%s: %d other modules, %.1f MB", m[1], modules, bytes/1e6)
		}
		return fmt.Sprintf("| `ntconv/%s` | %s | %d | %.1f MB |", m[1], m[2], modules, bytes/1e6)
	})
	switch {
	case wrong == 0:
	case *update:
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: %d rows are out of date; go test ./internal/testing/repository -run TestLibrary -update writes them", name, wrong)
	}
}

// needs returns the number of other modules that a package needs, and the size of the source files that are compiled for it,
// without those of the standard library.
func needs(t *testing.T, all map[string]*listed, path string) (modules int, bytes float64) {
	t.Helper()
	p := all[path]
	if p == nil {
		t.Fatalf("no package %s", path)
	}
	known := map[string]bool{module: true}
	for _, dep := range append(p.Deps, path) {
		d := all[dep]
		if d == nil || d.Standard || d.Module == nil {
			continue
		}
		if !known[d.Module.Path] {
			known[d.Module.Path] = true
			modules++
		}
		for _, f := range d.GoFiles {
			info, err := os.Stat(filepath.Join(d.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			bytes += float64(info.Size())
		}
	}
	return modules, bytes
}

// TestTestdataIsListed checks that every trace of testdata has a row in its README, and every row a trace.
func TestTestdataIsListed(t *testing.T) {
	text := page(t, "testdata/README.md")
	paths, err := filepath.Glob("testdata/*.nettrace.zst")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	var listed, there []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \| `).FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	for _, p := range paths {
		there = append(there, strings.TrimSuffix(filepath.Base(p), ".nettrace.zst"))
	}
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("testdata/README.md does not list %s", name)
		}
	}
	for _, name := range listed {
		if name != "file" && name != "trace" && !slices.Contains(there, name) {
			t.Errorf("testdata/README.md lists %s, which is not there", name)
		}
	}
}
