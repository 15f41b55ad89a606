package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// attacksOnOutput are on outputs: their size, and their contents after an error.
var attacksOnOutput = []attack{
	{file: "stack-amplify.nettrace", args: "print --json --frames IN -o OUT", code: 5, mib: 120, says: "output too large: limit 256 MiB"},
	{file: "stack-amplify.nettrace", args: "to parquet --single IN -o OUT", code: 5, mib: 150, says: "raise --max-output"},
	{file: "stack-amplify.nettrace", args: "print --frames --max-output 1MiB IN", code: 5, out: 1 << 20, mib: 100, says: "limit 1 MiB"},
	{file: "inlined.nettrace", args: "print --json --frames --max-output 8MiB IN", code: 5, out: 8 << 20, mib: 150, says: "raise --max-output"},
	{file: "limit-partial-stdout.nettrace", args: "print --json --frames --crc --hex IN", code: 5, mib: 100, says: "raise --max-fields"},
	{file: "strict-partial-stdout.nettrace", args: "print --json --strict --frames --crc --hex IN", code: 2, mib: 150, says: "stack ID is already in use"},
	{file: "strict-partial-stdout.nettrace", args: "print --json --strict IN", code: 2, mib: 150, says: "stack ID is already in use"},
	{file: "strict-partial-stdout.nettrace", args: "to nettrace --strict IN -o -", code: 2, mib: 150, says: "stack ID is already in use"},

	{file: "locbomb.nettrace", args: "to parquet IN -o OUT/", out: 64 << 10, mib: 100},
	{file: "locbomb.nettrace", args: "to chrome IN -o OUT.trace.json", out: 16 << 10, mib: 100},
	{file: "locbomb.nettrace", args: "to perfetto IN -o OUT.perfetto-trace", out: 16 << 10, mib: 100},
	{file: "locbomb.nettrace", args: "to firefox IN -o OUT.firefox.json", out: 16 << 10, mib: 100},
	{file: "locarray.nettrace", args: "print IN", out: 4 << 20, mib: 120},
	{file: "locarray.nettrace", args: "to parquet IN -o OUT/", out: 8 << 20, mib: 120},
	{file: "locarray.nettrace", args: "to chrome IN -o OUT.trace.json", out: 4 << 20, mib: 120},
	{file: "locarray.nettrace", args: "to perfetto IN -o OUT.perfetto-trace", out: 4 << 20, mib: 120},
	{file: "locarray.nettrace", args: "to firefox IN -o OUT.firefox.json", out: 4 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "print IN", out: 4 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "to parquet IN -o OUT/", out: 8 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "to chrome IN -o OUT.trace.json", out: 4 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "to perfetto IN -o OUT.perfetto-trace", out: 4 << 20, mib: 120, says: "1 payload does not fit"},
	{file: "dataloc.nettrace", args: "to firefox IN -o OUT.firefox.json", out: 4 << 20, mib: 100},
}

// After an error, standard output ends at the end of a line, and every line of JSON is complete.
func TestLinesAreWhole(t *testing.T) {
	for _, tt := range []struct {
		file string
		args string
		code int
		json bool
		pipe bool // the input comes through a pipe, so that it cannot be checked first
	}{
		{"stack-amplify.nettrace", "print --json --frames --max-output 700KiB", exitLimit, true, false},
		{"stack-amplify.nettrace", "print --frames --max-output 700KiB", exitLimit, false, false},
		{"limit-partial-stdout.nettrace", "print --json --crc --hex", exitLimit, true, true},
		{"limit-partial-stdout.nettrace", "print --crc --hex", exitLimit, false, true},
		{"strict-partial-stdout.nettrace", "print --json --strict --crc --hex", exitInput, true, true},
	} {
		dir := t.TempDir()
		var in []byte
		name := unpackHostile(t, dir, tt.file)
		if tt.pipe {
			in, name = corpus.Hostile(t, tt.file).Data, "-"
		}
		r := invoke(t, dir, in, append(strings.Fields(tt.args), name)...)
		if r.code != tt.code {
			t.Errorf("%s: exit code %d, want %d: %s", tt.args, r.code, tt.code, r.stderr)
		}
		if r.stdout == "" || !strings.HasSuffix(r.stdout, "\n") {
			t.Errorf("%s: %d bytes on standard output, which end with %q", tt.args, len(r.stdout), r.stdout[max(0, len(r.stdout)-20):])
		}
		for line := range strings.Lines(r.stdout) {
			if tt.json && !json.Valid([]byte(line)) {
				t.Errorf("%s: not a line of JSON: %.100s", tt.args, line)
				break
			}
		}
	}
}

// Everything that is printed fails if standard output is full, also help.
func TestStandardOutputIsFull(t *testing.T) {
	in := trace(t, "cpu-env")
	for _, args := range []string{
		"--help", "help top", "help where", "dataset", "to pprof --help", "--version", "version", "completion bash", "completion zsh", "completion fish",
		"completion powershell", "info IN", "info --json IN", "top IN", "verify IN IN", "print IN", "print --json IN", "to pprof IN -o -", "to nettrace IN -o -",
		"to folded IN -o -", "to parquet IN -o -", "to chrome IN -o -", "to perfetto IN -o -", "to firefox IN -o -", "to speedscope IN -o -", "filter --tid 15673 IN -",
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		cmd := command(t, t.TempDir(), strings.Fields(strings.ReplaceAll(args, "IN", in))...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		code := exitCode(t, cmd.Run())
		if code != exitOutput || !strings.Contains(errs.String(), "ntconv: standard output: write after 0 bytes: no space left on device") {
			t.Errorf("%s: exit code %d: %.200s", args, code, errs.String())
		}
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A run that fails wrote nothing: the destination is as before, and nothing is left next to it or in the directory for
// temporary files.
func TestFailureLeavesNothing(t *testing.T) {
	hostile := t.TempDir()
	whole, cut := trace(t, "cpu-env"), filepath.Join(hostile, "cut")
	data := unpacked(t, "cpu-env")
	must(t, os.WriteFile(cut, data[:len(data)-200], 0o600))
	limit := unpackHostile(t, hostile, "limit-partial-stdout.nettrace")
	const fullDisk = "full disk"
	outputs := map[string]string{
		"print --json -f": "x", "to pprof -f": "x.pb.gz", "to folded -f": "x.folded", "to nettrace -f": "x.nettrace", "to chrome -f": "x.trace.json.gz",
		"to perfetto -f": "x.perfetto-trace", "to firefox -f": "x.firefox.json", "to speedscope -f": "x.speedscope.json", "to parquet -f": "d.parquet/",
		"to parquet --single -f": "x.parquet", "filter -f --tid 15673": "x.nettrace",
	}
	for i, words := range slices.Sorted(maps.Keys(outputs)) {
		out := outputs[words]
		for j, failure := range []struct {
			name, in, flags string
			code            int
		}{
			{"strict", cut, "--strict", exitInput}, {"limit of the reader", limit, "", exitLimit}, {"limit on output", whole, "--max-output 100", exitLimit},
			{"not a trace", "/etc/passwd", "", exitInput}, {"nothing selected", whole, "--provider Nope", exitEmpty}, {fullDisk, whole, "", exitOutput},
		} {
			if corpus.IsOmitted(i+j, 3) {
				continue
			}
			dir, temp := t.TempDir(), t.TempDir()
			dest := filepath.Join(dir, out)
			old := dest
			if strings.HasSuffix(out, "/") {
				old = filepath.Join(dest, "events.parquet")
				must(t, os.Mkdir(dest, 0o700))
			}
			must(t, os.WriteFile(old, []byte("precious"), 0o600))
			before := treeOf(t, dir)
			line := fmt.Sprintf("%s %s %s -o %s", words, failure.flags, failure.in, dest)
			cmd := command(t, dir, strings.Fields(line)...)
			cmd.Env = append(cmd.Environ(), "TMPDIR="+temp)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if failure.name == fullDisk { // no file may have more than a block
				cmd.Args = append([]string{"/bin/sh", "-c", `trap "" XFSZ; ulimit -f 1; exec "$0" "$@"`}, cmd.Args...)
				cmd.Path = cmd.Args[0]
			}
			code := exitCode(t, cmd.Run())
			if code != failure.code {
				t.Errorf("%s: exit code %d, want %d: %s", line, code, failure.code, errs.String())
			}
			if after := treeOf(t, dir); after != before {
				t.Errorf("%s (%s): exit code %d, and there is %s, before it was %s: %s", line, failure.name, code, after, before, errs.String())
			}
			if left := treeOf(t, temp); left != "" {
				t.Errorf("%s (%s): temporary files are left: %s", line, failure.name, left)
			}
		}
	}
}
