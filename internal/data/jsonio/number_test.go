package jsonio_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"pgregory.net/rapid"
)

// TestNumbers compares AppendInt and AppendUint with strconv around all powers of 2 and 10.
func TestNumbers(t *testing.T) {
	check := func(u uint64) {
		if got := string(jsonio.AppendUint([]byte("x"), u)); got != "x"+strconv.FormatUint(u, 10) {
			t.Errorf("%s for %d", got, u)
		}
		if got := string(jsonio.AppendInt(nil, int64(u))); got != strconv.FormatInt(int64(u), 10) {
			t.Errorf("%s for %d", got, int64(u))
		}
	}
	for shift := range 64 {
		for d := range uint64(5) {
			check(1<<shift + d - 2)
		}
	}
	for p, left := uint64(1), 20; left > 0; p, left = p*10, left-1 {
		check(p - 1)
		check(p)
		check(p + 1)
		check(math.MaxUint64 - p)
	}
	rapid.Check(t, func(rt *rapid.T) { check(rapid.Uint64().Draw(rt, "u")) })
}
