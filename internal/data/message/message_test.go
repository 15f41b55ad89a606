package message_test

import (
	"encoding/json"
	"maps"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/message"
	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		message.Count(1, "event"): "1 event", message.Count(1234567, "event"): "1,234,567 events", message.Count(0, "entry", "entries"): "0 entries",
		message.Percent(612, 1000): "61.2%", message.Percent(1, 2000): "under 0.1%", message.Percent(0, 0): "0%",
		message.Group(-1000): "-1,000", message.Group(-999): "-999",
		message.Duration(90 * time.Second): "1m30s", message.Duration(1234567890): "1.23s", message.Duration(1234567): "1.23ms",
		message.Duration(149915960 * time.Microsecond): "2m30s", message.Duration(26_810 * time.Millisecond): "26.8s",
		message.Duration(59_960 * time.Millisecond): "1m0s", message.Duration(-896_123_000): "-896ms", message.Duration(885_321): "885µs", message.Duration(12): "12ns",
		message.Bytes(0): "0 B", message.Bytes(999): "999 B", message.Bytes(1000): "0.98 KiB", message.Bytes(8_000_000): "7.63 MiB", message.Bytes(1 << 20): "1 MiB",
		message.Bytes(math.MaxInt64): "8 EiB", message.Bytes(-32_100_000): "-30.6 MiB", message.Quantity(1.5, "bytes"): "1.50 B",
		message.Quantity(1500, "milliseconds"): "1.5s", message.Quantity(1e19, "nanoseconds"): "10,000,000,000s", message.Quantity(-1e300, "seconds"): "-1e+300s",
		message.Quantity(12.34, "percent"): "12.3%", message.Quantity(1234.5, "count"): "1,235", message.Quantity(2, "objects"): "2 objects",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// No character remains that a terminal could interpret, and printable text is unchanged.
func TestVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if rapid.Bool().Draw(t, "bytes") {
			s += string(rapid.SliceOf(rapid.Byte()).Draw(t, "more"))
		}
		for _, r := range message.Line(s) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q holds %q", message.Line(s), r)
			}
		}
		if !utf8.ValidString(message.Visible(s)) || !utf8.ValidString(message.Line(s)) {
			t.Fatalf("%q is not UTF-8", message.Visible(s))
		}
		if strings.Count(message.Visible(s), "\n") != strings.Count(s, "\n") {
			t.Fatalf("%q: line feeds were lost", s)
		}
	})
	for s, want := range map[string]string{
		"\x9b31m": `\x9b31m`, "\u009b31m": `\u009b31m`, "vml\xffnux": `vml\xffnux`, "\x1b[2J\a": `\x1b[2J\a`, "a\u202eb": `a\u202eb`, "\ufffd": "\ufffd",
		"a\u2028\u200b\u2066": `a\u2028\u200b\u2066`, "\x7f\t": `\x7f\t`,
	} {
		if got := message.Line(s); got != want {
			t.Errorf("%q became %s, want %s", s, got, want)
		}
	}
	if s := "Grüße, 世界 <T>"; message.Line(s) != s {
		t.Errorf("%q", message.Line(s))
	}
}

// Escaping preserves the value of JSON text, and no character remains that a terminal could interpret.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\u009b\u007f\u202e\u2028\u200b\u2066\ufeffa\\\"")))
		want := rapid.MapOf(rapid.StringOf(r), rapid.StringOf(r)).Draw(t, "object")
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		safe := message.JSON(text)
		if err := json.Unmarshal(safe, &got); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s became %s: %v", text, safe, err)
		}
		for _, r := range string(safe) {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 {
				t.Fatalf("%q holds %q", safe, r)
			}
		}
	})
	if s := []byte(`{"a":"Grüße, 世界\u001b"}`); string(message.JSON(s)) != string(s) {
		t.Errorf("%q", message.JSON(s))
	}
}

// A shell parses every quoted name as one word that equals the name.
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

// Different times are shown as different, and equal ones as equal.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{0, 0, "from 0s to 0s"},
		{1570 * time.Microsecond, 26*time.Second + 800*time.Millisecond, "from 1.57ms to 26.8s"},
		{60 * time.Second, 60 * time.Second, "from 1m0s to 1m0s"},
		{60 * time.Second, 60*time.Second + 260*time.Millisecond, "from 1m0s to 1m0.26s"},
		{60 * time.Second, 60*time.Second + 26*time.Microsecond, "from 1m0s to 1m0.000026s"},
		{1, 2, "from 1ns to 2ns"},
		{-2, -1, "from -2ns to -1ns"},
	} {
		if got := message.Range(c.from, c.to); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}
