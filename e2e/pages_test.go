package e2e

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// visitedPages is what a browser observed of ntconv view.
type visitedPages struct {
	Refused int64  // status of a visit without the token
	Entered string // address reached by a visit with the token
	Linked  string // address reached by a link with the token
	Cookies []struct {
		Name, SameSite, Path string
		HTTPOnly, Session    bool
	}
	Dialogs, Violations, Errors, Foreign []string // must be empty for every page
	Pages                                map[string]visitedPage
	Types                                []chosenType
	Attacks                              []string // responses to pages of other origins
	Answers                              []int64  // status codes of these responses
}

// A chosenType is a sample type in the menu of a page, and the page after a click on it.
type chosenType struct {
	Name, SI string // SI is part of the address
	Status   int64
}

type visitedPage struct {
	Status, Boxes, Found, Width        int64
	Policy, Zoomed, Menu, Action, Text string
	Title                              string
	Names, Sorted                      []string
}

// startView starts ntconv view for a profile and returns the address that it prints. The test ends the command.
func startView(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, append([]string{"view", "-q"}, args...)...)
	var msg bytes.Buffer
	cmd.Stderr = &msg
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // the message is complete
		t.Fatalf("%v: %s", err, msg.Bytes())
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strings.TrimSpace(address)
}

// visit starts ntconv view for a profile, and visits its pages with a browser.
func visit(t *testing.T, flags []string, paths ...string) visitedPages {
	t.Helper()
	needBrowser(t)
	return script[visitedPages](t, 1, "node", append([]string{"pages.mjs", startView(t, flags...)}, paths...)...)[0]
}

// A profile whose strings are all scripts runs none of them on any page, pages of other origins receive nothing, and
// the pages work under their content security policy: clicks, search, sorting and the choice of sample types.
func TestPagesOfHostileProfile(t *testing.T) {
	dir := t.TempDir()
	in, source := filepath.Join(dir, "xss.pb"), filepath.Join(dir, "src")
	must(t, os.WriteFile(in, corpus.Hostile(t, "xss.pb").Data, 0o600))
	must(t, os.Mkdir(source, 0o700))
	const code = "<script>alert('source')</script>" // the profile states that its functions are in /etc/passwd
	must(t, os.WriteFile(filepath.Join(source, "passwd"), []byte(strings.Repeat(code+"\n", 8)), 0o600))
	got := visit(t, []string{"--graph", "--source", source, in},
		"/flamegraph", "/top", "/peek?f=.", "/source?f=.", "/graph", "/disasm?f=.", "/saveconfig?config=x")
	for what, list := range map[string][]string{
		"dialogs": got.Dialogs, "violations of the policy": got.Violations, "errors": got.Errors, "requests to other hosts": got.Foreign, "attacks": got.Attacks,
	} {
		if len(list) > 0 {
			t.Errorf("%s: %q", what, list)
		}
	}
	if got.Refused != 403 || !strings.HasSuffix(got.Entered, "/flamegraph") || got.Linked != got.Entered {
		t.Errorf("refused with %d, entered at %s, by a link at %s", got.Refused, got.Entered, got.Linked)
	}
	if c := got.Cookies; len(c) != 1 || !c[0].HTTPOnly || !c[0].Session || c[0].SameSite != "Strict" || c[0].Path != "/" {
		t.Errorf("%+v", c)
	}
	if len(got.Answers) < 8 || slices.ContainsFunc(got.Answers, func(code int64) bool { return code != 403 }) {
		t.Errorf("pages of other origins get %d", got.Answers)
	}
	if len(got.Types) != 2 || slices.ContainsFunc(got.Types, func(c chosenType) bool { return c.Status != 200 || c.SI != c.Name }) {
		t.Errorf("sample types: %+v", got.Types)
	}
	got.check(t, code)
}

// check checks the contents of the pages for xss.pb.
func (got *visitedPages) check(t *testing.T, code string) {
	t.Helper()
	const name = "<script>alert('n1')</script>"
	flames, top := got.Pages["/flamegraph"], got.Pages["/top"]
	if flames.Boxes != 9 || flames.Found != 7 || flames.Zoomed == "" || flames.Menu != "block" || flames.Action == "" || !slices.Contains(flames.Names, name) {
		t.Errorf("flame graph: %+v", flames)
	}
	if len(top.Names) != 8 || !slices.Contains(top.Names, name) || slices.Equal(top.Names, top.Sorted) {
		t.Errorf("top: %+v", top)
	}
	if text := got.Pages["/peek?f=."].Text; !strings.Contains(text, "<b>build</b>") {
		t.Errorf("peek: %s", text)
	}
	if text := got.Pages["/source?f=."].Text; !strings.Contains(text, name) || !strings.Contains(text, code) {
		t.Errorf("source: %s", text)
	}
	if _, err := exec.LookPath("dot"); err != nil {
		t.Logf("no Graphviz: %v", err)
	} else if graph := got.Pages["/graph"]; graph.Status != 200 || graph.Width < 100 {
		t.Errorf("graph: %+v", graph)
	}
	for path, page := range got.Pages {
		if page.Status != 200 && page.Status != 404 && page.Status != 501 || strings.Contains(page.Policy, "unsafe") || !strings.HasPrefix(page.Policy, "default-src 'none';") {
			t.Errorf("%s: %d, policy %q", path, page.Status, page.Policy)
		}
	}
	for _, path := range []string{"/disasm?f=.", "/saveconfig?config=x"} {
		if got.Pages[path].Status != 404 {
			t.Errorf("%s: %+v", path, got.Pages[path])
		}
	}
}

// A searched is what a browser observed of searches in the pages.
type searched struct {
	Errors   []string
	Total    string
	Searches map[string]struct {
		Found  int
		Share  string
		Pivots int
		Rows   []string
	}
	Empty map[string]string
	Units []string
}

// A search finds what the pages show, not the types of parameters, unless the expression has a parenthesis. The flame
// graph states the share of the matches. Pages without a match say so, and values have the units of the other commands.
func TestPagesSearch(t *testing.T) {
	needBrowser(t)
	const none, spin, overload, parameters = "double", "Cpu.Spin", `Spin\(double`, "Cpu.*double"
	address := startView(t, "--kind", "wall", corpus.Trace(t, "cpu-default").Path)
	got := script[searched](t, 1, "node", "search.mjs", address, none, spin, overload, parameters)[0]
	if len(got.Errors) > 0 {
		t.Errorf("errors: %q", got.Errors)
	}
	if got.Total != "1.66s (100%)" {
		t.Errorf("total: %q", got.Total)
	}
	for expression, finds := range map[string]bool{none: false, parameters: false, spin: true, overload: true} {
		s := got.Searches[expression]
		if finds != (s.Found > 0) || finds != (len(s.Rows) > 0) || finds != (s.Pivots > 0) || finds != strings.HasPrefix(s.Share, "matches 1.07s (64.4%) │ ") {
			t.Errorf("%s: %+v", expression, s)
		}
	}
	for path, text := range got.Empty {
		if text != "Focus expression matched no samples" {
			t.Errorf("%s: %q", path, text)
		}
	}
	want := []string{"2m30s", "26.8s", "896ms", "885µs", "1m0s", "1h2m3s", "0s", "-1.2ms", "7.63 MiB", "1 MiB", "0.98 KiB", "0 B", "1,234,567"}
	if !slices.Equal(got.Units, want) {
		t.Errorf("units: %q, want %q", got.Units, want)
	}
}
