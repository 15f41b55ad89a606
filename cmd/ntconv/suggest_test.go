package main

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
)

// An unknown command or flag is reported with similar ones, if there are few.
func TestSuggestions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "my trace", nil)
	for _, c := range []struct {
		args string // words with a blank between them; a trace is called T
		want string
		not  string
	}{
		{"tpo", `no such command: "tpo"; similar: to, top`, ""},
		{"tpo --cum T", "similar: to, top", "unknown flag"},
		{"explode", `no such command: "explode"` + "\n", "similar"},
		{"pprof T", `"pprof" is a format, not a command; run: ntconv to pprof IN`, ""},
		{"pprof -o x T", "run: ntconv to pprof IN", "unknown"},
		{"T", "missing command before T; to describe the file, run: ntconv info T", ""},
		{"to prof T", "prof: no such format; these can be written: " + formats.List(formats.Writable()) + "; similar: pprof\n", ""},
		{"to prof -f T", "; similar: pprof\n", "unknown"},
		{"to T", "the format goes before it: ntconv to pprof T", ""},
		{"-q info T", "'q' in -q; flags come after the command: ntconv info FLAGS", ""},
		{"--quiet info T", "unknown flag: --quiet; flags come after the command", ""},
		{"to -f pprof T", "flags come after the format: ntconv to pprof FLAGS", ""},
		{"to pprof --kinds wall T", "unknown flag: --kinds; similar: --kind", ""},
		{"print --frame T", "similar: --frames", ""},
		{"print -frames T", "similar: --frames", ""},
		{"print --max- T", "unknown flag: --max-\n", "similar"},
		{"print --zzzzzzz T", "unknown flag: --zzzzzzz\n", "similar"},
		{"info -z T", "-z\n", "similar"},
		{"help foo", `no such command: "foo"` + "\n", "Usage"},
		{"foo", `no such command: "foo"` + "\n", "similar"},
		{"rpint T", "similar: print", ""},
		{"completion bsh", `ntconv completion has no command "bsh"; similar: bash`, ""},
		{"help tpo", "similar: to, top", ""},
		{"help to prof", `ntconv to has no command "prof"; similar: pprof`, ""},
	} {
		write(t, dir, "T", nil)
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(r.stderr, c.not) || r.stdout != "" {
			t.Errorf("%s: code %d: %s%s", c.args, r.code, r.stderr, r.stdout)
		}
	}
	if r := invoke(t, dir, nil, "my trace"); !strings.Contains(r.stderr, "run: ntconv info 'my trace'\n") {
		t.Errorf("a file in place of a command: %s", r.stderr)
	}
	for _, args := range []string{"help", "help to pprof", "help where", "help top", "help completion", "completion"} {
		words := strings.Fields(args)
		if r := invoke(t, dir, nil, words...); r.code != exitOK || !strings.Contains(r.stdout, strings.Join(words[1:], " ")) {
			t.Errorf("%s: code %d: %s%s", args, r.code, r.stderr, r.stdout)
		}
	}
}

// Errors of flag values use the words of the command line.
func TestFlagValues(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"info", "--pid", "abc"}, `"abc" for "--pid" flag: want a number, or several with commas between them: 4711,4712`},
		{[]string{"info", "--tid", "1,"}, "want a number, or several"},
		{[]string{"info", "--pid", ""}, "want a number, or several"},
		{[]string{"info", "--pid", "99999999999999999999"}, "the number is too large"},
		{[]string{"top", "-n", "abc"}, `"abc" for "-n, --count" flag: want a number`},
		{[]string{"view", "--port", "http"}, "want a number"},
		{[]string{"info", "--max-ratio", "x"}, "want a number"},
		{[]string{"info", "--strict=maybe"}, "want true or false"},
		{[]string{"info", "--event", `a"b`}, "want names with commas between them"},
		{[]string{"to", "pprof", "--kind", "heap"}, "want auto|wall|cpu"},
	} {
		r := invoke(t, t.TempDir(), nil, append(c.args, "T")...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "pars") || strings.Contains(r.stderr, "strconv") {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}

// Times may be given as info prints them, and errors in them are reported before the trace is read or with what it
// holds.
func TestTimes(t *testing.T) {
	cpu, dir := trace(t, "cpu-env"), t.TempDir()
	_, rest, _ := strings.Cut(invoke(t, dir, nil, "info", cpu).stdout, "recorded")
	recorded, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	for _, at := range []string{recorded, strings.TrimSuffix(recorded, " UTC")} {
		r := invoke(t, dir, nil, "print", "-q", "--from-time", at, cpu)
		if all := invoke(t, dir, nil, "print", "-q", "--from-time", "0s", cpu); r.code != exitOK || r.stdout != all.stdout || r.stdout == "" {
			t.Errorf("%s: code %d: %s", at, r.code, r.stderr)
		}
	}
	for _, c := range []struct {
		flags string
		code  int
		want  string
	}{
		{"--from-time=20s --to-time=10s", exitUsage, "--from-time 20s --to-time 10s: the range is reversed"},
		{"--from-time=", exitUsage, "want a duration such as 1.5s"},
		{"--to-time=", exitUsage, `"--to-time" flag: want a duration`},
		{"--from-time=1h", exitEmpty, "; its events are from "},
		{"--from-time=1h", exitEmpty, " after the start, " + recorded},
		{"--to-time=2001-01-01T00:00:00Z", exitEmpty, "; its events are from "},
	} {
		for _, command := range []string{"print", "to pprof", "filter"} {
			args := append(strings.Fields(command+" "+c.flags), cpu, "-o", "x")
			r := invoke(t, dir, nil, args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) {
				t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
			}
		}
	}
	if r := invoke(t, dir, unpacked(t, "cpu-env"), "print", "--pid", "1", "-"); strings.Contains(r.stderr, "its events are") {
		t.Errorf("times without a flag for times: %s", r.stderr)
	}
}

// Too many arguments get the way to what was meant: an output is named with -o, and several inputs become one first.
func TestSeveralInputsOrAnOutput(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b.nettrace", "old.pb.gz"} {
		write(t, dir, name, unpacked(t, "cpu-env"))
	}
	const out, several = "is the output, use -o ", "ntconv merge "
	for _, c := range []struct{ args, want, not string }{
		{"to pprof a b.nettrace", several + "a b.nettrace both.nettrace && ntconv to pprof both.nettrace", out},
		{"top a b.nettrace", several + "a b.nettrace both.nettrace && ntconv top both.nettrace", out},
		{"view a b.nettrace", "to compare them, run: ntconv view --diff a b.nettrace; to merge them, run: ntconv merge", out},
		{"to pprof a new.pb.gz", "if new.pb.gz " + out + "new.pb.gz", several},
		{"to pprof a old.pb.gz", several, out}, // it would be replaced
		{"to pprof a absent.pb.gz", "if absent.pb.gz " + out + "absent.pb.gz\n", ""},
		{"to pprof a nowhere", several, out},
		{"to pprof a b.nettrace x.pb.gz", several, out},
		{"print a new.txt", "if new.txt " + out + "new.txt", several},
		{"to nettrace a new.nettrace", "if new.nettrace " + out + "new.nettrace", "name the output"},
		{"to nettrace a b.nettrace", "name the output with -o\n", ""},
		{"to nettrace a b", "name the output with -o\n", ""},
		{"convert a b.nettrace x.pb.gz", "to merge inputs, run: ntconv merge IN... both.nettrace", ""},
	} {
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(r.stderr, c.not) {
			t.Errorf("%s: code %d: %s", c.args, r.code, r.stderr)
		}
	}
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("files %q", got)
	}
}
