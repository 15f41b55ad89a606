package dotnet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// eachLine calls f with every line of a compressed file.
func eachLine(t *testing.T, path string, f func([]byte)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for r := bufio.NewReaderSize(z, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			f(line)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
}

// A naming contains the names in the events of one trace.
type naming struct {
	methods map[Method]bool
	symbols map[string]bool
}

func readNaming(t *testing.T, path string) naming {
	c := naming{map[Method]bool{}, map[string]bool{}}
	eachLine(t, path, func(line []byte) {
		if !bytes.Contains(line, []byte(`"MethodNamespace"`)) && !bytes.Contains(line, []byte(`"ProcessSymbol`)) {
			return
		}
		var e struct {
			Name    string
			Payload struct {
				MethodNamespace                   *string
				MethodName, MethodSignature, Name string
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(path, err)
		}
		if p := e.Payload; p.MethodNamespace != nil {
			c.methods[Method{*p.MethodNamespace, p.MethodName, p.MethodSignature}] = true
		} else if strings.HasPrefix(e.Name, "ProcessSymbol") {
			c.symbols[p.Name] = true
		}
	})
	return c
}

// TestAllTraces checks the names in every trace with reference output.
func TestAllTraces(t *testing.T) {
	dir := corpus.Shared(t, "oracle")
	files, err := filepath.Glob(filepath.Join(dir, "events", "*.jsonl.zst"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	managed, names := 0, tally{fromEvents: map[string]bool{}, fromSymbols: map[string]bool{}}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if corpus.IsSkipped(path, info.Size()) {
			continue
		}
		trace := filepath.Base(path)
		c := readNaming(t, path)
		managed += checkFrames(t, trace, c, filepath.Join(dir, "stacks", trace))
		names.add(t, trace, c)
	}
	t.Logf("%d frames of .NET methods have TraceEvent's names", managed)
	if managed < 1000 || corpus.Nightly() && managed < 100000 {
		t.Errorf("%d frames of .NET methods: the reference output has changed", managed)
	}
	names.check(t)
}

// checkFrames checks that every frame that TraceEvent could resolve has the raw name of a method or symbol of its
// trace, and that every module that it shows is the short name of a file or occurs in a symbol. It returns the number
// of frames of .NET methods.
func checkFrames(t *testing.T, trace string, c naming, path string) (managed int) {
	raw, native, modules := map[string]bool{}, map[string]bool{"": true}, map[string]bool{"": true, "unknown": true}
	for m := range c.methods {
		raw[m.Raw()] = true
	}
	for s := range c.symbols {
		if sym, ok := ParseSymbol(s); ok {
			raw[sym.Raw()] = true
			modules[strings.ToLower(sym.Module)] = true
		} else {
			native[s] = true
		}
	}
	eachLine(t, path, func(line []byte) {
		if line[0] != '{' {
			return // an event with the number of its stack
		}
		var l struct {
			Frames  [][3]string // address, module, name
			Modules []struct{ Path string }
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(trace, err)
		}
		for _, m := range l.Modules {
			modules[strings.ToLower(ShortModule(m.Path))] = true
		}
		for _, f := range l.Frames {
			if raw[f[2]] {
				managed++
			} else if !native[f[2]] {
				t.Errorf("%s: no method has the raw name %q", trace, f[2])
			}
			if !modules[strings.ToLower(f[1])] {
				t.Errorf("%s: no module has the short name %q", trace, f[1])
			}
		}
	})
	return managed
}

// A tally collects the display names of all traces.
type tally struct {
	// Raw names, counted per trace, and how many of them share their display name with an earlier one.
	total, hidden           int
	fromEvents, fromSymbols map[string]bool
}

// add checks that all names of a trace are translated, balanced, and free of the input notations.
func (n *tally) add(t *testing.T, trace string, c naming) {
	check := func(raw, pretty string) {
		if strings.ContainsAny(pretty, "`!+/") || !balanced(pretty) {
			t.Errorf("%s: %s\nbecame %s", trace, raw, pretty)
		}
	}
	raws, pretties := map[string]bool{}, map[string]bool{}
	for m := range c.methods {
		raw, pretty := m.Raw(), m.Pretty()
		check(raw, pretty)
		raws[raw+"\t"+pretty] = true // together with pretty, because methods that differ only in return type share the raw name
		pretties[pretty], n.fromEvents[pretty] = true, true
	}
	n.total += len(raws)
	n.hidden += len(raws) - len(pretties)
	for s := range c.symbols {
		if sym, ok := ParseSymbol(s); ok {
			check(s, sym.Pretty())
			n.fromSymbols[sym.Pretty()] = true
		} else if got := prettySymbol(s); got != s {
			t.Errorf("%s: %q became %q", trace, s, got)
		}
	}
}

// check: nearly all methods of a trace have a distinct display name, and names in both notations yield the same one.
// (The programs with symbols were also recorded with method events.)
func (n *tally) check(t *testing.T) {
	t.Logf("%d raw names within their traces, %d of them with the display name of another", n.total, n.hidden)
	if n.hidden*200 > n.total {
		t.Errorf("%d of %d names have the display name of another: more than 0.5%%", n.hidden, n.total)
	}
	both := 0
	for name := range n.fromSymbols {
		if n.fromEvents[name] {
			both++
		}
	}
	t.Logf("%d names from symbols, %d of them also in method events", len(n.fromSymbols), both)
	if corpus.Nightly() && both*100 < len(n.fromSymbols)*95 { // other tests read a part of the traces
		t.Errorf("of %d names from symbols only %d are also in method events", len(n.fromSymbols), both)
	}
}

// balanced reports whether the brackets of s nest.
func balanced(s string) bool {
	var open []byte
	for i := range len(s) {
		switch c := s[i]; c {
		case '(', '[', '<':
			open = append(open, c)
		case ')', ']', '>':
			if len(open) == 0 || open[len(open)-1] != map[byte]byte{')': '(', ']': '[', '>': '<'}[c] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
