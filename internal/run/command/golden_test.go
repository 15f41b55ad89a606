package command

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

var update = flag.Bool("update", false, "write the messages of testdata/messages again")

// A file of testdata/messages has the messages of one command: lines "$ ARGUMENTS", which may end with "  < INPUT" or
// "  | REGEXP", each followed by the exit code, the files that the command leaves, what it writes to standard error, and
// the lines of standard output that the expression matches. "$$" continues in the directory of the previous command. The
// inputs are those of messageInputs, and the traces of the module's testdata.
func TestGoldenMessages(t *testing.T) {
	inputs := messageInputs(t)
	before := treeOf(t, inputs)
	goldens, err := filepath.Glob("testdata/messages/*.txt")
	if err != nil || len(goldens) < 8 {
		t.Fatalf("%d files: %v", len(goldens), err)
	}
	command := regexp.MustCompile(`(?m)^\$\$? .*\n`)
	for _, golden := range goldens {
		t.Run(strings.TrimSuffix(filepath.Base(golden), ".txt"), func(t *testing.T) {
			t.Parallel()
			b := contentAt(t, golden)
			want, dir := string(b), ""
			var got strings.Builder
			at := append(command.FindAllStringIndex(want, -1), []int{len(want)})
			for i, m := range at[:len(at)-1] {
				line, goesOn := strings.CutPrefix(want[m[0]:m[1]-1], "$$ ")
				if !goesOn {
					line, dir = line[2:], t.TempDir()
				}
				text := want[m[0]:m[1]] + runMessage(t, inputs, dir, line)
				if got.WriteString(text); !*update && text != want[m[0]:at[i+1][0]] {
					t.Errorf("want\n%sgot\n%s", want[m[0]:at[i+1][0]], text)
				}
			}
			if *update {
				err = os.WriteFile(golden, []byte(got.String()), 0o666)
			}
			must(t, err)
		})
	}
	t.Cleanup(func() { // after the parallel tests
		if after := treeOf(t, inputs); after != before {
			t.Errorf("inputs have changed:\n%s\nwant\n%s", after, before)
		}
	})
}

// runMessage runs a command line in a directory with the inputs that it names, and returns the exit code, the messages
// and the lines of the output that it asks for.
func runMessage(t *testing.T, inputs, dir, line string) string {
	t.Helper()
	for _, name := range files(t, inputs) {
		_, err := os.Lstat(filepath.Join(dir, name))
		switch from := filepath.Join(inputs, name); {
		case err == nil || !strings.Contains(line, name):
			continue
		case strings.HasPrefix(name, "runs"): // a directory
			err = os.CopyFS(filepath.Join(dir, name), os.DirFS(from))
		default:
			err = os.Symlink(from, filepath.Join(dir, name))
		}
		must(t, err)
	}
	there := namesBelow(t, dir)
	line, shown, _ := strings.Cut(line, "  | ")
	line, input, _ := strings.Cut(line, "  < ")
	var stdin []byte
	if input != "" {
		stdin = contentAt(t, filepath.Join(inputs, input))
	}
	r := invoke(t, dir, stdin, shellWords(t, "ntconv "+line)...)
	made := slices.DeleteFunc(namesBelow(t, dir), func(name string) bool { return slices.Contains(there, name) })
	if n := len(made) - 10; n > 0 {
		made = append(made[:10], fmt.Sprint("and ", n, " more"))
	}
	for i := range made {
		made[i] = commitID.ReplaceAllString(made[i], "COMMIT")
	}
	text := strings.Join(append([]string{fmt.Sprint(r.code)}, made...), " ") + "\n" + seconds.ReplaceAllString(elapsed.ReplaceAllString(r.stderr, "  ...  $1"), "$1...")
	for l := range strings.Lines(elapsed.ReplaceAllString(r.stdout, "  ...  $1")) {
		if shown != "" && regexp.MustCompile(shown).MatchString(l) {
			text += fmt.Sprintf("> %.200s\n", strings.TrimRight(l, "\n"))
		}
	}
	return text
}

// commitID matches the random names of the files of a dataset.
var commitID = regexp.MustCompile(`[0-9a-f]{16}(?:-[0-9]+)?\b`)

// seconds and elapsed match the times of several inputs in JSON, and in the column of a table with its blanks.
var (
	seconds = regexp.MustCompile(`("seconds":)[0-9.]+`)
	elapsed = regexp.MustCompile(` +(?:TIME|-|[0-9.]+(?:s|ms|µs)) +` +
		`(RESULT|converted|incomplete|failed|empty|already there|added|equal|different|only in .)`)
)

// namesBelow returns the files in a directory and below. The table events represents all tables of a trace, and of a dataset.
func namesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		isTable := strings.HasSuffix(name, ".parquet") && strings.Contains(name, "/") && d.Name() != "events.parquet" &&
			(!strings.Contains(name, "/events/") || strings.Contains(name, "/day=__HIVE_DEFAULT_PARTITION__/service=__HIVE"))
		if err == nil && !d.IsDir() && !isTable {
			names = append(names, name)
		}
		return err
	})
	must(t, err)
	return names
}

// messageInputs returns a directory with the inputs of testdata/inputs and others of many kinds.
func messageInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("testdata/inputs")))
	cpu, shop, jit := unpacked(t, "cpu-env"), testProfile(t, "shop"), unpacked(t, "jit")
	with := func(at int, b ...byte) []byte { return slices.Concat(cpu[:at], b, cpu[at+len(b):]) }
	const head = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x01\x10\x02" // two sample types
	broken := bytes.Clone(storedTrace(t, "cpu-env"))
	copy(broken[len(broken)/2:], make([]byte, 1000))
	phases, before := contentAt(t, chromeFile("phases.json")), corpus.Trace(t, "diff/before").Data
	far := bytes.Clone(unpacked(t, "cpu-v6"))
	binary.LittleEndian.PutUint16(far[bytes.Index(far, binary.LittleEndian.AppendUint16(nil, 2026)):], 2263)
	two := slices.Repeat(unpacked(t, "activities"), 2)
	for name, b := range map[string][]byte{
		"T": nil, "cut30": cpu[:30], "cut200": cpu[:200], "my trace": nil, "empty.nettrace": nil, "empty.pb.gz": nil, "empty.folded": nil,
		"bytes": {3, 4, 9, 2}, "it's.xz": []byte("\xfd7zXZ\x00\x00\x04"), "a.pb.gz": shop, "again.pb.gz": shop, "cut.pb.gz": shop[:len(shop)-20], "a.pb.gz.gz": gzipped(t, shop),
		"raw.pb": decompressed(t, shop), "till.pb.gz": testProfile(t, "till"), "cpu.pb.gz": nameless(t, "cpu", "nanoseconds"), "heap.pb.gz": nameless(t, "inuse_space", "bytes"),
		"nothing.pb.gz": changed(t, "shop", func(p *profile.Profile) { p.Sample = nil }),
		"deep.pb.gz":    changed(t, "shop", func(p *profile.Profile) { p.Sample[0].Location = slices.Repeat(p.Sample[1].Location, 9_500) }),
		"minus.pb.gz":   changed(t, "shop", func(p *profile.Profile) { p.Sample[0].Value, p.Sample[1].Value = []int64{-3, -3e7}, []int64{-1, 1e7} }),
		"space.pb.gz": changed(t, "till", func(p *profile.Profile) {
			p.SampleType = []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
		}),
		"dangling.pb.gz": gzipped(t, []byte(head+"\x12\x07\x0a\x01\x09\x12\x02\x01\x02\x32\x00\x32\x01a\x32\x01b")),
		"phases.json.gz": gzipped(t, phases), "cut.json": phases[:1000], "bad.json": bytes.Replace(phases, []byte(`"ts":153`), []byte(`"ts":x`), 1),
		"a": cpu, "a.nettrace": cpu, "b.nettrace": unpacked(t, "cpu-v6"), "old.pb.gz": cpu, "far.nettrace": far, "twice": two, "junk": slices.Concat(jit, []byte("junk")),
		"zeros": slices.Concat(jit, make([]byte, 512)), "before-cut": before[:len(before)*9/10],
		"name": with(43, 0xff, 0xff, 0xff, 0xff), "header": with(8, 9), "version": with(35, 68), "cut": cpu[:len(cpu)*2/3], "begin": cpu[:100],
		"id": with(bytes.Index(cpu, []byte("MetadataBlock"))+200, make([]byte, 100)...), "broken.zst": broken, "cut.zst": storedTrace(t, "cpu-env")[:10],
		"cut.gz":          gzipped(t, cpu)[:100],
		"runs/a.nettrace": unpacked(t, "cpu-v6"), "runs/cut.nettrace": cpu[:len(cpu)/2], "runs/sub/a.nettrace": jit, "runs-copy/a.nettrace": cpu,
		"runs-copy/sub/a.nettrace.gz": gzipped(t, jit), "runs-copy/sub/b.nettrace": cpu, "runs-same/a.nettrace": cpu, "runs-same/a.nettrace.gz": gzipped(t, cpu),
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		write(t, dir, name, b)
	}
	traces, err := filepath.Glob(corpus.Path("*.nettrace.zst"))
	must(t, err)
	for _, path := range append(traces, corpus.Path("go-cpu.pb.gz"), chromeFile("v8.json"), chromeFile("own.cpuprofile"), spanTrace(t), threadTrace(t),
		diffInput("before"), diffInput("after"), diffInput("again")) {
		write(t, dir, filepath.Base(path), contentAt(t, path))
	}
	write(t, dir, "part.nettrace", contentAt(t, parts(t, t.TempDir(), "process", trace(t, "cpu-env"))[0]))
	return dir
}

// chromeFile returns the path of a file of importers/chrome.
func chromeFile(name string) string {
	return filepath.Join("..", "..", "..", "importers", "chrome", "testdata", name)
}

// changed returns the profile of a program after a change.
func changed(t *testing.T, program string, change func(*profile.Profile)) []byte {
	t.Helper()
	p, err := profile.ParseData(testProfile(t, program))
	must(t, err)
	change(p)
	var b bytes.Buffer
	must(t, p.Write(&b))
	return b.Bytes()
}

// nameless returns a profile of one sample, whose only frame has no name.
func nameless(t *testing.T, value, unit string) []byte {
	t.Helper()
	return changed(t, "shop", func(p *profile.Profile) {
		at := p.Location[0]
		at.Line, p.Function, p.Location, p.Comments = nil, nil, []*profile.Location{at}, nil
		p.Mapping[0].HasFunctions, p.PeriodType, p.Period, p.TimeNanos, p.DurationNanos = false, nil, 0, 0, 0
		p.SampleType = []*profile.ValueType{{Type: value, Unit: unit}}
		p.Sample = []*profile.Sample{{Location: []*profile.Location{at}, Value: []int64{5e6}}}
	})
}
