package formats

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/folded"
)

// headOf returns what Detect sees of a file.
func headOf(data []byte) []byte { return data[:min(len(data), HeadSize)] }

func TestFoldedIsRecognized(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "importers", "folded", "testdata", "*.folded"))
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{data, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), append([]byte("\ufeff# from a test\n\n"), data...)} {
			if !isFolded(headOf(text)) {
				t.Errorf("%s is not recognized: %.200s", file, text)
			}
		}
	}
	for _, text := range []string{"a;b 1", "a;b;\xffc 1.5\n", "main 5\nmain;a 5\n", strings.Repeat("SomeNamespace.SomeClass.SomeMethod();", 200) + "leaf 5\n"} {
		if !isFolded(headOf([]byte(text))) {
			t.Errorf("%.100q is not recognized", text)
		}
	}
}

// TestTextIsNotFolded checks that other text is not mistaken for folded stacks.
func TestTextIsNotFolded(t *testing.T) {
	for _, text := range []string{
		"", "\n", "hello", "hello 5\nworld 6\n", "main;a b\n", "{\"a;b\": 5}\n", "[\"a;b 1\"]", "a;b 1\nhello\n",
		"name;age;score\nAnn;31;good 5\n", "2026-03-01;12:00;7 5\n2026-03-01;12:01;7 6\n", "x = 1; y = 2; z = 3\n", "int a; int b; int c 5\n", "for (i = 0; i < 5\n",
		"a;b\x001\n", "# just a comment 5\n", ";;; 5\n", "main;;b 5\n", "1;2;3 4\n", "key,value;other 5,5\n", "a;b 12345678901234567890\n",
		strings.Repeat("words and more words; ", 400), "Nettrace\x14\x00\x00\x00!FastSerialization.1",
	} {
		if isFolded(headOf([]byte(text))) {
			t.Errorf("%.100q is mistaken for folded stacks", text)
		}
	}
}

// The files of this module and of the Go distribution are mistaken for neither folded stacks nor OTLP.
func TestFilesAreNotRecognized(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no Go distribution: ", err)
	}
	read, in := 0, otlpIn()
	for _, dir := range []string{filepath.Join("..", "..", ".."), filepath.Join(strings.TrimSpace(string(root)), "src", "runtime"), filepath.Join(strings.TrimSpace(string(root)), "lib")} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"): // speedscope brings folded stacks
				return fs.SkipDir
			case err != nil || d.IsDir():
				return nil
			}
			data, err := os.ReadFile(path)
			if read++; err != nil {
				return nil
			}
			if isFolded(headOf(data)) && filepath.Ext(path) != ".folded" {
				t.Errorf("%s is mistaken for folded stacks", path)
			}
			for _, n := range []int{SniffSize, 9, 10, 16, 100, HeadSize} {
				if in.Sniff(data[:min(n, len(data))]) && !strings.Contains(path, "otlp") {
					t.Errorf("the first %d bytes of %s are mistaken for OTLP", n, path)
				}
			}
			return nil
		})
	}
	if read < 500 {
		t.Errorf("only %d files", read)
	}
}

// FuzzFolded checks that what is recognized can be read: no line of it is skipped.
func FuzzFolded(f *testing.F) {
	f.Add([]byte("a;b 1\n# c\nd 2.5"))
	f.Add([]byte("a;b 1 2\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if len(head) >= HeadSize || !isFolded(head) {
			return
		}
		report := &ntconv.Report{}
		src, err := folded.New(bytes.NewReader(head), &folded.Options{Report: report})
		if err != nil {
			return // lines with two values are refused with a reason of their own
		}
		events := 0
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				events++
			}
		}
		if events == 0 || report.Count(ntconv.CodeRowSkipped) > 0 {
			t.Fatalf("%d events, %v", events, report.Entries())
		}
	})
}
