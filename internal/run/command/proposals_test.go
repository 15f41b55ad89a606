//go:build unix

package command

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/spf13/pflag"
)

// A proposal is a command line or a change of the command line that a message proposes.
type proposal struct {
	command           string // for a shell; if it is empty:
	verb, flag, value string // what to do with a flag: raise --max-threads
	and               bool   // together with the previous one
	states            bool   // the text only states the effect of the flag
}

// prose are the words after a command that state what it does.
const prose = `lists|takes|describes|says|shows|writes|drops|removes`

// describing are the words after a command that describe the command that was given.
const describing = `reads|names|has|needs|compresses`

var (
	proposedPipe    = regexp.MustCompile(`: ([a-z][^;:\n]* \| ntconv [^;\n]*)`)
	proposedCommand = regexp.MustCompile(`(?:^|[;,:] |"|  )(ntconv [^;\n"]*?)` +
		`(?:[;\n"]|, |$| (?:` + prose + `|(` + describing + `))\b)`)
	proposedFlag = regexp.MustCompile(`^--?[a-z][-a-z]*(=\S+)?$`)
)

// before are the words before a flag that ask for it, and after those that state its effect.
var (
	before = strings.Fields("omit without raise use add set try with as another larger smaller needs choose")
	after  = append(strings.Split(prose, "|"), strings.Fields(
		"keeps overwrites replaces ignores includes copies converts merges prints compares to")...)
)

// proposalsIn returns what a message or a part of it proposes.
func proposalsIn(text string) (list []proposal) {
	text, _, _ = strings.Cut(text, "\n")
	cut := func(re *regexp.Regexp) {
		for {
			m := re.FindStringSubmatchIndex(text)
			if m == nil {
				return
			}
			line, describes := text[m[2]:m[3]], len(m) > 4 && m[4] >= 0
			text = text[:m[2]] + "." + text[m[3]:]
			for i, part := range strings.Split(line, " && ") {
				_, name, _ := strings.Cut(part, "ntconv ")
				name, _, _ = strings.Cut(name, " ")
				if slices.Contains(commandNames(), name) && !describes {
					list = append(list, proposal{command: part, and: i > 0})
				}
			}
		}
	}
	cut(proposedPipe)
	cut(proposedCommand)
	for clause := range strings.SplitSeq(text, "; ") {
		list = append(list, flagsIn(clause)...)
	}
	return list
}

// flagsIn returns the flags that a clause of a message proposes.
func flagsIn(clause string) (list []proposal) {
	words := strings.Fields(clause)
	verb, end := "", 0
	for i, word := range words {
		p, n := flagAt(words[i:])
		if n == 0 {
			continue
		}
		previous := ""
		if i > 0 {
			previous = words[i-1]
		}
		begins := strings.HasPrefix(word, "(") || strings.Trim(previous, ",:") != previous || i == 0
		switch {
		case slices.Contains(before, previous):
			verb = previous
		case (previous == "or" || previous == "and") && verb != "":
			p.and = previous == "and"
		case i < end: // of several flags with one effect
			p.and, p.states = true, true
		case begins && effectAfter(words[i:]) > 0:
			verb, p.states, end = "use", true, i+effectAfter(words[i:])
		default:
			continue
		}
		p.verb = verb
		list = append(list, p)
	}
	return list
}

// flagAt returns the flag at the beginning of words and the number of words that it has with its value, 0 if there is
// none.
func flagAt(words []string) (p proposal, n int) {
	flag, value, inWord := strings.Cut(strings.Trim(words[0], "(),.:"), "=")
	if !proposedFlag.MatchString(flag) {
		return p, 0
	}
	p.flag, p.value = flag, value
	if inWord || len(words) == 1 || strings.TrimRight(words[0], ",:.)") != words[0] {
		return p, 1
	}
	next := strings.TrimRight(words[1], ".,:)")
	if slices.Contains(after, next) || slices.Contains([]string{"and", "or", "to", "for"}, next) || proposedFlag.MatchString(next) {
		return p, 1
	}
	p.value = next
	return p, 2
}

// effectAfter returns the number of words of the flags before a word that states their effect, 0 without such a word.
func effectAfter(words []string) (n int) {
	for n < len(words) {
		_, more := flagAt(words[n:])
		if more == 0 {
			break
		}
		n += more
		if last := words[n-1]; strings.TrimRight(last, ",:") != last {
			break
		}
	}
	if n == len(words) || !slices.Contains(after, strings.TrimRight(words[n], ",.)")) {
		return 0
	}
	return n
}

// ofUser are values of flags that a message leaves to the user, by flag or by the word in their place.
var ofUser = map[string]string{
	"to": "folded", "from": "folded", "service-name": "shop", "start-time": "2026-11-21T06:52:53Z", "port": "0", "every": "1h", "ca": "ca.pem", "duckdb": "duckdb",
	"dataset": "set", "output": "new.nettrace", "kind": "wall", "min-duration": "1ns", "per": "time", "protocol": "http/json",
	"file": "q.sql", "DIR/": "out/", "DIR": "traces", "FILE": "new.nettrace", "URL": "http://127.0.0.1:1",
}

// apply returns a command line as a message proposes to change it.
func (p *proposal) apply(t *testing.T, args []string) []string {
	t.Helper()
	cmd, _, err := newApp(nil, nil).command(args).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	f := cmd.Flag(strings.TrimLeft(p.flag, "-"))
	if f == nil {
		f = cmd.Flags().ShorthandLookup(strings.TrimLeft(p.flag, "-"))
	}
	if f == nil {
		t.Errorf("%q: no flag %s", args, p.flag)
		return args
	}
	takes := f.NoOptDefVal == ""
	args = slices.Clone(args)
	at := slices.IndexFunc(args, func(s string) bool {
		return s == "--"+f.Name || f.Shorthand != "" && s == "-"+f.Shorthand || strings.HasPrefix(s, "--"+f.Name+"=")
	})
	if _, list := f.Value.(pflag.SliceValue); at >= 0 && !(list && p.verb == "use") {
		end := at + 1
		if takes && !strings.Contains(args[at], "=") {
			end++
		}
		args = slices.Delete(args, at, end)
	}
	value := p.value
	switch {
	case p.verb == "omit" || p.verb == "without":
		return args
	case p.verb == "raise":
		value = map[string]string{"size": "4GiB", "duration": "3s"}[f.Value.Type()]
		value = cmp.Or(value, "1000000")
	case value == "":
		value = ofUser[f.Name]
	default:
		value = cmp.Or(ofUser[value], value)
	}
	switch {
	case !takes && p.value == "false":
		return append(args, p.flag+"=false")
	case !takes:
		return append(args, p.flag)
	}
	// What becomes the output or the value is no longer an input.
	if i := slices.Index(args, value); i >= 0 {
		args = slices.Delete(args, i, i+1)
	}
	return append(args, p.flag, value)
}

// ofCommand returns a proposed command, with an input and an output in place of words such as IN. A command that is
// named without arguments gets those of the command line that printed the message.
func (p *proposal) ofCommand(t *testing.T, args []string) []string {
	t.Helper()
	const in = "a.nettrace"
	fill := strings.NewReplacer(
		" DIR", " traces", " IN...", " a.nettrace b.nettrace", " IN", " "+in, " TRACE", " "+in, " OUT", " new.nettrace",
	)
	words := shellWords(t, fill.Replace(p.command))
	root := newApp(nil, nil).command(nil)
	if cmd, rest, err := root.Find(words); err == nil && cmd != root && len(rest) == 0 {
		_, rest, _ = root.Find(args)
		words = append(words, rest...)
	}
	return words
}

// Every command and every flag that a message proposes works as it is printed, and each string of the product that
// proposes something is in one of the messages.
func TestProposals(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: hundreds of runs, about words")
	}
	fakeDuckDB(t, "exit 0")
	inputs := proposalsDir(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	plain, secure := receivers(t, inputs)
	var mu sync.Mutex
	var messages []string
	cases := proposalCases(t, strings.NewReplacer("$SECURE", secure, "$SPANS", plain, "$PORT", port))
	t.Run("cases", func(t *testing.T) { // ends when all of them have ended
		for i, c := range cases {
			t.Run(strings.ReplaceAll(c.args, "/", "_"), func(t *testing.T) {
				t.Parallel()
				args := shellWords(t, "ntconv "+c.args)
				text := c.message(t, inputs, args)
				mu.Lock()
				messages = append(messages, text)
				mu.Unlock()
				if !corpus.IsOmitted(i, 3) {
					c.check(t, inputs, args, text)
				}
			})
		}
	})
	if len(messages) == len(cases) { // all cases were selected
		proposed(t, messages)
	}
}

// receivers starts two receivers of spans, which accept HTTP, and returns their addresses. The second uses TLS, and the
// file ca.pem in dir has its certificate. Some paths of the first accept only JSON, or only the second request.
func receivers(t *testing.T, dir string) (plain, secure string) {
	t.Helper()
	var requests atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := r.Header.Get("Content-Type")
		w.Header().Set("Content-Type", kind)
		switch {
		case strings.HasPrefix(kind, "application/grpc"):
			w.Header().Set("Grpc-Status", "12") // not implemented
		case strings.HasPrefix(r.URL.Path, "/json") && kind != "application/json":
			w.WriteHeader(http.StatusUnsupportedMediaType)
		case strings.HasPrefix(r.URL.Path, "/later") && requests.Add(1) == 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case kind == "application/json":
			_, _ = io.WriteString(w, "{}")
		}
	})
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	other := httptest.NewUnstartedServer(handler)
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	other.StartTLS()
	t.Cleanup(other.Close)
	write(t, dir, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}))
	return s.URL, other.URL
}

// A proposalCase is a command line with proposals in its messages.
type proposalCase struct {
	args  string // words of a shell
	count int    // proposals in the messages
	ends  int    // the exit code of a proposal that the state of the machine or of the input makes fail later
	stdin string // the file that is standard input; "" if it is empty
}

// proposalCases returns the cases of testdata/proposals.txt: on each line the number of proposals, the exit code of
// those that fail later, and a command line, which may end with "  < INPUT". vars replaces the addresses of receivers
// and a port in use.
func proposalCases(t *testing.T, vars *strings.Replacer) (list []proposalCase) {
	t.Helper()
	for line := range strings.Lines(string(corpus.Read(t, "testdata/proposals.txt"))) {
		var c proposalCase
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if n, err := fmt.Sscan(line, &c.count, &c.ends); n != 2 {
			t.Fatalf("%q: %v", line, err)
		}
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		c.args, c.stdin, _ = strings.Cut(vars.Replace(words[2]), "  < ")
		list = append(list, c)
	}
	return list
}

// lines returns the command lines that the text of a run proposes, each as the lines to run one after the other.
func (c *proposalCase) lines(t *testing.T, args []string, text string) (list [][][]string) {
	t.Helper()
	seen := make(map[proposal]bool)
	for line := range strings.Lines(text) {
		for _, p := range proposalsIn(strings.TrimPrefix(line, "ntconv: ")) {
			if seen[p] {
				continue
			}
			seen[p] = true
			switch n := len(list) - 1; {
			case strings.Contains(p.command, " | "):
				list = append(list, [][]string{{p.command}})
			case p.and && p.command != "":
				list[n] = append(list[n], p.ofCommand(t, args))
			case p.command != "":
				list = append(list, [][]string{p.ofCommand(t, args)})
			case p.and:
				list[n][0] = p.apply(t, list[n][0])
			case p.states && slices.Contains(args, p.flag) && (p.value == "" || slices.Contains(args, p.value)):
				// describes the command line
			default:
				list = append(list, [][]string{p.apply(t, args)})
			}
		}
	}
	return list
}

// check runs what the text of the command line proposes.
func (c *proposalCase) check(t *testing.T, inputs string, args []string, text string) {
	t.Helper()
	list := c.lines(t, args, text)
	if len(list) != c.count {
		t.Errorf("%d proposals %q, want %d, in: %.1000s", len(list), list, c.count, text)
	}
	for _, lines := range list {
		if failed, code := c.run(t, inputs, lines); code != exitOK && code != c.ends {
			t.Errorf("proposal %q: code %d: %.1000s\nof the message: %.1000s", lines, code, failed, text)
		}
	}
}

// prepare returns a directory with the inputs, and the standard input.
func (c *proposalCase) prepare(t *testing.T, inputs string) (dir string, stdin []byte) {
	t.Helper()
	dir = t.TempDir()
	if err := linkTree(inputs, dir, c.args); err != nil {
		t.Fatal(err)
	}
	if c.stdin != "" {
		stdin = corpus.Read(t, filepath.Join(dir, c.stdin))
	}
	return dir, stdin
}

// message returns what the command line of the case prints.
func (c *proposalCase) message(t *testing.T, inputs string, args []string) string {
	t.Helper()
	dir, stdin := c.prepare(t, inputs)
	cmd := command(t, dir, args...)
	cmd.Stdin = struct{ io.Reader }{bytes.NewReader(stdin)} // a pipe
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// run runs command lines. It returns what they have printed and the code of the first that fails. It ends a view when
// it serves its pages.
func (c *proposalCase) run(t *testing.T, inputs string, lines [][]string) (text string, code int) {
	t.Helper()
	dir, stdin := c.prepare(t, inputs)
	for _, line := range lines {
		var r result
		switch {
		case strings.Contains(line[0], " | "):
			r = pasted(t, dir, strings.Replace(line[0], "MEMBER", "a.nettrace", 1))
		case line[0] == "view" && !slices.Contains(line, "--help"):
			r.stderr = viewStderr(t, dir, line[1:]...)
		default:
			r = invoke(t, dir, stdin, line...)
		}
		text += r.stderr + r.stdout
		if r.code != exitOK {
			return text, r.code
		}
	}
	return text, exitOK
}

// pasted runs a pipeline that ends with ntconv in a shell, if its first program is installed.
func pasted(t *testing.T, dir, line string) result {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	if _, err := exec.LookPath(first); err != nil {
		return result{}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, dir)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", first + " " + strings.Replace(rest, "| ntconv ", "| "+self+" ", 1)}
	out, err := cmd.CombinedOutput()
	return result{code: exitCode(t, err), stderr: string(out)}
}

// crowded are the directories of many files or directories: datasets have one per table.
var crowded = strings.Fields("many fleet broken cut vacant old")

// linkTree makes a directory with the same files, which are replaced and not changed. It omits the crowded directories that
// args do not name.
func linkTree(from, to, args string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir() && filepath.Dir(path) == from && slices.Contains(crowded, d.Name()) && !slices.ContainsFunc(strings.Fields(args), func(arg string) bool { return strings.HasPrefix(arg, d.Name()) }):
			return fs.SkipDir
		case d.IsDir():
			return os.Mkdir(name, 0o700)
		}
		return os.Link(path, name)
	})
}

// proposalsDir returns a directory with the inputs of TestProposals.
func proposalsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cpu, spans := unpacked(t, "cpu-env"), unpacked(t, "activities")
	deep := strings.Repeat("f;", 9000) + "g 1\n"
	inputs := map[string][]byte{
		"a.nettrace": cpu, "a2.nettrace": cpu, "c.nettrace": cpu, "cut.nettrace": cpu[:len(cpu)*2/3],
		"s.nettrace": spans, "t.nettrace": spans, "traces/s.nettrace": spans, "traces/t.nettrace": spans,
		"a.nettrace.zst": storedTrace(t, "cpu-env"), "a.tar": tarOf(t, "a.nettrace", spans), "large.nettrace": large(t),
		"go.pb.gz": corpus.Read(t, corpus.Path("go-cpu.pb.gz")), "f.folded": []byte("a;b 10\na;c 20\n"),
		"flaw.folded": []byte("a;b 10\nbad\na;c 20\na;d 1\n"), "deep.folded": []byte(deep), "words": []byte("some words\nmain;scan 120\n"),
		"utf16": append([]byte("\xff\xfe"), utf16Of(`{"traceEvents":[]}`)...), "q.sql": []byte("SELECT 1"),
		"logs.jsonl":    []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"sold"}}]}]}]}`),
		"profiles.data": corpus.Read(t, filepath.Join("..", "..", "..", "importers", "otlp", "testdata", "cpu-v6.profiles.binpb")),
		"undated.json":  []byte(`[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"f"}]`),
	}
	for name, recorded := range map[string]string{
		"b": "cpu-v6", "otel": "otel-cpu", "jit": "jit", "startup": "startup", "heap": "gcdump", "waits": "waits-v6",
		"sources": "sources", "counters": "counters", "stop": "spans-stop",
	} {
		inputs[name+".nettrace"] = unpacked(t, recorded)
	}
	for i := range maxTableRows + 1 {
		inputs[fmt.Sprintf("many/%d.nettrace", i)] = spans
	}
	for name, b := range inputs {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, b)
	}
	for _, line := range []string{
		"to nettrace --allow-large deep.folded -o deep.nettrace",
		"filter --where '$id < 200' a.nettrace few.nettrace",
		"split --every 500ms a.nettrace parts",
		"to parquet a.nettrace -o tables/",
		"to parquet a.nettrace -o events.parquet",
		"to parquet --dataset fleet --typed none a.nettrace",
		"to parquet --dataset broken --typed none a.nettrace",
		"to parquet --dataset cut --typed none a.nettrace",
		"to parquet --dataset vacant --typed none a.nettrace",
		"dataset rm vacant --older-than 0s",
	} {
		if r := invoke(t, dir, nil, shellWords(t, "ntconv "+line)...); r.code != exitOK {
			t.Fatalf("%s: code %d: %s", line, r.code, r.stderr)
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, "begun", "_staging"), 0o700))
	commits, err := filepath.Glob(filepath.Join(dir, "broken", "_commits", "*.json"))
	if err != nil || len(commits) != 2 {
		t.Fatalf("%q, %v", commits, err)
	}
	for _, name := range commits {
		must(t, os.WriteFile(name, []byte("{"), 0o600))
	}
	events, err := filepath.Glob(filepath.Join(dir, "cut", "events", "*", "service=shop", "*.parquet"))
	if err != nil || len(events) != 1 {
		t.Fatalf("%q, %v", events, err)
	}
	must(t, os.Truncate(events[0], 100))
	oldDataset(t, filepath.Join(dir, "old"), filepath.Join(dir, "tables"), inputs["a.nettrace"])
	// Without xz, the beginning is enough for the message.
	packed, err := exec.Command("xz", "-c", filepath.Join(dir, "s.nettrace")).Output()
	if err != nil {
		packed = []byte("\xfd7zXZ\x00")
	}
	write(t, dir, "a.nettrace.xz", packed)
	return dir
}

// utf16Of returns ASCII as UTF-16.
func utf16Of(s string) (b []byte) {
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return b
}

// tarOf returns an archive with one file.
func tarOf(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
