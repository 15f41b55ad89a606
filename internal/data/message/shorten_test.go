package message_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/message"
)

// A message of any length keeps its beginning and its end, and no character is split.
func TestShorten(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("x", 8<<10)} {
		if got := message.Shorten(s); got != s {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
	}
	for _, unit := range []string{"x", "ü", "世", "𝄞"} {
		s := "begin " + strings.Repeat(unit, 1<<20) + "; raise --max-name"
		got := message.Shorten(s)
		if len(got) > 9<<10 || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, "; raise --max-name") || !strings.Contains(got, " bytes omitted)") || !utf8.ValidString(got) {
			t.Errorf("%q: %d bytes: %.50s ... %s", unit, len(got), got, got[len(got)-50:])
		}
	}
	if got := message.Shorten(strings.Repeat("\x80", 1<<20)); len(got) > 9<<10 {
		t.Errorf("%d bytes of a text without characters", len(got))
	}
}
