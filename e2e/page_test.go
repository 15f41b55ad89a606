package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A seenPage is what a browser shows of a page of ntconv to html.
type seenPage struct {
	Errors, Requests, Violations, Dialogs, Failures []string // must be empty
	Ready, Title, Head                              string
	Parts                                           []string
	Kinds                                           []seenKind
}

// A seenKind is the table of methods for a kind and a value. Cells of a row are name, flat, its share, cumulative, its share and
// module.
type seenKind struct {
	Kind, Value, Summary string
	Rows                 [][]string
}

// browsers are the browsers that open pages, with the variable that names their program and its usual place.
var browsers = []struct{ name, variable, program string }{
	{"chromium", "CHROMIUM", "/usr/bin/chromium"}, {"firefox", "FIREFOX", "/usr/bin/firefox-esr"},
}

// seenIn opens pages with a browser.
func seenIn(t *testing.T, browser, screenshots string, pages ...string) []seenPage {
	t.Helper()
	list := script[seenPage](t, len(pages), "node", append([]string{"page.mjs", browser, cmp.Or(screenshots, "-")}, pages...)...)
	for i, p := range list {
		if p.Ready != "true" || len(p.Errors)+len(p.Requests)+len(p.Violations)+len(p.Dialogs)+len(p.Failures) > 0 {
			t.Errorf("%s: ready %q, errors %q, requests %q, violations %q, dialogs %q, failures %q", pages[i], p.Ready, p.Errors, p.Requests,
				p.Violations, p.Dialogs, p.Failures)
		}
	}
	return list
}

// pageOf writes the page of a trace.
func pageOf(t *testing.T, dir, trace string, flags ...string) string {
	t.Helper()
	out := filepath.Join(dir, filepath.Base(trace)+".html")
	if r := run(t, command, append([]string{"to", "html", "-q", "-f", "-o", out, trace}, flags...)...); r.code != 0 && r.code != incomplete {
		t.Fatalf("%s: code %d: %s", trace, r.code, r.stderr)
	}
	return out
}

// Browsers open the page of each trace of testdata from a file, without an error or a request, and the methods of each kind and
// value have the numbers of ntconv top.
func TestPages(t *testing.T) {
	needBrowser(t)
	dir := t.TempDir()
	traces := ownTraces(t)
	var pages []string
	for _, tr := range traces {
		pages = append(pages, pageOf(t, dir, tr.path))
	}
	for _, b := range browsers {
		t.Run(b.name, func(t *testing.T) {
			if _, err := os.Stat(cmp.Or(os.Getenv(b.variable), b.program)); err != nil {
				t.Skipf("%s is not installed (%s): %v", b.name, b.variable, err)
			}
			kinds := 0
			for i, p := range seenIn(t, b.name, "", pages...) {
				for _, k := range p.Kinds {
					kinds++
					sameAsTop(t, traces[i].path, k)
				}
			}
			if kinds < 50 {
				t.Errorf("only %d kinds and values", kinds)
			}
		})
	}
}

// sameAsTop compares the rows of a page with those of ntconv top.
func sameAsTop(t *testing.T, trace string, k seenKind) {
	t.Helper()
	kind, _, _ := strings.Cut(k.Kind, " ")
	args := []string{"top", "--json", "-n", "0", "--kind", kind, "--type-as", "label", trace}
	if k.Value != "" {
		args = append(args, "--sample-type", k.Value)
	}
	r := run(t, command, args...)
	var top struct {
		Unit  string
		Total int64
		Rows  []struct {
			Function  string
			Flat, Cum int64
		}
	}
	if err := json.Unmarshal(r.stdout, &top); err != nil {
		t.Errorf("%s, %s, %s: %v: %s", trace, k.Kind, k.Value, err, r.stderr)
		return
	}
	type values struct{ flat, cum string }
	want := map[string]values{}
	for _, row := range top.Rows {
		want[row.Function] = values{message.Quantity(float64(row.Flat), top.Unit), message.Quantity(float64(row.Cum), top.Unit)}
	}
	if total := message.Quantity(float64(top.Total), top.Unit); !strings.HasPrefix(k.Summary, total+" in ") {
		t.Errorf("%s, %s, %s: %q, top has %s", trace, k.Kind, k.Value, k.Summary, total)
	}
	for _, row := range k.Rows {
		if got := (values{row[1], row[3]}); got != want[row[0]] {
			t.Errorf("%s, %s, %s: %s has %v, top has %v", trace, k.Kind, k.Value, row[0], got, want[row[0]])
		}
	}
	if len(k.Rows) == 0 && len(top.Rows) > 0 {
		t.Errorf("%s, %s, %s: no methods, top has %d", trace, k.Kind, k.Value, len(top.Rows))
	}
}

// A page of names that are markup, control characters and very long runs no script and shows them as text.
func TestHostilePage(t *testing.T) {
	needBrowser(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "xss.pb")
	must(t, os.WriteFile(in, corpus.Hostile(t, "xss.pb").Data, 0o600))
	seen := seenIn(t, "chromium", "", pageOf(t, dir, in))[0]
	found := false
	for _, k := range seen.Kinds {
		for _, row := range k.Rows {
			found = found || strings.Contains(row[0], "<")
		}
	}
	if !found {
		t.Errorf("no markup is shown as text: %v", seen.Kinds)
	}
}

// The scripts of the page have the types that they state, follow the rules of eslint and pass their own tests, and the library in
// the page is that of its lock file.
func TestPageScripts(t *testing.T) {
	page := filepath.Join("..", "exporters", "html", "page")
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no Node: ", err)
	}
	library := filepath.Join(page, "node_modules", "uplot", "dist")
	if _, err := os.Stat(library); err != nil {
		t.Skip("not installed (npm --prefix exporters/html/page ci): ", err)
	}
	for _, name := range []string{"uPlot.esm.js", "uPlot.min.css"} {
		want, err := os.ReadFile(filepath.Join(library, name))
		must(t, err)
		got, err := os.ReadFile(filepath.Join(page, "vendor", name))
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("vendor/%s is not that of the lock file", name)
		}
	}
	if r := run(t, "npm", "--prefix", page, "run", "check"); r.code != 0 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
