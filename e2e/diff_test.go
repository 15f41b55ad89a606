package e2e

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
)

// hostileNames are names of functions with characters that have a meaning in Markdown or HTML.
var hostileNames = []string{
	"<script>alert(1)</script>", "a|b|c", "`x` **b** __init__", "</code></details><img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
	"@user #1 https://example.com www.example.com", "~~s~~ &lt; &amp; $x$ \\| ![i](u)", "# heading", "- list", "1. list", "    code", "> quote",
}

// render returns Markdown as HTML, with the extensions of GitHub. HTML in the Markdown stays, as on GitHub.
func render(t *testing.T, markdown []byte) string {
	t.Helper()
	var b bytes.Buffer
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	must(t, m.Convert(markdown, &b))
	return b.String()
}

// TestDiffMarkdown: the Markdown of diff has the elements of tables and collapsed parts only, each with its end, and shows
// names of functions unchanged, whatever characters they have.
func TestDiffMarkdown(t *testing.T) {
	var before, after strings.Builder
	for i, name := range hostileNames {
		name = strings.TrimSpace(strings.ReplaceAll(name, ";", ":"))
		before.WriteString("main;" + name + " 100\n")
		after.WriteString("main;" + name + " " + strings.Repeat("9", 2+i%4) + "\n")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.folded": before.String(), "b.folded": after.String()} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	diff := filepath.Join("..", "testdata", "diff")
	for _, inputs := range [][2]string{
		{filepath.Join(dir, "a.folded"), filepath.Join(dir, "b.folded")},
		{filepath.Join(diff, "before.nettrace.zst"), filepath.Join(diff, "after.nettrace.zst")},
	} {
		r := run(t, command, "diff", "-q", "-n", "0", "--markdown", inputs[0], inputs[1])
		if r.code != 0 {
			t.Fatalf("code %d: %s", r.code, r.stderr)
		}
		page := render(t, r.stdout)
		allowed := []string{"h3", "h4", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary"}
		var open []string
		for _, m := range regexp.MustCompile(`<(/?)([a-zA-Z0-9!]+)([^>]*)>`).FindAllStringSubmatch(page, -1) {
			switch {
			case !slices.Contains(allowed, m[2]):
				t.Errorf("element %s", m[0])
			case m[1] == "":
				open = append(open, m[2])
			case len(open) == 0 || open[len(open)-1] != m[2]:
				t.Errorf("%s ends, and %v are open", m[2], open)
			default:
				open = open[:len(open)-1]
			}
			if attributes := regexp.MustCompile(`^( open| align="(left|right|center)"| style="text-align:\w+")?$`); !attributes.MatchString(m[3]) {
				t.Errorf("attributes of %s", m[0])
			}
		}
		if len(open) > 0 {
			t.Errorf("without end: %v", open)
		}
		shown := regexp.MustCompile(`<code>(.*?)</code>`).FindAllStringSubmatch(page, -1)
		var object struct{ Functions []struct{ Function string } }
		j := run(t, command, "diff", "-q", "--json", inputs[0], inputs[1])
		if err := json.Unmarshal(j.stdout, &object); err != nil || len(object.Functions) < len(hostileNames) {
			t.Fatalf("%v, %d functions: %s", err, len(object.Functions), j.stderr)
		}
		for _, f := range object.Functions {
			if !slices.ContainsFunc(shown, func(m []string) bool { return html.UnescapeString(m[1]) == f.Function }) {
				t.Errorf("%q is not in the page", f.Function)
			}
		}
	}
}
