//go:build unix

package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLibraryInClone does what docs/library.md says about a clone: it writes the program of the page into a module of
// its own, runs the commands of the page, and compares what they print. go mod tidy also wants modules that only tests
// of other modules need: the go command downloads the missing ones, as it did before it ran this test. The sums are those
// of this module, so no server needs to confirm them.
func TestLibraryInClone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with all formats, which short mode does without")
	}
	text := page(t, "docs/library.md")
	program := find(t, text, "(?ms)^```go\n(package main\n.*?)^```\n")
	commands := find(t, text, "(?ms)^```sh\n(go mod init .*?)^```\n")
	output := find(t, text, "(?ms)^```text\n(.*?)^```\n")

	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
		t.Fatal(err)
	}
	// The clone is this directory: in another one, the go command would compile all packages again.
	commands = strings.ReplaceAll(commands, "../ntconv", root)
	cmd := exec.Command("sh", "-e", "-c", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOSUMDB=off", "GOWORK=off")
	var printed, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &problems
	if err := cmd.Run(); err != nil || printed.String() != output {
		t.Errorf("%v, printed %q, want %q\n%s", err, printed.String(), output, problems.String())
	}
}

// find returns what a regular expression with one group finds in a text.
func find(t *testing.T, text, expression string) string {
	t.Helper()
	m := regexp.MustCompile(expression).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in the page", expression)
	}
	return m[1]
}
