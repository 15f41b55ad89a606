package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/sample"
)

// docs/profiles.md states the order in which kinds are selected.
func TestDocumentedPreference(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "profiles.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range sample.Preferred() {
		names = append(names, k.String())
	}
	list := strings.Join(names, ", ")
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), list) {
		t.Errorf("docs/profiles.md lacks the list %s", list)
	}
}
