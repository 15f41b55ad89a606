//go:build unix

package repository_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAnchors checks that the headings exist that the documents link to. TestLinks checks the files.
func TestAnchors(t *testing.T) {
	all := append(documents(t), "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "testdata/README.md")
	link := regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	links := 0
	for _, name := range all {
		for _, m := range link.FindAllStringSubmatch(page(t, name), -1) {
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			links++
			if !slices.Contains(anchors(page(t, target)), m[2]) {
				t.Errorf("%s links to %s#%s, which has no such heading", name, target, m[2])
			}
		}
	}
	if links < 10 {
		t.Errorf("%d links to headings: has their form changed?", links)
	}
}

// anchors returns the anchors that GitHub derives from the headings of a page: lower case, without punctuation, with
// hyphens for spaces.
func anchors(text string) []string {
	var list []string
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		list = append(list, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return list
}
