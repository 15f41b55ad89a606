package where

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Match agrees with the regular expression that corresponds to the pattern.
func TestMatchIsARegularExpression(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("aAbß.*?/ſ")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, s := letters.Draw(t, "pattern"), letters.Draw(t, "text")
		expr := regexp.QuoteMeta(pattern)
		expr = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(expr)
		want := regexp.MustCompile(`(?is)^` + expr + `$`).MatchString(s)
		// Simple case folding in the regular expression treats ſ as s. The strings do not contain ſ.
		if got := Match(pattern, s); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, s, got)
		}
	})
}

// Many stars in a long string take little time; a search with exponential time would not finish.
func TestMatchManyStars(t *testing.T) {
	if Match(strings.Repeat("*a", 50)+"b", strings.Repeat("a", 10_000)) {
		t.Error("matched")
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b?", "axxb\xff")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if !Match("*", s) {
			t.Error("* does not match", s)
		}
		// Invalid UTF-8 may become a valid character where two strings are joined.
		if utf8.ValidString(pattern) && utf8.ValidString(s) && Match(pattern, s) && !Match(pattern+"*", s+pattern) {
			t.Errorf("%q matches %q, but not with more text after a star", pattern, s)
		}
		_ = Match(s, pattern)
	})
}

func TestMatchEvent(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{"gc/start", true}, {"GC*", true}, {"1", true}, {"My-Runtime/GC/Start", true}, {"*/GC/*", true}, {"my*/1", true},
		{"Other/GC/Start", false}, {"GC", false}, {"My-Runtime", false}, {"My-Runtime/2", false}, {"", false},
	} {
		if got := MatchEvent(c.pattern, "My-Runtime", "GC/Start", "1"); got != c.want {
			t.Errorf("%q: %v, want %v", c.pattern, got, c.want)
		}
	}
}
