package selection

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
)

var (
	begin = time.Date(2026, 11, 21, 7, 43, 38, 0, time.UTC)
	clock = ntconv.Clock{Freq: 1e9, Wall: begin}
)

func request() *span.Span {
	s := &span.Span{
		Name: "GET /cart", Kind: span.KindServer, Status: span.StatusError, Scope: &span.Scope{Name: "Shop.Web", Version: "1.0"},
		Start: uint64(begin.Add(2 * time.Second).UnixNano()), End: uint64(begin.Add(2150 * time.Millisecond).UnixNano()),
		Attributes: []span.Attribute{
			{Key: "http.response.status_code", Value: span.String("503")},
			{Key: "retried", Value: span.String("True")},
			{Key: "items", Value: span.Int(3)},
			{Key: "share", Value: span.Float(0.5)},
			{Key: "cached", Value: span.Bool(true)},
			{Key: "hosts", Value: span.Array([]span.Value{span.String("a"), span.String("b"), span.Int(7)})},
			{Key: "double", Value: span.String("first")},
			{Key: "double", Value: span.String("second")},
			{Key: "empty", Value: span.Empty()},
		},
	}
	s.TraceID = span.TraceID{0xab, 1}
	s.ID = span.ID{0xcd, 2}
	return s
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		`span.name == "GET /cart"`:                                            true,
		`span.name =~ "cart$" && !(span.name =~ "POST")`:                      true,
		`span.kind == "server"`:                                               true,
		`span.kind == 'Server' && span.kind in ("client", "server")`:          true,
		`span.kind != "server"`:                                               false,
		`span.status == "error" || span.name == "x"`:                          true,
		`span.duration == 150ms`:                                              true,
		`span.duration > 150ms`:                                               false,
		`span.start >= 2s && span.start < 2001ms`:                             true,
		`span.start == "2026-11-21T07:43:40Z"`:                                true,
		`span.start < "2026-11-21T07:43:40Z"`:                                 false,
		`span.scope == "Shop.Web"`:                                            true,
		`span.trace_id == "AB010000000000000000000000000000"`:                 true,
		`span.span_id =~ "^cd02"`:                                             true,
		`has(span.parent_span_id) || span.parent_span_id != "00"`:             false,
		`span.attributes."http.response.status_code" >= 500`:                  true,
		`span.attributes.http.response.status_code == "503"`:                  true,
		`span.attributes."http.response.status_code" != 503`:                  false,
		`span.attributes.retried == true && span.attributes.cached == true`:   true,
		`span.attributes.items == 3 && span.attributes.share < 0.75`:          true,
		`span.attributes.hosts == "b" && span.attributes.hosts == 7`:          true,
		`span.attributes.hosts == "c"`:                                        false,
		`span.attributes.double == "second" && span.attributes.double =~ "f"`: true,
		`has(span.attributes.empty) && !has(span.attributes.none)`:            true,
		`span.attributes.none != 1`:                                           false,
	} {
		c, err := ParseSpan(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.Text() != text || c.Match(request(), clock) != want {
			t.Errorf("%s: %v, want %v", text, !want, want)
		}
		if again, err := ParseSpan(c.where.String()); err != nil || again.Match(request(), clock) != want {
			t.Errorf("%s: printed as %s, which means something else: %v", text, c.where, err)
		}
	}
}

// A span that is still open has no duration, and without a wall clock no date can be compared.
func TestUnknown(t *testing.T) {
	open := request()
	open.End = 0
	for text, clock := range map[string]ntconv.Clock{
		`has(span.duration) || span.duration >= 0s`: clock,
		`span.start > 1s`: {Freq: 1},
	} {
		c, err := ParseSpan(text)
		if err != nil {
			t.Fatal(err)
		}
		if clock.Wall.IsZero() {
			open.Start = 0
		}
		if c.Match(open, clock) {
			t.Errorf("%s holds", text)
		}
	}
}

// ParseSpan reports a mistake with its position and a suggestion.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                "position 1: the expression is empty",
		`span.nmae == "x"`:                "position 1: a span has no property nmae; did you mean span.name?",
		`span.name == "x" && span.x == 1`: "position 21: a span has no property x; available: span.name, span.kind,",
		`name == "x"`:                     "position 1: name is not a property of a span; did you mean span.name?",
		`span == "x"`:                     "span is not a property of a span",
		`$time > 1s`:                      `position 1: want a property such as span.name, got "$time"`,
		`span.name.first == "x"`:          "span.name has no member first",
		`span.attributes == "x"`:          `span.attributes needs a key: span.attributes."KEY"`,
		`span.name == 5`:                  "position 14: span.name is a string; want a string in quotes, got 5",
		`span.kind == "sever"`:            `span.kind is never "sever"; want one of unspecified, internal, server`,
		`span.status =~ 3`:                "want a regular expression in quotes",
		`span.duration > 5`:               "span.duration is a duration; want a duration such as 100ms, got 5",
		`span.duration =~ "5"`:            "span.duration is not a string",
		`span.start > "yesterday"`:        "span.start is a time; want",
		`span.attributes.size > 5ms`:      "span.attributes.size has no unit",
		`span.name =~ "("`:                "missing closing )",
		`has(span.duratoin)`:              "did you mean span.duration?",
	} {
		_, err := ParseSpan(text)
		var at *where.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// No text makes the parser or a condition panic, and a printed expression parses to an equal one.
func FuzzParseSpan(f *testing.F) {
	f.Add(`span.attributes."a b".c in (1, "x", true) && !(span.start > 1.5s)`)
	f.Add(`has(span.attributes.a) || span.kind =~ "^s"`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseSpan(text)
		if err != nil {
			return
		}
		holds := c.Match(request(), clock)
		again, err := ParseSpan(c.where.String())
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, c.where, err)
		}
		if again.where.String() != c.where.String() || again.Match(request(), clock) != holds {
			t.Fatalf("%q means %v and is printed as %q", text, holds, c.where)
		}
	})
}
