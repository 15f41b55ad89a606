//go:build unix

package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
)

// Git ignores what the commands of the documents write, so that trying them in a clone leaves it clean.
func TestOutputsAreIgnored(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	outputs := writtenByDocuments(t)
	if len(outputs) < 20 {
		t.Fatalf("only %d outputs in the documents: %q", len(outputs), outputs)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(page(t, ".gitignore")), 0o666); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		// No settings of the user, such as patterns of their own.
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for _, name := range outputs {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(path, "member")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if left := git("status", "--porcelain", "--untracked-files=all"); left != "?? .gitignore\n" {
			t.Errorf("git does not ignore %s", name)
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	codeBlocks = regexp.MustCompile("(?ms)^```(?:console|sh)\n(.*?)^```")
	indented   = regexp.MustCompile(`(?m)^ {4}(?:\$ )?(ntconv .*)$`)
	// What follows -o, --dataset and >, and the second argument of filter and convert.
	named = regexp.MustCompile(`(?: -o | --dataset |[^-]> )([A-Za-z./][\w./-]*)|(?:filter|convert) .*\s[\w./-]+ ([\w-]+\.[\w.-]+)$`)
)

// writtenByDocuments returns the names of the outputs of all commands in README.md and docs: those that the commands
// name, and those that outputs have without a name. Names of directories end with a slash.
func writtenByDocuments(t *testing.T) []string {
	t.Helper()
	var list []string
	add := func(name string) {
		if name != "" && !filepath.IsAbs(name) && !strings.HasPrefix(name, "..") && name != "-" {
			list = append(list, name)
		}
	}
	for _, f := range formats.Writable() {
		add(f.OutputFor("trace.nettrace"))
	}
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "README.md") {
		text := page(t, file)
		var commands []string
		for _, block := range codeBlocks.FindAllStringSubmatch(text, -1) {
			commands = append(commands, strings.Split(block[1], "\n")...)
		}
		for _, line := range indented.FindAllStringSubmatch(text, -1) {
			commands = append(commands, line[1])
		}
		for _, line := range commands {
			line, _, _ = strings.Cut(line, " #")
			if !strings.Contains(line, "ntconv ") {
				continue
			}
			for part := range strings.SplitSeq(line, "&&") {
				for _, m := range named.FindAllStringSubmatch(strings.TrimSpace(part), -1) {
					add(m[1] + m[2])
				}
			}
		}
	}
	// A directory has no extension, or that of a table of Parquet files.
	for i, name := range list {
		if filepath.Ext(name) == "" && !strings.HasSuffix(name, "/") {
			list[i] = name + "/"
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
