package payload

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Masks for four UTF-16 code units in a uint64, each with the same value.
const (
	eachUnit  = 0x0001_0001_0001_0001
	unitTops  = 0x8000_8000_8000_8000
	notASCII  = 0xff80_ff80_ff80_ff80
	spaces    = ' ' * eachUnit
	quotes    = '"' * eachUnit
	backslash = '\\' * eachUnit
)

// appendUTF16 appends UTF-16LE as a quoted string. It returns false if it replaced an unpaired surrogate. It ignores an
// odd last byte.
func appendUTF16(dst, b []byte) (_ []byte, exact bool) {
	dst, exact = append(dst, '"'), true
	for len(b) >= 2 {
		for len(b) >= 8 { // fast path: four ASCII units that need no escape
			x := binary.LittleEndian.Uint64(b)
			// All lanes are below 128, so the top bit of a lane's difference is set if it is negative: for a control
			// character, a quote or a backslash. A borrow from a lower lane can set it too, but then that lane is
			// negative.
			if x&notASCII != 0 || ((x-spaces)|((x^quotes)-eachUnit)|((x^backslash)-eachUnit))&unitTops != 0 {
				break
			}
			dst = append(dst, byte(x), byte(x>>16), byte(x>>32), byte(x>>48))
			b = b[8:]
		}
		for i := 0; i < 4 && len(b) >= 2; i++ {
			r := rune(binary.LittleEndian.Uint16(b))
			b = b[2:]
			if r < utf8.RuneSelf {
				dst = appendASCII(dst, byte(r))
				continue
			}
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if len(b) >= 2 {
					pair = utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b)))
				}
				if r = pair; pair != utf8.RuneError {
					b = b[2:]
				} else {
					exact = false
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"'), exact
}

// appendLatin1 appends 8-bit characters as a quoted string.
func appendLatin1(dst, b []byte) []byte {
	dst = append(dst, '"')
	for _, c := range b {
		if c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
		} else {
			dst = utf8.AppendRune(dst, rune(c))
		}
	}
	return append(dst, '"')
}

// appendUTF8 appends UTF-8 as a quoted string. It returns false if it replaced invalid bytes.
func appendUTF8(dst, b []byte) (_ []byte, exact bool) {
	dst, exact = append(dst, '"'), true
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			dst = appendASCII(dst, b[0])
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			exact = false
		}
		dst, b = utf8.AppendRune(dst, r), b[n:]
	}
	return append(dst, '"'), exact
}

// appendASCII appends one character inside a quoted string, escaped if necessary.
func appendASCII(dst []byte, c byte) []byte {
	if c >= ' ' && c != '"' && c != '\\' {
		return append(dst, c)
	}
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// double.NaN and float.NaN of .NET, to which "NaN" is converted. Other NaNs have the same JSON and are not exact.
const (
	nan64 = 0xfff8_0000_0000_0000
	nan32 = 0xffc0_0000
)

// AppendFloat appends the shortest number that restores f among the floating-point numbers with that many bits, 32 or
// 64. NaN and infinities, which JSON numbers cannot represent, become the strings "NaN", "Infinity" and "-Infinity", as
// in .NET.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	return jsontext.AppendFloat(dst, f, bits)
}

const (
	// timeLayout has all digits of a time in units of 100 ns.
	timeLayout = `"2006-01-02T15:04:05.0000000Z"`
	// maxTime is the end of the year 9999, the last time that RFC 3339 can represent.
	maxTime = 2650467743999999999
	// epochSeconds is the number of seconds from 1601-01-01 to 1970-01-01.
	epochSeconds = 11644473600
)

// appendTime appends a time in units of 100 ns since 1601-01-01 UTC as a quoted string. It returns false if the string
// does not restore the time.
func appendTime(dst []byte, fileTime uint64) (_ []byte, exact bool) {
	n := int64(fileTime)
	return time.Unix(n/1e7-epochSeconds, n%1e7*100).UTC().AppendFormat(dst, timeLayout), fileTime <= maxTime
}
