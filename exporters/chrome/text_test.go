package chrome

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzQuoteLarge: integers beyond 2^63-1 become strings, and nothing else changes.
func FuzzQuoteLarge(f *testing.F) {
	for _, s := range []string{
		"", "0", "9223372036854775807", "9223372036854775808", "18446744073709551615", `{"a":18446744073709551615,"b":[9223372036854775808,1]}`,
		`"18446744073709551615 \" \\"`, "-9223372036854775808", "1e400", "0.18446744073709551615", "18446744073709551615.5", "18446744073709551615e3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		var scratch []byte
		b := quoteLarge([]byte("9"+s), 1, &scratch)
		if b[0] != '9' || !json.Valid(b[1:]) {
			t.Fatalf("%s: %s", s, b)
		}
		want, got := values(t, s), values(t, string(b[1:]))
		if len(want) != len(got) {
			t.Fatalf("%s: %s", s, b)
		}
		for i := range want {
			w := want[i]
			if n, ok := w.(json.Number); ok && isBeyond(string(n)) {
				w = string(n)
			}
			if got[i] != w {
				t.Fatalf("%s: value %d is %v, want %v", b, i, got[i], w)
			}
		}
	})
}

// isBeyond reports whether the text of a number is an integer larger than 2^63-1.
func isBeyond(n string) bool {
	if strings.ContainsAny(n, ".eE-") {
		return false
	}
	_, err := strconv.ParseInt(n, 10, 64)
	return err != nil
}

// values returns all tokens of a text.
func values(t *testing.T, s string) (list []json.Token) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return list
		}
		list = append(list, tok)
	}
}

// TestNumbers: numbers are valid JSON and restore the value.
func TestNumbers(t *testing.T) {
	for _, f := range []float64{0, 1, -1, 0.1, 1e21, 1e300, -5e-324, math.MaxFloat64, 1 << 53, 1<<53 + 2, math.Pi, -2.5} {
		b := appendFloat(nil, f)
		var got float64
		if err := json.Unmarshal(b, &got); err != nil || got != f {
			t.Errorf("%v: %s: %v", f, b, err)
		}
	}
	for f, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if got := string(appendFloat(nil, f)); got != want {
			t.Errorf("%v: %s", f, got)
		}
	}
	if got := string(appendFloat(nil, math.NaN())); got != `"NaN"` {
		t.Error(got)
	}
}
