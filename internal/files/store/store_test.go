package store_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/testing/memstore"
)

// A name without a bucket stays one when elements are added, so that no request goes to a bucket that the user has not named.
func TestNoBucket(t *testing.T) {
	_ = memstore.New().View() // registers the scheme
	for _, name := range []string{"mem://", "mem:///", "mem:///a"} {
		for _, joined := range []string{name, store.Join(name), store.Join(name, "b"), store.Clean(name)} {
			if _, err := store.Stat(joined); err == nil || !strings.Contains(err.Error(), "want mem://BUCKET/NAME") {
				t.Errorf("%s as %s: %v", name, joined, err)
			}
		}
	}
	for name, want := range map[string]string{"mem://a": "mem://a/x", "mem://a/b/": "mem://a/b/x"} {
		if got := store.Join(name, "x"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
