package chromeevent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// FuzzChromeEvent checks that every JSON object is an event that round-trips, and that arbitrary layouts and payloads
// do not panic.
func FuzzChromeEvent(f *testing.F) {
	for _, text := range catalogue(f) {
		f.Add([]byte(text), "", []byte{})
	}
	f.Add([]byte(`{"name":"`+strings.Repeat("ä", 600)+`","cat":"\u0000","ph":"X","dur":1,"args":{"n":1}}`), "dnC|{ni}", []byte{2, 1, 0, 'n', 0, 0, 2})
	f.Add([]byte(`{"a":1}`), "d|{ns{[n}Nu}j", []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, text []byte, layout string, payload []byte) {
		var p chromeevent.Parser
		var owners chromeevent.Owners
		enc, dec := chromeevent.NewEncoder(), chromeevent.NewDecoder(nil)
		if json.Valid(text) && utf8.Valid(text) && text[0] == '{' && text[len(text)-1] == '}' && !hugeNumbers(text) {
			out, events := roundTrip(t, &p, enc, dec, &owners, text)
			var before, after chromeevent.Event
			p.Parse(text, &before)
			before.StackID, before.StackNames = nil, nil
			before.PID, before.TID = nil, nil // Owners changes their text
			want := chromeevent.AppendJSON(nil, &before)
			p.Parse(out, &after)
			after.PID, after.TID = nil, nil
			checkSame(t, chromeevent.AppendJSON(nil, &after), want)
			if len(events) > 0 && layout != "" { // a different layout for the same fields
				typ := *events[0].Type
				typ.Attrs = append(typ.Attrs[:len(typ.Attrs):len(typ.Attrs)], ntconv.Attr{Key: "chrome.layout", Value: layout})
				e := events[0].Clone()
				e.Type = &typ
				e.Payload = payload
				dec.Decode(e)
			}
		}
	})
}

// hugeNumbers reports whether a number may have an exponent for which exact fractions need too much memory.
func hugeNumbers(text []byte) bool {
	return strings.ContainsAny(string(text), "eE") && strings.ContainsAny(string(text), "0123456789") && len(text) > 0 && hasExponent(string(text))
}

func hasExponent(s string) bool {
	for i := 1; i+1 < len(s); i++ {
		if (s[i] == 'e' || s[i] == 'E') && s[i-1] >= '0' && s[i-1] <= '9' {
			digits := strings.TrimLeft(s[i+1:], "+-0")
			n := 0
			for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
				n++
			}
			if n > 3 {
				return true
			}
		}
	}
	return false
}
