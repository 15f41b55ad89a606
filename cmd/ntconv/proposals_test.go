package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	proposedCommand = regexp.MustCompile(`(?:[;,] |: )(ntconv [^;\n]*)`)
	proposedFlag    = regexp.MustCompile(`(?:[;,]|one output:) (?:or |if \S+ is \S+ \S+ |if that is \S+ |write [a-z ]+ |name [a-z ]+ |\S+ writes a directory )?` +
		`(?:(omit|without|raise|use|add|set|try|with|as) )?(--?[a-z][-a-z]*)(?:[ =]([^\s,;]+))?`)
	proseAfter = regexp.MustCompile(` (?:lists|takes|describes|says|shows|writes) .*`)
)

// proposals returns the command lines that the message of a command line proposes. in replaces IN and TRACE.
func proposals(t *testing.T, args []string, text, in string) (list [][]string) {
	t.Helper()
	message, _, _ := strings.Cut(strings.TrimPrefix(text, "ntconv: "), "\n")
	fill := strings.NewReplacer(" IN...", " a.nettrace b.nettrace", " IN", " "+in, " TRACE", " "+in)
	for _, m := range proposedCommand.FindAllStringSubmatch(message, -1) {
		if strings.Contains(m[1], " names the format") {
			continue // describes the command that was given
		}
		line := proseAfter.ReplaceAllString(m[1], "")
		for _, part := range strings.Split(line, " && ") {
			list = append(list, shellWords(t, fill.Replace(part)))
		}
	}
	for _, m := range proposedFlag.FindAllStringSubmatch(message, -1) {
		list = append(list, withFlag(t, args, m[1], m[2], m[3]))
	}
	return list
}

// withFlag returns a command line as a message proposes to change it: verb says how, and word follows the flag.
func withFlag(t *testing.T, args []string, verb, flag, word string) []string {
	t.Helper()
	cmd, _, err := newApp(nil, nil).command(args).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	f := cmd.Flag(strings.TrimLeft(flag, "-"))
	if f == nil {
		f = cmd.Flags().ShorthandLookup(strings.TrimLeft(flag, "-"))
	}
	if f == nil {
		t.Errorf("%q: no flag %s", args, flag)
		return args
	}
	takes := f.NoOptDefVal == ""
	args = slices.Clone(args)
	at := slices.IndexFunc(args, func(s string) bool {
		return s == "--"+f.Name || s == "-"+f.Shorthand || strings.HasPrefix(s, "--"+f.Name+"=")
	})
	if at >= 0 {
		end := at + 1
		if takes && !strings.Contains(args[at], "=") {
			end++
		}
		args = slices.Delete(args, at, end)
	}
	switch {
	case verb == "omit" || verb == "without":
		return args
	case verb == "raise":
		word = map[bool]string{true: "4GiB", false: "1000000"}[f.Value.Type() == "size"]
	case word == "DIR/":
		word = "out/"
	}
	if !takes {
		return append(args, flag)
	}
	// What becomes the output or the value is no longer an input.
	if i := slices.Index(args, word); i >= 0 {
		args = slices.Delete(args, i, i+1)
	}
	return append(args, flag, word)
}

// Every command and every flag that a message proposes works as it is printed.
func TestProposals(t *testing.T) {
	const endpoint = "http://127.0.0.1:1"
	for _, c := range []struct {
		args  string
		count int // proposals in the message
		ends  int // the exit code of a proposal that the state of the machine or of the input makes fail later
	}{
		{args: "to otlp s.nettrace t.nettrace --endpoint " + endpoint + " --retry-for 0", count: 3, ends: exitOutput},
		{args: "to otlp s.nettrace t.nettrace --each=false -o out/", count: 3},
		{args: "to otlp s.nettrace t.nettrace -o x.jsonl", count: 3},
		{args: "to otlp traces --endpoint " + endpoint + " --retry-for 0 --each=false", count: 2, ends: exitOutput},
		{args: "to pprof traces -o x.pb.gz", count: 2},
		{args: "to pprof traces --each=false", count: 2},
		{args: "to pprof a.nettrace b.nettrace", count: 3},
		{args: "to pprof a.nettrace b.pb.gz", count: 2},
		{args: "top a.nettrace b.nettrace", count: 2},
		{args: "top --kind wall a.nettrace a2.nettrace", count: 2},
		{args: "print a.nettrace b.nettrace", count: 2},
		{args: "print --symbols a.nettrace", count: 1},
		{args: "print --tid 99 a.nettrace", count: 1, ends: exitEmpty},
		{args: "pprof", count: 1},
		{args: "a.nettrace", count: 1},
		{args: "to a.nettrace", count: 1},
		{args: "top pprof", count: 1},
		{args: "convert a.nettrace b.nettrace c.nettrace", count: 1},
		{args: "to nettrace a.nettrace new.nettrace", count: 1},
		{args: "to nettrace a.nettrace b.nettrace -o both.nettrace --order file", count: 1},
		{args: "from nettrace to pprof --from pprof a.nettrace", count: 1},
		{args: "to pprof --kind all a.nettrace -o -", count: 1},
		{args: "to pprof --kind all a.nettrace -o x.pb.gz", count: 1},
		{args: "info --max-threads 1 a.nettrace", count: 1},
		{args: "info --strict cut.nettrace", count: 1, ends: exitIncomplete},
		{args: "print --max-decompressed 100KiB a.nettrace.zst", count: 1},
		{args: "to otlp a.nettrace", count: 2},
		{args: "to chrome --array --stacks a.nettrace", count: 1},
		{args: "to parquet --typed GCStart a.nettrace -o x.parquet", count: 2},
		{args: "split --every 10s --order file a.nettrace out/", count: 1},
	} {
		t.Run(strings.ReplaceAll(c.args, "/", "_"), func(t *testing.T) {
			dir := proposalsDir(t)
			args := strings.Fields(c.args)
			message := invoke(t, dir, nil, args...)
			list := proposals(t, args, message.stderr, "a.nettrace")
			if len(list) != c.count {
				t.Errorf("code %d, %d proposals %q, want %d, in: %s", message.code, len(list), list, c.count, message.stderr)
			}
			for _, line := range list {
				if slices.Contains(line, "view") {
					continue // serves pages until it is interrupted
				}
				if r := invoke(t, dir, nil, append(line, forceFor(line)...)...); r.code != exitOK && r.code != c.ends {
					t.Errorf("proposal %q: code %d: %sof the message: %s", line, r.code, r.stderr, message.stderr)
				}
			}
		})
	}
}

// forceFor returns -f for a command that may find the output of an earlier proposal.
func forceFor(line []string) []string {
	if line[0] == "to" || line[0] == "merge" {
		return []string{"-f"}
	}
	return nil
}

// proposalsDir returns a directory with the inputs of TestProposals.
func proposalsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cpu, machine, spans := unpacked(t, "cpu-env"), unpacked(t, "cpu-v6"), unpacked(t, "activities")
	for name, b := range map[string][]byte{
		"a.nettrace": cpu, "a2.nettrace": cpu, "b.nettrace": machine, "s.nettrace": spans, "t.nettrace": spans,
		"c.nettrace": cpu, "cut.nettrace": cpu[:len(cpu)*2/3], "a.nettrace.zst": stored(t, "cpu-env"),
		"traces/s.nettrace": spans, "traces/t.nettrace": spans,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, b)
	}
	return dir
}

// The advice for a trace without the spans that --spans selects is how to record those.
func TestSpansAdvice(t *testing.T) {
	const activities = "record Activities with"
	for flags, want := range map[string][]string{
		"":                   {activities},
		"--spans labels,gc":  {activities},
		"--spans all":        {activities},
		"--spans gc,jit":     {"--clrevents gc records", "--clrevents jit --clreventlevel verbose records"},
		"--spans waits":      {"--clrevents waithandle --clreventlevel verbose records"},
		"--spans requests":   {"--providers Microsoft.AspNetCore.Hosting:"},
		"--spans contention": {"--clrevents contention records"},
		"--spans exceptions": {"--clrevents exception records"},
	} {
		r := invoke(t, t.TempDir(), nil, append(strings.Fields("to otlp -o x "+flags), trace(t, "cpu-env"))...)
		for _, text := range want {
			if r.code != exitEmpty || !strings.Contains(r.stderr, text) {
				t.Errorf("%s: code %d, no %q in: %s", flags, r.code, text, r.stderr)
			}
		}
		if want[0] != activities && strings.Contains(r.stderr, activities) {
			t.Errorf("%s: %s", flags, r.stderr)
		}
	}
}
