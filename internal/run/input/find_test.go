//go:build unix

package input_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// tree creates files below a new directory and makes it the current directory.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Arguments represent files, the traces in directories, and the matches of a pattern.
func TestFind(t *testing.T) {
	magic := string(corpus.Trace(t, "cpu-v6").Data[:64])
	tree(t, map[string]string{
		"a/1.nettrace": "", "a/2.nettrace.zst": "", "a/b/3.nettrace": "", "a/b/c/4.netperf": "", "a/without-extension": magic,
		"a/README.md": "# traces", "a/events.jsonl": `{"a":1}`, "a/list.txt.gz": "", "a/.hidden.nettrace": "", "a/_partial.nettrace": "",
		"fleet/" + dataset.ConfigName: "{}", "fleet/day=1/x.nettrace": "", "docs/only.md": "#",
	})
	all := "a/1.nettrace a/2.nettrace.zst a/b/3.nettrace a/b/c/4.netperf a/without-extension"
	for _, c := range []struct{ words, want, skipped string }{
		{"a", all, "a/README.md a/events.jsonl a/list.txt.gz"},
		{"a/ a/1.nettrace ./a/1.nettrace", all, "a/README.md a/events.jsonl a/list.txt.gz"},
		{"a a", all, "a/README.md a/README.md a/events.jsonl a/events.jsonl a/list.txt.gz a/list.txt.gz"},
		{"- a/1.nettrace missing.nettrace", "- a/1.nettrace missing.nettrace", ""},
		{"a/*.nettrace", "a/1.nettrace a/_partial.nettrace", ""},
		{"a/?.nettrace*", "a/1.nettrace a/2.nettrace.zst", ""},
		{"a/**/*.nettrace", "a/1.nettrace a/_partial.nettrace a/b/3.nettrace", ""},
		{"**/[34].net*", "a/b/3.nettrace a/b/c/4.netperf", ""},
		{"a/b/**", "a/b/3.nettrace a/b/c/4.netperf", ""},
		{"*/b", "a/b/3.nettrace a/b/c/4.netperf", ""},
		{".", all, "a/README.md a/events.jsonl a/list.txt.gz docs/only.md fleet"},
	} {
		got, err := input.Find(strings.Fields(c.words), formats.Readable())
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
			continue
		}
		names, skipped := slices.Sorted(slices.Values(got.Names)), slices.Sorted(slices.Values(got.Skipped))
		want := slices.Sorted(slices.Values(strings.Fields(c.want)))
		if filepath.ToSlash(strings.Join(names, " ")) != strings.Join(want, " ") || filepath.ToSlash(strings.Join(skipped, " ")) != c.skipped {
			t.Errorf("%s: %q, skipped %q", c.words, names, skipped)
		}
	}
	for _, word := range []string{"docs", "a/*.pprof", "**/nothing-*"} {
		if got, err := input.Find([]string{word}, formats.Readable()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", word, got, err)
		}
	}
	var of *input.DatasetError
	if _, err := input.Find([]string{"fleet"}, formats.Readable()); !errors.As(err, &of) {
		t.Errorf("a dataset: %v", err)
	}
	for _, from := range append(formats.Readable(), nil) { // a dataset is not an input of any format
		if in, err := input.Open([]string{"fleet"}, &input.Options{From: from}); !errors.As(err, &of) || of.Dir != "fleet" {
			t.Errorf("a dataset: %v, %v", in, err)
		}
	}
	if _, err := input.Find([]string{"a/[x"}, formats.Readable()); err == nil || !strings.Contains(err.Error(), "syntax error in pattern") {
		t.Errorf("%v", err)
	}
}

// A directory that is an input of some format is one input, unless it also contains files of another format.
func TestFindDirectories(t *testing.T) {
	tree(t, map[string]string{
		"tables/events.tab": "", "tables/_manifest.json": "{}", "mixed/events.tab": "", "mixed/1.nettrace": "", "2.nettrace": "",
	})
	table := append(formats.Readable(), &formats.Format{Name: "tab", Exts: []string{".tab"}, In: &formats.In{
		SniffDir: func(members []string) bool { return slices.Contains(members, "events.tab") },
	}})
	got, err := input.Find([]string{"."}, table)
	if err != nil || filepath.ToSlash(strings.Join(got.Names, " ")) != "2.nettrace mixed/1.nettrace mixed/events.tab tables" {
		t.Errorf("%v %v", got, err)
	}
}

// A trace and its compressed copy have the same hash; other contents have another one.
func TestSum(t *testing.T) {
	trace := corpus.Trace(t, "cpu-v6").Data
	tree(t, map[string]string{"plain.nettrace": string(trace), "other.nettrace": string(trace[:len(trace)-1])})
	sum := func(name string) []byte {
		o := options(t)
		o.Again = true
		in, err := input.Open([]string{name}, o)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s, err := in.Sum([]int64{0, int64(len(trace)) / 2, int64(len(trace)), int64(len(trace)) + 1})
		if err != nil {
			t.Fatal(err)
		}
		half := sha256.Sum256(trace[:len(trace)/2])
		if !bytes.Equal(s.Beginnings[int64(len(trace))/2], half[:]) || s.Beginnings[int64(len(trace))+1] != nil {
			t.Errorf("beginnings: %x", s.Beginnings)
		}
		sum := s.SHA256
		if name != "other.nettrace" && count(t, in) == 0 {
			t.Error("the input cannot be read after Sum")
		}
		return sum
	}
	plain := sum("plain.nettrace")
	if other := sum("other.nettrace"); bytes.Equal(plain, other) {
		t.Error("two traces have one sum")
	}
	if compressed := sum(corpus.Path("cpu-v6.nettrace.zst")); !bytes.Equal(plain, compressed) {
		t.Error("a compressed copy has another sum")
	}
}
