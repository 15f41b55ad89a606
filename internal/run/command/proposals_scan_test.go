//go:build unix

package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A proposing is a string of the product that proposes a command or a flag.
type proposing struct {
	pos  string // file and line
	text string // with the name of unknown in place of what is known only when the message is built
}

// unknown is the part of a string that is known only when the message is built. It looks like a name of a flag.
const unknown = "unknown"

// filled are the words of a string that the message may replace.
var filled = regexp.MustCompile(unknown + `|\b(?:IN|FILE|MEMBER)\b`)

// pattern matches the messages that contain the string.
func (p *proposing) pattern() *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.TrimSpace(p.text))
	return regexp.MustCompile(filled.ReplaceAllLiteralString(quoted, `[^\n]*`))
}

// A sourceStrings finds the strings of the product that are parts of messages.
type sourceStrings struct {
	files  *token.FileSet
	consts map[string]string // by package and name
	pkg    string
	found  []proposing
}

// proposingStrings returns the strings of the product's sources that propose something.
func proposingStrings(t *testing.T, root string) []proposing {
	t.Helper()
	s := &sourceStrings{files: token.NewFileSet(), consts: make(map[string]string)}
	var parsed []*ast.File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// e2e is a module of its own, examples and the others are not parts of the product.
		other := []string{"testdata", "testing", "ntconvtest", "e2e", "examples", "docs"}
		if d.IsDir() && path != root && (slices.Contains(other, d.Name()) || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(s.files, path, nil, parser.SkipObjectResolution)
		parsed = append(parsed, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a constant may consist of others
		for _, f := range parsed {
			s.learn(f)
		}
	}
	for _, f := range parsed {
		s.pkg = f.Name.Name
		ast.Inspect(f, s.visit)
	}
	return s.found
}

// learn adds the string constants of a file.
func (s *sourceStrings) learn(f *ast.File) {
	s.pkg = f.Name.Name
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				if text := s.text(value); !strings.Contains(text, unknown) {
					s.consts[s.pkg+"."+v.Names[i].Name] = text
				}
			}
		}
	}
}

// text returns the value of an expression, with unknown in place of what is not a constant string.
func (s *sourceStrings) text(e ast.Expr) string {
	name := ""
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.text(e.X) + s.text(e.Y)
		}
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		name = s.pkg + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			name = x.Name + "." + e.Sel.Name
		}
	}
	if text, ok := s.consts[name]; ok {
		return text
	}
	return unknown
}

// helpFields are the fields of commands and formats that are help and not messages.
var helpFields = []string{"Long", "Short", "Use", "Example", "Examples", "Help"}

// visit is the function for ast.Inspect.
func (s *sourceStrings) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Field: // of a struct: its tag is no message
		return n.Tag == nil
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		return !ok || !slices.Contains(helpFields, key.Name)
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); definesFlag(n) || ok && id.Name == "examples" {
			return false
		}
		for i, arg := range n.Args {
			if text := s.text(arg); strings.Contains(text, "%") {
				s.add(arg, text, n.Args[i+1:])
				s.operands(arg)
			} else {
				ast.Inspect(arg, s.visit)
			}
		}
		ast.Inspect(n.Fun, s.visit)
		return false
	case *ast.BasicLit:
		s.add(n, s.text(n), nil)
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			s.add(n, s.text(n), nil)
			s.operands(n)
			return false
		}
	}
	return true
}

// operands visits the operands of a concatenation that are not constants.
func (s *sourceStrings) operands(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		s.operands(b.X)
		s.operands(b.Y)
	} else if strings.Contains(s.text(e), unknown) {
		ast.Inspect(e, s.visit)
	}
}

// definesFlag reports whether a call defines a flag, so that its strings are help.
func definesFlag(call *ast.CallExpr) bool {
	isFlags := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && id.Name == "flags"
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && isFlags(sel.X) || len(call.Args) > 0 && isFlags(call.Args[0])
}

var formatVerb = regexp.MustCompile(`%[-+# 0]*[\d.]*[a-zA-Z]`)

// add adds a string if it proposes something. args replace its verbs.
func (s *sourceStrings) add(n ast.Node, text string, args []ast.Expr) {
	text = strings.TrimRight(text, "\n")
	if strings.Contains(text, "\n") {
		return // messages have one line; this is help
	}
	text = formatVerb.ReplaceAllStringFunc(strings.ReplaceAll(text, "%%", "\x00"), func(string) string {
		if len(args) == 0 {
			return unknown
		}
		value := s.text(args[0])
		args = args[1:]
		return value
	})
	text = strings.ReplaceAll(text, "\x00", "%")
	if len(proposalsIn(text)) > 0 {
		s.found = append(s.found, proposing{s.files.Position(n.Pos()).String(), text})
	}
}

// notRun are the beginnings of strings that propose something and are in no message of TestProposals, with the reason.
var notRun = map[string]string{
	unknown + ": the output " + unknown + " is that of ":                       "asks for a command line with one input",
	unknown + " is binary and would garble":                                    "needs a terminal",
	"or try --allow-prerelease":                                                "needs reference data: TestAdviceForPreviews",
	"--port " + unknown + ": " + unknown + " permits":                          "the one port of Perfetto may be in use",
	"each process needs one; raise the limit with":                             "needs a trace with more processes than files that may be open",
	"--drop-unknown drops":                                                     "needs a trace with metadata of a kind that no release writes",
	"ntconv print --json --provider ":                                          "no trace of testdata has metrics",
	"the call graph is drawn by":                                               "on a page of view, and not a message",
	"source code is shown from":                                                "on a page of view, and not a message",
	"in none of the directories given with":                                    "on a page of view, and not a message",
	"use --symbols DIR with its debug file":                                    "needs a library of the recorded system",
	unknown + ": workers share the traces that":                                "needs a runner with other machines",
	unknown + ": table " + unknown + " has more than ":                         "needs an object store, which the command alone does not have",
	unknown + ": a running process is shown without":                           "needs a process: TestLiveRefusals",
	"no process: choose one with -p PID or --name NAME (ntconv ps lists them)": "needs a process: TestLiveRefusals",
	"no screen on this terminal: ":                                             "needs a terminal",
	"--" + unknown + " is about a running process: ":                           "needs a process: TestLiveRefusals",
	"ntconv: " + unknown + " without a process; --all":                         "needs the socket of a process that was killed: TestPS",
	"ntconv collect --kind ":                                                   "needs a process: TestRecordRequests",
	"ntconv collect --profile metrics":                                         "on a page of to html, and not a message",
	"traces of .NET Core 3.0 and later: ":                                      "in lists of formats, and not a message",
	unknown + ": collect takes no inputs":                                      "needs a process: TestRecordRefusals",
	"--every has no end":                                                       "needs a process: TestRecordRefusals",
	"--" + unknown + " needs --every":                                          "needs a process: TestRecordRefusals",
	"--every records processes that run":                                       "needs a process: TestRecordRefusals",
	"--every: name a directory":                                                "needs a process: TestRecordRefusals",
	"a recording as nettrace has all events":                                   "needs a process: TestRecordRefusals",
	"ntconv ps lists the processes that can be recorded":                       "needs a process: TestRecordRefusals",
	"copy /proc/kallsyms and ":                                                 "needs a trace with frames of the kernel",
}

// proposed fails for strings of the product that propose something and are in none of the messages.
func proposed(t *testing.T, messages []string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(messages, "\n")
	list := proposingStrings(t, root)
	if len(list) < 100 {
		t.Errorf("only %d strings propose something", len(list))
	}
	used := make(map[string]bool)
	for _, p := range list {
		if p.pattern().MatchString(all) {
			continue
		}
		excepted := false
		for begin := range notRun {
			if strings.HasPrefix(p.text, begin) {
				used[begin], excepted = true, true
			}
		}
		if !excepted {
			t.Errorf("%s: no case of TestProposals has %q", strings.TrimPrefix(p.pos, root+string(os.PathSeparator)), p.text)
		}
	}
	for begin := range notRun {
		if !used[begin] {
			t.Errorf("%q is no exception: a message has it, or no string begins with it", begin)
		}
	}
}

// commandNames returns the names of all commands. It is not a plain variable, because each run of the command in a
// process of its own would build all commands and their flags first.
var commandNames = sync.OnceValue(func() (list []string) {
	for _, c := range newApp(io.Discard, io.Discard).command(nil).Commands() {
		list = append(list, c.Name())
	}
	return list
})
