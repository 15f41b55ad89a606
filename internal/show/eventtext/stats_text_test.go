package eventtext

import (
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
)

// Numbers for display keep integers and six significant digits of others.
func TestShown(t *testing.T) {
	of := func(v ntconv.Value) distribution.Number {
		n, ok := distribution.Of(v)
		if !ok {
			t.Fatal(v)
		}
		return n
	}
	integer := func(n int64) distribution.Number { return of(ntconv.IntValue(n)) }
	unsigned := func(n uint64) distribution.Number { return of(ntconv.UintValue(n)) }
	for n, want := range map[distribution.Number]string{
		integer(1234567):                      "1,234,567",
		unsigned(math.MaxUint64):              "18,446,744,073,709,551,615",
		integer(-1):                           "-1",
		integer(math.MinInt64):                "-9,223,372,036,854,775,808",
		distribution.Float(0):                 "0",
		distribution.Float(1):                 "1",
		distribution.Float(-12.5):             "-12.5",
		distribution.Float(1234567.8):         "1,234,568",
		distribution.Float(-123456.7):         "-123,457",
		distribution.Float(1. / 3):            "0.333333",
		distribution.Float(1. / 3000):         "0.000333333",
		distribution.Float(9.999999):          "10",
		distribution.Float(1e-7):              "1e-07",
		distribution.Float(2.5e20):            "2.5e+20",
		distribution.Float(math.Inf(1)):       "Inf",
		distribution.Float(math.Inf(-1)):      "-Inf",
		distribution.Float(0.000123456789012): "0.000123457",
	} {
		if got := shown(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}
