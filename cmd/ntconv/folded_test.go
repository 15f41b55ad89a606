package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// What is wrong with a flag or an input of folded stacks is said in its own words, with the exit code of its kind.
func TestFolded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"flat.folded": "main 1\nidle 2\n", "empty.folded": "", "two.folded": "main;read 3\nmain;write 4\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"to folded --sample-type nothing two.folded -o -", exitUsage, "--sample-type nothing: the profile has no such sample type; available: samples\n"},
		{"to folded --unit seconds two.folded -o -", exitUsage, "--unit seconds: values of type samples are in count; omit the flag"},
		{"to folded --unit seconds " + corpus.Path("go-cpu.pb.gz") + " -o -", exitUsage, "--unit seconds: the total of every stack is less than half of that; choose a smaller unit"},
		{"to folded two.folded -o -", exitOK, "2 distinct stacks from 2 of 2 events in two.folded (folded)"},
		{"to folded flat.folded -o -", exitInput, "--from"},
		{"to folded --from folded flat.folded -o -", exitOK, "2 distinct stacks"},
		{"from folded to pprof flat.folded -o flat.pb.gz", exitOK, "2 distinct samples"},
		{"from folded to pprof --from nettrace flat.folded -o other.pb.gz", exitUsage, "--from nettrace: ntconv from folded names the format"},
		{"info empty.folded", exitInput, "check that the program that wrote it has found samples"},
	} {
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: code %d: %s", c.args, r.code, r.stderr)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
		t.Errorf("%v, %v", entries, err)
	}
}
