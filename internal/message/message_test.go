package message_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ntconv/ntconv/internal/message"
	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		message.Count(1, "event"): "1 event", message.Count(1234567, "event"): "1,234,567 events", message.Count(0, "entry", "entries"): "0 entries",
		message.Group(-1000): "-1,000", message.Group(-999): "-999",
		message.Duration(90 * time.Second): "1m30s", message.Duration(1234567890): "1.23s", message.Duration(1234567): "1.23ms",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Nothing that a terminal could interpret stays, and text that prints is unchanged.
func TestVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		for _, r := range message.Line(s) {
			if !unicode.IsPrint(r) && r != unicode.ReplacementChar {
				t.Fatalf("%q holds %q", message.Line(s), r)
			}
		}
		if strings.Count(message.Visible(s), "\n") != strings.Count(s, "\n") {
			t.Fatalf("%q: line feeds were lost", s)
		}
	})
	if s := "Grüße, 世界 <T>"; message.Line(s) != s {
		t.Errorf("%q", message.Line(s))
	}
}

// A shell reads every quoted name as one word, which is the name.
func TestShellWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"a.nettrace", "it's", "a b", "$HOME", "`x`", "a\nb", `"`, "ü.nettrace", "*"} {
		out, err := exec.Command(sh, "-c", "printf %s "+message.ShellWord(name)).Output()
		if err != nil || string(out) != name {
			t.Errorf("%q: %q, %v", name, out, err)
		}
	}
	if message.ShellWord("standard input") != "-" {
		t.Error("standard input is not called -")
	}
}
