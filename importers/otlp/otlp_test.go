package otlp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// read returns copies of all spans of an input, and the error that ended it if that is not io.EOF.
func read(r io.Reader, o *otlp.Options) (spans []*span.Span, err error) {
	src, err := otlp.New(r, o)
	if err != nil {
		return nil, err
	}
	return drain(src)
}

func drain(src ntconv.Source) (spans []*span.Span, err error) {
	src = ntconvtest.Poison(src)
	d := stored.NewDecoder(stored.Spans, nil)
	last := map[*ntconv.Thread]ntconv.Ticks{}
	seq := map[*ntconv.Thread]uint32{}
	barrier := ntconv.Ticks(0)
	for {
		e, err := src.Next()
		if err != nil {
			if d.Finish(); d.Invalid() != 0 {
				return spans, fmt.Errorf("%d events cannot be decoded", d.Invalid())
			}
			if err == io.EOF {
				err = nil
			}
			return spans, err
		}
		if e.Kind == ntconv.KindMark {
			barrier = e.Time
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		if e.Time < last[e.Capture] || e.Time < barrier || e.Seq != seq[e.Capture]+1 {
			return spans, fmt.Errorf("event %d of a thread at %d after one at %d and a mark at %d", e.Seq, e.Time, last[e.Capture], barrier)
		}
		last[e.Capture], seq[e.Capture] = e.Time, e.Seq
		if !stored.Spans.Has(e.Type) {
			continue
		}
		if s, ok := d.Decode(e); ok {
			spans = append(spans, spangen.Clone(s))
		}
	}
}

func marshal(t rapid.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// delimited returns messages after their lengths in 4 bytes.
func delimited(messages ...[]byte) (b []byte) {
	for _, m := range messages {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(m))), m...)
	}
	return b
}

// varintDelimited returns messages after their lengths as varints.
func varintDelimited(messages ...[]byte) (b []byte) {
	for _, m := range messages {
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
	}
	return b
}

// split returns one message per ResourceSpans.
func split(t rapid.TB, data *tracepb.TracesData) (messages [][]byte) {
	for _, rs := range data.ResourceSpans {
		messages = append(messages, marshal(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{rs}}))
	}
	return messages
}

// Spans in every form of protobuf are those that were encoded.
func TestProtobuf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := spangen.Spans().Draw(rt, "spans")
		data := spangen.Proto(spans)
		for _, input := range [][]byte{marshal(rt, data), delimited(split(rt, data)...), varintDelimited(split(rt, data)...)} {
			if len(input) > 0 && len(spans) > 0 && !otlp.Recognize(input) {
				rt.Fatalf("not recognized: %x", input[:min(40, len(input))])
			}
			var report ntconv.Report
			got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
			if err != nil {
				rt.Fatal(err)
			}
			spangen.WantEqual(rt, spans, got)
			wantClean(rt, &report)
		}
	})
}

// wantClean fails for a report with more than events out of order, which random times cause.
func wantClean(t rapid.TB, report *ntconv.Report) {
	t.Helper()
	for _, e := range report.Entries() {
		if e.Code != ntconv.CodeOutOfOrder {
			t.Fatal(e)
		}
	}
}

func styles() *rapid.Generator[spangen.Style] {
	return rapid.Custom(func(t *rapid.T) spangen.Style {
		flag := rapid.Bool()
		return spangen.Style{
			Snake: flag.Draw(t, "snake"), Upper: flag.Draw(t, "upper"), Numbers: flag.Draw(t, "numbers"), Names: flag.Draw(t, "names"),
			Nulls: flag.Draw(t, "nulls"), Indent: rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"),
		}
	})
}

// JSON has one NaN, so all of them are that one.
func withoutNaNs(spans []*span.Span) []*span.Span {
	var value func(span.Value) span.Value
	attributes := func(list []span.Attribute) (out []span.Attribute) {
		for _, a := range list {
			out = append(out, span.Attribute{Key: a.Key, Value: value(a.Value)})
		}
		return out
	}
	value = func(v span.Value) span.Value {
		switch v.Kind() {
		case span.ValueFloat:
			if math.IsNaN(v.Float()) {
				return span.Float(math.NaN())
			}
		case span.ValueArray:
			var elems []span.Value
			for _, e := range v.Elems() {
				elems = append(elems, value(e))
			}
			return span.Array(elems)
		case span.ValueMap:
			return span.Map(attributes(v.Members()))
		}
		return v
	}
	var out []*span.Span
	for _, s := range spans {
		c := spangen.Clone(s)
		c.Attributes, c.Scope.Attributes, c.Resource.Attributes = attributes(c.Attributes), attributes(c.Scope.Attributes), attributes(c.Resource.Attributes)
		for i := range c.Events {
			c.Events[i].Attributes = attributes(c.Events[i].Attributes)
		}
		for i := range c.Links {
			c.Links[i].Attributes = attributes(c.Links[i].Attributes)
		}
		out = append(out, c)
	}
	return out
}

// Spans in every form and style of JSON are those that were encoded.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := withoutNaNs(spangen.Spans().Draw(rt, "spans"))
		data, style := spangen.Proto(withSharedOwners(spans)), styles().Draw(rt, "style")
		one := spangen.JSON(data, style)
		inputs := [][]byte{one, append([]byte("\ufeff \n"), one...), slices.Concat([]byte("["), one, []byte(" , "), one, []byte("]")), slices.Concat(one, one)}
		style.Indent = ""
		line := append(spangen.JSON(data, style), '\n')
		inputs = append(inputs, slices.Concat(line, []byte("\r\n"), line))
		for i, input := range inputs {
			if len(spans) > 0 && !otlp.Recognize(input) {
				rt.Fatalf("not recognized: %.40s", input)
			}
			want := spans
			if i >= 2 {
				want = slices.Concat(spans, spans)
			}
			var report ntconv.Report
			got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
			if err != nil {
				rt.Fatalf("%v: %s", err, input)
			}
			spangen.WantEqual(rt, want, got)
			wantClean(rt, &report)
		}
	})
}

// withSharedOwners returns spans in which equal consecutive scopes and resources are the same pointers, as groups need
// it.
func withSharedOwners(spans []*span.Span) []*span.Span {
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		same := spangen.Equal(&span.Span{Resource: a.Resource}, &span.Span{Resource: b.Resource}) == nil
		if same {
			b.Resource = a.Resource
		}
		if same && spangen.Equal(&span.Span{Scope: a.Scope}, &span.Span{Scope: b.Scope}) == nil {
			b.Scope = a.Scope
		}
	}
	return spans
}

// examples returns the spans of several messages, the same in each run.
func examples(messages int) (spans []*span.Span) {
	for i := range messages {
		spans = append(spans, spangen.Spans().Example(i)...)
	}
	return withSharedOwners(withoutNaNs(spans))
}

// A prefix of an input yields a prefix of the spans, except for schema URLs that follow the spans, and then
// ErrTruncated unless it ends between messages.
func TestPrefixes(t *testing.T) {
	data := spangen.Proto(examples(3))
	for name, input := range map[string][]byte{
		"protobuf": marshal(t, data), "delimited": delimited(split(t, data)...), "varint": varintDelimited(split(t, data)...),
		"JSON": spangen.JSON(data, spangen.Style{}), "pretty JSON": spangen.JSON(data, spangen.Style{Indent: "  "}),
	} {
		all, err := read(bytes.NewReader(input), nil)
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for n := len(input) - 1; n > 0; n -= 1 + n/397 {
			got, err := read(bytes.NewReader(input[:n]), nil)
			if err != nil && !errors.Is(err, ntconv.ErrTruncated) && !(errors.Is(err, ntconv.ErrFormat) && n < 100) {
				t.Fatalf("%s: %d of %d bytes: %v", name, n, len(input), err)
			}
			if err == nil && (name == "JSON" || name == "pretty JSON") {
				t.Fatalf("%s: %d of %d bytes: no error", name, n, len(input))
			}
			if len(got) > len(all) {
				t.Fatalf("%s: more spans than in all", name)
			}
			most = max(most, len(got))
			for i := range got {
				if err := spangen.Equal(withoutURLs(all[i]), withoutURLs(got[i])); err != nil {
					t.Fatalf("%s: %d of %d bytes: %v", name, n, len(input), err)
				}
			}
		}
		if most < len(all)-1 {
			t.Errorf("%s: at most %d of %d spans of a truncated input", name, most, len(all))
		}
	}
}

func withoutURLs(s *span.Span) *span.Span {
	c := spangen.Clone(s)
	c.Scope.SchemaURL, c.Resource.SchemaURL = "", ""
	return c
}

// An error of the reader is returned unchanged, after the spans that precede it.
