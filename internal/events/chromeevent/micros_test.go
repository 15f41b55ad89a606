package chromeevent_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// TestMicros compares times with exact fractions.
func TestMicros(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		r, ok := new(big.Rat).SetString(text)
		m, got := chromeevent.ParseMicros([]byte(text))
		if !ok {
			if got {
				t.Fatalf("%q is a number", text)
			}
			return
		}
		r.Mul(r, big.NewRat(1000, 1))
		floor, rest := new(big.Int), new(big.Int)
		floor.DivMod(r.Num(), r.Denom(), rest)
		if floor.CmpAbs(big.NewInt(chromeevent.MaxNanos)) > 0 {
			if got {
				t.Fatalf("%s: %v, want none", text, m)
			}
			return
		}
		fraction, _ := new(big.Rat).SetFrac(rest, r.Denom()).Float64()
		if !got || m.Nanos != floor.Int64() || math.Abs(m.Rest-fraction) > 1e-9 || (m.Rest == 0) != (rest.Sign() == 0) || m.Rest >= 1 {
			t.Fatalf("%s: %v, %v; want %v + %g", text, m, got, floor, fraction)
		}
	}
	for _, text := range []string{
		"0", "-0", "1", "-1.5", "0.001", "0.0005", "-0.0001", "1700000000000000.1234567", "9223372036854775.807", "9223372036854775.808", "-9223372036854775.807",
		"4611686018427387.903", "4611686018427387.9039", "4611686018427387.904", "-4611686018427387.903", "-4611686018427387.9031", "-4611686018427387.904",
		"1e15", "1e16", "1E-3", "1.5e+3", "123456789012345678901234567890e-20", "0.00000000000000000000000000000001", "1e-400", "1e400", "0e999999999", "",
		"1.", "x", "1x", "-", "e5", "1e", "--1", "99999999999999999999",
	} {
		if text == "1." { // not valid JSON, so any result is allowed
			continue
		}
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,12})?`).Draw(t, "number")
		check(t, text)
		m, ok := chromeevent.ParseMicros([]byte(`"` + text + `"`))
		if n, exact := m.Round(); ok && exact {
			again, ok := chromeevent.ParseMicros(chromeevent.AppendMicros(nil, n))
			if back, exact := again.Round(); !ok || !exact || back != n {
				t.Fatalf("%s: %d, again %d", text, n, back)
			}
		}
	})
}

// TestNesting checks that nested slices still nest after rounding.
func TestNesting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenths := func(name string) int64 { return rapid.Int64Range(0, 200).Draw(t, name) }
		micros := func(tenths int64) chromeevent.Micros {
			m, _ := chromeevent.ParseMicros([]byte(strconv.FormatInt(tenths, 10) + "e-4"))
			return m
		}
		begin := tenths("begin")
		inner := begin + tenths("before")
		innerDuration := tenths("inner")
		duration := inner - begin + innerDuration + tenths("after")
		a, _ := micros(begin).Round()
		b, _ := micros(inner).Round()
		da, _ := micros(begin).RoundDuration(micros(duration))
		db, _ := micros(inner).RoundDuration(micros(innerDuration))
		if a > b || b+db > a+da {
			t.Fatalf("%d+%d is not in %d+%d", b, db, a, da)
		}
	})
}
