//go:build unix

package ntconv_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/formats"
)

var update = flag.Bool("update", false, "write what the commands in README.md print into it")

// pages are the documents with claims that can be checked.
var pages = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "testdata/README.md"}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadmeCommands runs every command of the README's console blocks, in a folder that holds testdata and with the
// command as it is now, and compares what they print. A line "..." stands for any number of lines.
func TestReadmeCommands(t *testing.T) {
	readme := page(t, "README.md")
	run := shell(t)
	commands := 0
	fresh := consoleBlocks.ReplaceAllStringFunc(readme, func(block string) string {
		body := consoleBlocks.FindStringSubmatch(block)[1]
		out := "```console\n"
		for _, c := range splitConsole(body) {
			commands++
			got := run(c.line)
			switch {
			case matchLines(lines(c.output), lines(got)):
				got = c.output
			case *update && !strings.Contains(c.output, "\n...\n"):
				t.Errorf("$ %s: output in README.md is replaced", c.line)
			default:
				t.Errorf("$ %s\nprints\n%swhere README.md says\n%s", c.line, got, c.output)
				got = c.output
			}
			out += "$ " + c.line + "\n" + got
		}
		return out + "```\n"
	})
	if commands == 0 {
		t.Error("README.md has no console blocks")
	}
	if *update && fresh != readme {
		if err := os.WriteFile("README.md", []byte(fresh), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var consoleBlocks = regexp.MustCompile("(?ms)^```console\n(.*?)^```\n")

// shell returns a function that runs a command line, in a folder that holds testdata and with ntconv as it is now, and
// returns all that it prints. Commands may fail: the README shows that too.
func shell(t *testing.T) func(line string) string {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "./cmd/ntconv").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testdata, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TZ=UTC")
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

// matchLines reports whether got is want, in which "..." stands for any lines.
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

// TestReadmeShowsExamples: the code in the README is that of the examples, which are compiled and run.
func TestReadmeShowsExamples(t *testing.T) {
	readme := page(t, "README.md")
	for file, names := range map[string][]string{
		"example_test.go":            {"convert", "printEvents"},
		"example_schema_test.go":     {"exceptions", "pauses"},
		"examples/otlp/send/send.go": {"send"},
		"examples/parquet/write.go":  {"writeTable"},
	} {
		source := page(t, file)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			found := false
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
					found = true
					if code := source[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset]; !strings.Contains(readme, code) {
						t.Errorf("README.md does not show func %s of %s:\n%s", name, file, code)
					}
				}
			}
			if !found {
				t.Errorf("%s has no func %s", file, name)
			}
		}
	}
}

// TestReadmeTables: what the README's tables say of formats, exit codes and limits is what the command says.
func TestReadmeTables(t *testing.T) {
	readme := page(t, "README.md")
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
		if row := "| " + c[1] + " | " + c[2] + " |\n"; !strings.Contains(readme, row) {
			t.Errorf("README.md lacks the row of the table of exit codes:\n%s", row)
		}
	}
	for _, l := range limits {
		if row := "| `" + l[1] + "` | " + l[3] + " | " + l[2] + " |\n"; !strings.Contains(readme, row) {
			t.Errorf("README.md lacks the row of the table of limits:\n%s", row)
		}
	}
}

// TestLinks: what the documents point at is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, name := range pages {
		for _, m := range link.FindAllStringSubmatch(page(t, name), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestArchitectureNamesPackages: every package has its paragraph.
func TestArchitectureNamesPackages(t *testing.T) {
	text := page(t, "ARCHITECTURE.md")
	for _, p := range listPackages(t) {
		if rel := strings.TrimPrefix(p.ImportPath, module+"/"); !p.DepOnly && rel != module && !strings.Contains(text, "`"+rel+"`") {
			t.Errorf("ARCHITECTURE.md does not say what %s is for", rel)
		}
	}
}

// TestReadmeNamesPublicPackages: the README's table of packages has a row for each public one.
func TestReadmeNamesPublicPackages(t *testing.T) {
	readme := page(t, "README.md")
	for _, p := range listPackages(t) {
		rel := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.DepOnly || p.Name == "main" || rel == p.ImportPath || strings.HasPrefix(rel, "internal/") {
			continue
		}
		if !strings.Contains(readme, "| `ntconv/"+rel+"` | ") {
			t.Errorf("README.md lacks ntconv/%s in the table of packages", rel)
		}
	}
}

// TestTestdataIsListed: every trace of testdata has a row in its README, and every row a trace.
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
