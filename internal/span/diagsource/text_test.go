package diagsource_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"pgregory.net/rapid"
)

// TestTags splits tags, including ambiguous text.
func TestTags(t *testing.T) {
	cases := []struct{ text, want string }{
		{"", ""},
		{"[a, b]", "a=b"},
		{"[a, b],[c, d]", "a=b c=d"},
		{"[a, ],[c, ]", "a= c="},
		{"[a, b, c],[d, [e, f]]", "a=b, c d=[e, f]"},
		{"[a, x],[y],[b, z]", "a=x],[y b=z"}, // y has no separator, so it belongs to the value
		{"[a, x],[y, z]", "a=x y=z"},         // nothing shows that the value was "x],[y, z"
		{"[key, with] comma, v]", "key=with] comma, v"},
		{"[a]", "a="},
		{"[]", "="},
		{"[a, b],[c, d", "[a, b],[c, d="}, // unbalanced: not a list of tags
		{"a:b", "a=b"},
		{"a:b, c:d", "a=b c=d"},
		{"a:b, c, d:e f", "a=b, c d=e f"},
		{"uri:http://x:1/y, z:1", "uri=http://x:1/y z=1"},
		{"a:1, not a key:2", "a=1, not a key:2"},
		{"a:, b:", "a= b="},
		{"System.Collections.Generic.KeyValuePair`2[System.String,System.Object][]", ""},
		{"System.Diagnostics.Activity+TagsLinkedList", ""},
	}
	for _, c := range cases {
		var got []string
		for _, x := range diagsource.AppendTags(nil, c.text) {
			got = append(got, x.Key+"="+x.Value.Str())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q gives %q, want %q", c.text, got, c.want)
		}
	}
}

// item is an event or a link in a program.
type item struct {
	name string
	time time.Time
	tags [][2]string
}

// TestLists checks that any events and links round-trip through the format of .NET.
func TestLists(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab,:()[]~ \n\"é😀")))
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			offset := time.FixedZone("", 900*rapid.IntRange(-56, 56).Draw(t, "offset"))
			at := time.Unix(rapid.Int64Range(-9_000_000_000, 9_000_000_000).Draw(t, "s"), 100*rapid.Int64Range(0, 9_999_999).Draw(t, "ticks")).In(offset)
			it := item{name: text.Draw(t, "name"), time: at}
			for range rapid.IntRange(0, 3).Draw(t, "tags") {
				it.tags = append(it.tags, [2]string{"k" + text.Draw(t, "key"), text.Draw(t, "value")})
			}
			return it
		}), 0, 5).Draw(t, "items")
		var events, links []string
		for i, it := range items {
			var tags []string
			for _, x := range it.tags {
				tags = append(tags, x[0]+":\u200b"+x[1])
			}
			list := "[" + strings.Join(tags, ",\u200b") + "]"
			events = append(events, "("+it.name+",\u200b"+it.time.Format("2006-01-02T15:04:05.0000000-07:00")+",\u200b"+list+")")
			link := fmt.Sprintf("(%032x,\u200b%016x,\u200bRecorded,\u200b%s,\u200b%t", i, i, it.name, i%2 == 0)
			if len(it.tags) > 0 {
				link += ",\u200b" + list
			}
			links = append(links, link+")")
		}
		l := diagsource.NewLists(false)
		if n := l.ParseEvents("[" + strings.Join(events, ",\u200b") + "]"); n != 0 {
			t.Fatalf("%d events of %q cannot be read", n, events)
		}
		if n := l.ParseLinks("[" + strings.Join(links, ",\u200b") + "]"); n != 0 {
			t.Fatalf("%d links of %q cannot be read", n, links)
		}
		checkLists(t, l.Events(), l.Links(), items)
	})
}

func checkLists(t *rapid.T, events []span.Event, links []span.Link, items []item) {
	if len(events) != len(items) || len(links) != len(items) {
		t.Fatalf("%d events and %d links, want %d", len(events), len(links), len(items))
	}
	for i, it := range items {
		e, l := events[i], links[i]
		if e.Name != it.name || int64(e.Time) != it.time.UnixNano() {
			t.Fatalf("event %q at %d, want %q at %d", e.Name, e.Time, it.name, it.time.UnixNano())
		}
		flags := uint32(0x101)
		if i%2 == 0 {
			flags = 0x301
		}
		if l.TraceState != it.name || l.Flags != flags || l.TraceID[15] != byte(i) || l.ID[7] != byte(i) {
			t.Fatalf("link %d is %+v, want trace state %q and flags %x", i, l, it.name, flags)
		}
		for _, attributes := range [][]span.Attribute{e.Attributes, l.Attributes} {
			if len(attributes) != len(it.tags) {
				t.Fatalf("attributes are %v, want %q", attributes, it.tags)
			}
			for j, x := range attributes {
				if x.Key != it.tags[j][0] || x.Value.Str() != it.tags[j][1] {
					t.Fatalf("attributes are %v, want %q", attributes, it.tags)
				}
			}
		}
	}
}

// TestListsThatCannotBeRead checks the count of dropped items.
func TestListsThatCannotBeRead(t *testing.T) {
	cases := []struct {
		text         string
		events, lost int
	}{
		{"", 0, 0},
		{"[]", 0, 0},
		{"System.Diagnostics.ActivityEvent,System.Diagnostics.ActivityEvent", 0, 2},
		{"System.Diagnostics.ActivityEvent[]", 0, 0}, // a type of lists
		{"System.Linq.Enumerable+EmptyPartition`1[System.Diagnostics.ActivityEvent]", 0, 0},
		{"[(e,\u200byesterday,\u200b[])]", 0, 1},
		{"[(e,\u200b2026-13-01T00:00:00.0000000+00:00,\u200b[]),\u200b(f,\u200b2026-11-21T00:00:00.0000000+00:00,\u200b[])]", 1, 1},
		{"[(e, 2026-11-21T00:00:00.0000000+00:00, [])]", 0, 1},
		{"[(", 0, 1},
		{"[()]", 0, 1},
		{"text", 0, 1},
	}
	for _, c := range cases {
		l := diagsource.NewLists(false)
		if lost := l.ParseEvents(c.text); int(lost) != c.lost || len(l.Events()) != c.events {
			t.Errorf("%q gives %d events and %d dropped, want %d and %d", c.text, len(l.Events()), lost, c.events, c.lost)
		}
	}
	for text, lost := range map[string]uint32{
		"[(00,\u200b00,\u200bNone,\u200bnull,\u200bfalse)]": 1, "System.Diagnostics.ActivityLink": 1, "[]": 0,
		"[(" + traceText + ",\u200b" + idText + ")]": 0, "[(" + traceText + ",\u200b" + idText + "00)]": 1,
	} {
		if got := diagsource.NewLists(false).ParseLinks(text); got != lost {
			t.Errorf("links %q: %d dropped, want %d", text, got, lost)
		}
	}
}

func encode(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// TestNumbers compares parseDecimal with the standard library.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,20}`), rapid.StringOf(rapid.RuneFrom([]rune("-+0189afAFxİ٣")))).Draw(t, "text")
		want, err := strconv.ParseInt(s, 10, 64)
		ok := err == nil && !strings.HasPrefix(s, "+") && len(strings.TrimPrefix(s, "-")) <= 19 && want != -1<<63
		if got, isNumber := diagsource.Decimal(encode(s)); isNumber != ok || ok && got != want {
			t.Fatalf("%q gives %d %t, want %d %t", s, got, isNumber, want, ok)
		}
		dst := make([]byte, 4)
		b, err := hex.DecodeString(s)
		if ok := diagsource.ParseHex(dst, encode(s)); ok != (err == nil && len(b) == 4) || ok && string(dst) != string(b) {
			t.Fatalf("%q gives %x %t, want %x %v", s, dst, ok, b, err)
		}
	})
}

// TestTimeSpans checks that a TimeSpan in the format of .NET round-trips.
func TestTimeSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-1e17, 1e17).Draw(t, "ticks")
		text, rest := "", n
		if n < 0 {
			text, rest = "-", -n
		}
		if days := rest / 864e9; days > 0 {
			text += fmt.Sprintf("%d.", days)
		}
		text += fmt.Sprintf("%02d:%02d:%02d", rest/36e9%24, rest/6e8%60, rest/1e7%60)
		if part := rest % 1e7; part > 0 {
			text += fmt.Sprintf(".%07d", part)
		}
		if got, ok := diagsource.TimeSpan(text); !ok || got != n {
			t.Fatalf("%q gives %d %t, want %d", text, got, ok, n)
		}
	})
	for _, text := range []string{"", "-", "1", "00:00", "00:00:00.", "00:00:00.12345678", "0x:00:00", "00-00-00", "99999999999.00:00:00", "1.2.00:00:00", "00:00:00x"} {
		if n, ok := diagsource.TimeSpan(text); ok {
			t.Errorf("%q gives %d", text, n)
		}
	}
}

// TestConventions checks the types of attributes in conventions. Text that is not a value of the type stays a string.
func TestConventions(t *testing.T) {
	cases := []struct {
		line string
		want span.Value
	}{
		{"http.response.status_code, 200", span.Int(200)},
		{"http.response.status_code, OK", span.String("OK")},
		{"http.response.status_code, 007", span.String("007")},
		{"http.response.status_code, 99999999999999999999", span.String("99999999999999999999")},
		{"server.port, -1", span.Int(-1)},
		{"aspnetcore.routing.is_fallback, True", span.Bool(true)},
		{"aspnetcore.routing.is_fallback, true", span.String("true")},
		{"my.port, 200", span.String("200")},
	}
	for _, c := range cases {
		e := event("ActivityStop", 5, 0, "Shop", "x", "Tags=["+c.line+"]")
		if got := spansOf(t, diagsource.Options{Convention: true}, e).spans[0].Attributes[0].Value; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s is %v, want %v", c.line, got, c.want)
		}
		if got := spansOf(t, diagsource.Options{}, e).spans[0].Attributes[0].Value; got.Kind() != span.ValueString {
			t.Errorf("%s is %v without conventions", c.line, got)
		}
	}
}
