package chrome_test

import (
	"encoding/json"
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// Slices and instants of one category have one color in all traces, and other categories have others.
func TestColors(t *testing.T) {
	colors := map[string]string{}
	for _, name := range []string{"waits", "startup", "exceptions", "activities", "gcdump"} {
		out, _ := exported(t, corpus.Trace(t, name).Data, chrome.Options{})
		var file struct {
			TraceEvents []struct{ Ph, Cat, Cname string }
		}
		if err := json.Unmarshal(out, &file); err != nil {
			t.Fatal(err)
		}
		for _, e := range file.TraceEvents {
			switch {
			case e.Ph == "b" && e.Cname != "":
				t.Fatalf("%s: an asynchronous slice has the color %s, which viewers ignore", name, e.Cname)
			case e.Ph != "X" && e.Ph != "i":
				continue
			}
			if c, ok := colors[e.Cat]; ok && c != e.Cname {
				t.Fatalf("%s: %s has the colors %q and %q", name, e.Cat, c, e.Cname)
			}
			colors[e.Cat] = e.Cname
		}
	}
	for _, cat := range []string{"gc", "jit", "contention", "wait", "span", "exception"} {
		if colors[cat] == "" {
			t.Errorf("%s has no color", cat)
		}
	}
	if colors["gc"] == colors["jit"] || colors["wait"] == colors["span"] || colors["Microsoft-Windows-DotNETRuntime"] != "" {
		t.Errorf("colors %q", colors)
	}
}
