package command

import (
	"slices"
	"testing"
)

// The flags that select fields and providers are completed from the trace, and the completions are accepted.
func TestScrubCompletion(t *testing.T) {
	dir := t.TempDir()
	for flag, want := range map[string]string{
		"--field": "Shop-Manifest/Strings.first", "--provider-text": "Shop-Manifest", "--drop-provider": "Shop-Manifest",
	} {
		if got := completions(t, dir, "scrub", trace(t, "sources"), flag, "Shop-Mani"); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
		succeed(t, dir, "scrub", "-f", flag, want, trace(t, "sources"), "clean.nettrace")
	}
}
