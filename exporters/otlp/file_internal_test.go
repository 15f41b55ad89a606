package otlp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// export writes n spans to a file.
func export(t *testing.T, form Form, n int, o *Options) ([]byte, Summary) {
	t.Helper()
	var out bytes.Buffer
	s := NewFile(&out, form, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, o)
	for i := range n {
		s.add(numbered(i, shop))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum := s.Summary()
	if checkSummary(t, sum); sum.Sent != int64(n) || sum.Bytes != int64(out.Len()) {
		t.Errorf("%+v for %d spans in %d bytes", sum, n, out.Len())
	}
	return out.Bytes(), sum
}

// split splits a delimited file into its messages.
func split(t rapid.TB, b []byte) (messages [][]byte) {
	t.Helper()
	for len(b) > 0 {
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
			t.Fatalf("%d bytes at the end", len(b))
		}
		n := 4 + int(binary.BigEndian.Uint32(b))
		messages = append(messages, b[4:n])
		b = b[n:]
	}
	return messages
}

// TestForms checks that all forms contain the same messages.
func TestForms(t *testing.T) {
	for _, n := range []int{0, 1, 1300} {
		single, sum := export(t, Protobuf, n, nil)
		delimited, _ := export(t, Delimited, n, nil)
		lines, _ := export(t, JSONLines, n, nil)
		messages := split(t, delimited)
		if !bytes.Equal(bytes.Join(messages, nil), single) {
			t.Errorf("%d spans: the forms of protobuf differ", n)
		}
		if all := spangen.FromProto(decodeProto(t, single)); len(all) != n {
			t.Errorf("%d spans of %d", len(all), n)
		}
		text := strings.SplitAfter(string(lines), "\n")
		if text[len(text)-1] != "" || len(text)-1 != len(messages) || int64(len(messages)) != sum.Batches {
			t.Fatalf("%d spans: %d lines, %d messages, %+v", n, len(text)-1, len(messages), sum)
		}
		for i, m := range messages {
			if got, want := decode(t, []byte(text[i])), jsonOf(decodeProto(t, m).ProtoReflect()); !reflect.DeepEqual(got, want) {
				t.Errorf("line %d: got %v, want %v", i, got, want)
			}
		}
	}
}

// TestEqualRuns checks that the same spans yield the same bytes.
func TestEqualRuns(t *testing.T) {
	for _, form := range []Form{JSONLines, Protobuf, Delimited} {
		a, _ := export(t, form, 3000, nil)
		b, _ := export(t, form, 3000, &Options{Concurrency: 4})
		if !bytes.Equal(a, b) {
			t.Errorf("form %d differs from run to run", form)
		}
	}
}

// A limited writer fails after some bytes.
type limited struct{ left int }

var errFull = errors.New("no space left")

func (w *limited) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return len(p) + w.left, errFull
	}
	return len(p), nil
}

func TestFullDisk(t *testing.T) {
	s := NewFile(&limited{200_000}, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, nil)
	send(s, 10_000)
	err := s.Close()
	sum := s.Summary()
	checkSummary(t, sum)
	if !errors.Is(err, errFull) || sum.Sent%512 != 0 || sum.Sent == 0 || sum.Unconfirmed != 0 || sum.Bytes > 200_000 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// A short writer writes less than requested and returns no error.
type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestShortWrite(t *testing.T) {
	s := NewFile(short{}, JSONLines, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, nil)
	send(s, 1)
	if err := s.Close(); !errors.Is(err, io.ErrShortWrite) || s.Summary().Unsent != 1 {
		t.Errorf("%v, %+v", err, s.Summary())
	}
}

// TestOmittedAndRepaired checks what the sink reports about spans that it changes or omits.
func TestOmittedAndRepaired(t *testing.T) {
	for _, omit := range []bool{false, true} {
		report := new(ntconv.Report)
		s := NewFile(io.Discard, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, &Options{OmitNotRecorded: omit, Report: report})
		for i := range 10 {
			sp := numbered(i, shop)
			sp.NotRecorded = i < 4
			if i == 5 {
				sp.Name, sp.Scope = "\xff", &span.Scope{Name: "\xff"}
			}
			s.add(sp)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if omit {
			want = 4
		}
		if sum := s.Summary(); sum.NotRecorded != want || sum.Sent != 10-want || report.Count(ntconv.CodeRepaired) != 2 {
			t.Errorf("%+v, %v", sum, report.Entries())
		}
	}
}

// TestManyResources checks that the keys of resources are not kept for the whole trace.
func TestManyResources(t *testing.T) {
	s := NewFile(io.Discard, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, nil)
	for i := range 5000 {
		sp := numbered(i, nil)
		sp.Resource = &span.Resource{SchemaURL: fmt.Sprint(i)}
		s.add(sp)
	}
	if n := len(s.table.resources.byPointer); n > maxInterned+512 {
		t.Errorf("%d resources are kept", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLargeResources checks that the keys of large resources and scopes are limited by their size, not only by their
// number.
func TestLargeResources(t *testing.T) {
	const size = 1 << 20
	large := strings.Repeat("x", size)
	for _, c := range []struct {
		name string
		set  func(sp *span.Span, text string)
		kept func(*table) int
	}{
		{"resources", func(sp *span.Span, text string) {
			sp.Resource = &span.Resource{Attributes: []span.Attribute{{Key: "k", Value: span.String(text)}}}
		}, func(t *table) int { return len(t.resources.byPointer) }},
		{"scopes", func(sp *span.Span, text string) { sp.Scope = &span.Scope{Name: text} }, func(t *table) int { return len(t.scopes.byPointer) }},
	} {
		s := NewFile(io.Discard, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, nil)
		for i := range 20 {
			sp := numbered(i, nil)
			c.set(sp, fmt.Sprint(i)+large)
			s.add(sp)
		}
		if n := c.kept(&s.table); n*size > maxInternedBytes+defaultBatchBytes {
			t.Errorf("%d %s of %d bytes are kept", n, c.name, size)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// write returns the only span of a file.
func write(t *testing.T, o *Options, sp *span.Span) *span.Span {
	t.Helper()
	var out bytes.Buffer
	s := NewFile(&out, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, o)
	s.add(sp)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return spangen.FromProto(decodeProto(t, out.Bytes()))[0]
}

// TestAddedAttributes checks what the sink adds to a span.
func TestAddedAttributes(t *testing.T) {
	thread := &ntconv.Thread{TID: 7, Name: "till", Process: shop}
	profile := []span.Attribute{{Key: "pyroscope.profile.id", Value: span.String("0000000000000002")}}
	own := []span.Attribute{{Key: "pyroscope.profile.id", Value: span.String("root")}}
	for _, c := range []struct {
		name string
		o    Options
		sp   span.Span
		want []span.Attribute
	}{
		{"plain", Options{}, span.Span{Thread: thread}, nil},
		{"thread", Options{ThreadAttributes: true}, span.Span{Thread: thread}, []span.Attribute{
			{Key: "dotnet.thread.os_id", Value: span.Int(7)}, {Key: "thread.name", Value: span.String("till")},
		}},
		{"unknown thread", Options{ThreadAttributes: true}, span.Span{Thread: &ntconv.Thread{TID: ntconv.TIDUnknown}}, nil},
		{"imported", Options{ThreadAttributes: true}, span.Span{Start: 5, End: 3, Thread: thread}, nil},
		{"profile", Options{ProfileIDs: true}, span.Span{}, profile},
		{"profile of an interval", Options{ProfileIDs: true}, span.Span{Evidence: span.FromRuntime}, nil},
		{"its own profile", Options{ProfileIDs: true}, span.Span{Attributes: own}, own},
	} {
		if c.name != "imported" && c.sp.Evidence == 0 { // FromOTLP is the zero value
			c.sp.Evidence = span.FromActivity
		}
		c.sp.Scope, c.sp.Process, c.sp.Context = scopes[0], shop, numbered(1, nil).Context
		before := c.sp
		got := write(t, &c.o, &c.sp)
		if !reflect.DeepEqual(got.Attributes, c.want) || got.End != c.sp.End {
			t.Errorf("%s: attributes %v, want %v; end %d, want %d", c.name, got.Attributes, c.want, got.End, c.sp.End)
		}
		if !reflect.DeepEqual(c.sp, before) {
			t.Errorf("%s: the borrowed span was changed", c.name)
		}
	}
}
