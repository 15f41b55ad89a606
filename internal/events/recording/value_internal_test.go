package recording

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitTags(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "[]",
		"colour=red,n=1":    "[{colour red} {n 1}]",
		"shelf=a,b=c":       "[{shelf a} {b c}]",
		"list=1,2,3,n=x=y":  "[{list 1,2,3} {n x=y}]",
		"flag":              "[{flag }]",
		"flag,more":         "[{flag ,more}]",
		"empty=,other=":     "[{empty } {other }]",
		"trailing=comma,":   "[{trailing comma}]",
		"double=comma,,a=b": "[{double comma,} {a b}]",
	} {
		if got := fmt.Sprint(splitTags(text, '=')); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	for text, want := range map[string]string{
		"0.5": "p50", "0.95": "p95", "0.99": "p99", "0.999": "p99.9", "0": "p0", "1": "p100", "0.07": "p7", "2": "", "-0.1": "", "x": "", "NaN": "", "": "",
	} {
		if got, _, _ := percentile(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestClockSeconds(t *testing.T) {
	for text, want := range map[string]float64{
		"00:00:01": 1, "00:01:00": 60, "01:00:00": 3600, "00:00:00.5000000": 0.5, "1.00:00:00": 86400, "": 0, "x": 0, "1:2": 0, "a:b:c": 0,
	} {
		if got := clockSeconds(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestParseInteger compares parseInteger with strconv.ParseInt.
func TestParseInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[+-]?[0-9]{0,25}`), rapid.StringMatching(`[-0-9.e]{0,6}`), rapid.SampledFrom([]string{"9223372036854775807", "-9223372036854775808", "9223372036854775808"}),
		).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		if got, ok := parseInteger([]byte(text)); ok != (err == nil) || ok && got != want {
			t.Fatalf("%q: %d, %v, want %d, %v", text, got, ok, want, err)
		}
	})
}
