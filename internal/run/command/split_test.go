package command

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// Each member of a split trace equals the output of filter for the process, except for marks before the first event of
// the process, and gives the same profile as a selection of the process from the whole trace.
func TestSplitByProcess(t *testing.T) {
	files := []string{trace(t, "cpu-env"), trace(t, "cpu-v6")}
	for _, name := range []string{"onecollect-shop-cpu-cswitch-v6", "onecollect-3windows-v6", "roslyn-compile-v6"} {
		if path, err := corpus.Find("data", "nettrace", name+".nettrace.zst"); err == nil {
			files = append(files, path)
		}
	}
	if !corpus.Nightly() {
		files = files[:min(3, len(files))]
	}
	for _, in := range files {
		dir := t.TempDir()
		r := invoke(t, dir, nil, "to", "nettrace", "--split-by", "process", in, "-o", "parts/")
		members, err := filepath.Glob(filepath.Join(dir, "parts", "*.nettrace"))
		if r.code != exitOK || err != nil || len(members) == 0 || !strings.Contains(r.stderr, "parts/: "+strconv.Itoa(len(members))+" file") {
			t.Fatalf("%s: code %d, %d members, %v: %s", in, r.code, len(members), err, r.stderr)
		}
		for _, member := range members {
			name := strings.TrimSuffix(filepath.Base(member), ".nettrace")
			pid := name[strings.LastIndexByte(name, '-')+1:]
			succeed(t, dir, "filter", "-f", "--pid", pid, in, "one.nettrace")
			succeed(t, dir, "verify", "--order", "file", "--ignore", "marks", member, "one.nettrace")
			if r := invoke(t, dir, nil, "to", "nettrace", "--split-by", "process", "--pid", pid, in, "-f", "-o", "alone/"); !strings.Contains(r.stderr, "alone/: 1 file,") {
				t.Errorf("%s: a selection of one process: %s", name, r.stderr)
			}
			whole, part := invoke(t, dir, nil, "top", "-q", "--pid", pid, in), invoke(t, dir, nil, "top", "-q", member)
			if whole.code != part.code || withoutLine(whole.stdout, "Duration: ") != withoutLine(part.stdout, "Duration: ") {
				t.Errorf("%s: another profile than that of the process:\n%s%s\nwant\n%s%s", name, part.stdout, part.stderr, whole.stdout, whole.stderr)
			}
		}
	}
}

// withoutLine returns text without the lines that begin with a prefix.
func withoutLine(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, prefix) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A described trace names the runtime's events for readers that know only metadata, and converts to the same profile.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "cpu-env")
	succeed(t, dir, "to", "nettrace", "--describe", in, "-o", "described.nettrace")
	for _, args := range []string{"print --json --crc", "to pprof --report json -o -"} {
		plain := invoke(t, dir, nil, append(strings.Fields(args), in)...)
		described := invoke(t, dir, nil, append(strings.Fields(args), "described.nettrace")...)
		if plain.stdout != described.stdout || described.code != exitOK {
			t.Errorf("%s: another output: %s", args, described.stderr)
		}
	}
	r := invoke(t, dir, nil, "verify", in, "described.nettrace")
	if r.code != exitDifferent || !strings.Contains(r.stderr, "GCStart") && !strings.Contains(r.stderr, "type") {
		t.Errorf("the metadata is unchanged: code %d: %s", r.code, r.stderr)
	}
}
