package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

var update = flag.Bool("update", false, "write the messages of testdata/messages again")

// A file of testdata/messages has the messages of one command: lines "$ ARGUMENTS", which may end with "  < INPUT",
// each followed by the exit code, the files that the command leaves, and what it writes to standard error. The inputs
// are those of messageInputs, and the traces of the module's testdata.
func TestGoldenMessages(t *testing.T) {
	inputs := messageInputs(t)
	before := map[string]string{}
	for _, name := range files(t, inputs) {
		b, _ := os.ReadFile(filepath.Join(inputs, name))
		before[name] = string(b)
	}
	goldens, err := filepath.Glob("testdata/messages/*.txt")
	if err != nil || len(goldens) < 8 {
		t.Fatalf("%d files: %v", len(goldens), err)
	}
	for _, golden := range goldens {
		t.Run(strings.TrimSuffix(filepath.Base(golden), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for block := range strings.SplitSeq(strings.TrimPrefix(string(want), "$ "), "\n$ ") {
				line, _, _ := strings.Cut(block, "\n")
				text := "$ " + line + "\n" + runMessage(t, inputs, line)
				if got.WriteString(text); !*update && !strings.Contains(string(want)+"$ ", text+"$ ") {
					t.Errorf("want\n$ %s\ngot\n%s", block, text)
				}
			}
			if *update {
				err = os.WriteFile(golden, []byte(got.String()), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Cleanup(func() { // after the parallel tests
		for name, content := range before {
			if b, err := os.ReadFile(filepath.Join(inputs, name)); err != nil || string(b) != content {
				t.Errorf("%s has changed: %v", name, err)
			}
		}
	})
}

// runMessage runs a command line in a directory with the inputs, and returns the exit code and the messages.
func runMessage(t *testing.T, inputs, line string) string {
	t.Helper()
	dir := t.TempDir()
	names := slices.DeleteFunc(files(t, inputs), func(name string) bool { return !strings.Contains(line, name) })
	for _, name := range names {
		if err := os.Symlink(filepath.Join(inputs, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	line, input, _ := strings.Cut(line, "  < ")
	var stdin []byte
	if input != "" {
		var err error
		if stdin, err = os.ReadFile(filepath.Join(inputs, input)); err != nil {
			t.Fatal(err)
		}
	}
	r := invoke(t, dir, stdin, shellWords(t, "ntconv "+line)...)
	head := fmt.Sprint(r.code)
	for _, name := range files(t, dir) {
		if !slices.Contains(names, name) {
			head += " " + name
		}
	}
	return head + "\n" + r.stderr
}

// messageInputs returns a directory with inputs of many kinds.
func messageInputs(t *testing.T) string {
	t.Helper()
	cpu := unpacked(t, "cpu-env")
	with := func(at int, b ...byte) []byte { return slices.Concat(cpu[:at], b, cpu[at+len(b):]) }
	shop := testProfile(t, "shop")
	const head = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x01\x10\x02" // two sample types
	strings := gzip.NewWriter(new(bytes.Buffer))
	pack := func(b string) []byte {
		var out bytes.Buffer
		strings.Reset(&out)
		_, _ = strings.Write([]byte(b))
		_ = strings.Close()
		return out.Bytes()
	}
	broken := bytes.Clone(stored(t, "cpu-env"))
	copy(broken[len(broken)/2:], make([]byte, 1000))
	inputs := map[string][]byte{
		"T": nil, "words": []byte("hello\n"), "cut30": cpu[:30], "cut200": cpu[:200], "my trace": nil, "empty.nettrace": nil, "empty.pb.gz": nil, "bytes": {3, 4, 9, 2}, "old": []byte("old"),
		"it's.xz": []byte("\xfd7zXZ\x00\x00\x04"), "text.pb.gz": []byte("just a text\n"),
		"a.pb.gz": shop, "cut.pb.gz": shop[:len(shop)-20], "cpu.pb.gz": nameless(t, "cpu", "nanoseconds"),
		"nothing.pb.gz": sampleless(t), "heap.pb.gz": nameless(t, "inuse_space", "bytes"),
		"legacy.pb.gz":     []byte("heap profile: 1: 2 [ 3: 4 ] @ heap/1\n1: 2 [3: 4] @ 0x1000\n"),
		"legacy-cut.pb.gz": []byte("heap profile: 1: 2 [ 3: 4 ] @ heap/1\n1: x\n"),
		"dangling.pb.gz":   pack(head + "\x12\x07\x0a\x01\x09\x12\x02\x01\x02\x32\x00\x32\x01a\x32\x01b"),
		"c.json":           []byte(`[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]`),
		"s.folded":         []byte("a;b 1\n"), "flat.folded": []byte("main 1\nidle 2\n"), "empty.folded": nil,
		"two.folded": []byte("main;read 3\nmain;write 4\n"), "again.pb.gz": shop, "space.pb.gz": withTypes(t, "till"), "a.folded": []byte("main;f 10\nmain;g 20\n"),
		"a": cpu, "a.nettrace": cpu, "b.nettrace": unpacked(t, "cpu-v6"), "old.pb.gz": cpu,
		"name": with(43, 0xff, 0xff, 0xff, 0xff), "header": with(8, 9), "version": with(35, 68), "cut": cpu[:len(cpu)*2/3],
		"begin": cpu[:100], "id": with(bytes.Index(cpu, []byte("MetadataBlock"))+200, make([]byte, 100)...),
		"broken.zst": broken, "cut.zst": stored(t, "cpu-env")[:10], "cut.gz": gzipped(t, cpu)[:100],
	}
	traces, err := filepath.Glob(corpus.Path("*.nettrace.zst"))
	if err != nil {
		t.Fatal(err)
	}
	part := parts(t, t.TempDir(), "process", trace(t, "cpu-env"))[0]
	for _, path := range append(traces, corpus.Path("go-cpu.pb.gz"), spanTrace(t), diffInput("before"), part) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if path == part {
			path = "part.nettrace"
		}
		inputs[filepath.Base(path)] = b
	}
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		write(t, dir, name, inputs[name])
	}
	return dir
}

// withTypes returns a profile of a program whose sample types are objects and bytes.
func withTypes(t *testing.T, program string) []byte {
	t.Helper()
	p, err := profile.ParseData(testProfile(t, program))
	if err != nil {
		t.Fatal(err)
	}
	p.SampleType = []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
