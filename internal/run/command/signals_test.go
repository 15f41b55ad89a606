package command

import (
	"bytes"
	"strings"
	"testing"
)

// TestLastWordsAreShort: a message before the process ends is as short as other messages, and has its beginning and its
// end.
func TestLastWordsAreShort(t *testing.T) {
	var stderr bytes.Buffer
	a := newApp(&bytes.Buffer{}, &stderr)
	a.lastWords("first " + strings.Repeat("very ", 100_000) + "last")
	text := stderr.String()
	if len(text) > 10<<10 || !strings.HasPrefix(text, "ntconv: first ") || !strings.HasSuffix(text, " last\n") {
		t.Errorf("%d bytes: %.40q ... %q", len(text), text, text[max(0, len(text)-20):])
	}
}
