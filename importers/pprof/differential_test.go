package pprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
)

// checkLikeGoogle checks that what google/pprof's library accepts as profile.proto is read with the same contents.
// There are two exceptions: inputs that exceed a limit, and encodings that protobuf forbids and the library does not
// check (field number 0, varints of more than 64 bits). Errors have a place in the input.
func checkLikeGoogle(t failer, data []byte) {
	t.Helper()
	src, err := pprof.New(bytes.NewReader(data), &pprof.Options{Limits: pprof.Limits{Bytes: 1 << 24, Frames: 1 << 16}})
	want, wantErr := profile.ParseUncompressed(data)
	if wantErr == nil {
		wantErr = want.CheckValid()
	}
	if err != nil {
		if wantErr == nil && !errors.Is(err, ntconv.ErrLimit) && !strings.Contains(err.Error(), "invalid protobuf") {
			t.Fatalf("google/pprof accepts the profile: %v\n% x", err, data)
		}
		if place := new(ntconv.FormatError); !errors.As(err, &place) || place.Offset < 0 || place.Offset > int64(len(data)) {
			t.Fatalf("%v has no place in %d bytes", err, len(data))
		}
		return
	}
	if wantErr != nil {
		return
	}
	var got []string
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatalf("%v", err)
		}
		if e.Kind == ntconv.KindEvent {
			got = append(got, eventText(e))
		}
	}
	var samples []string
	for _, s := range want.Sample {
		samples = append(samples, sampleText(s))
	}
	if !hasValidTexts(want) { // ours are made valid, which may make two keys of labels one
		if len(got) != len(samples) {
			t.Fatalf("%d events for %d samples", len(got), len(samples))
		}
		return
	}
	slices.Sort(got) // some samples have times
	slices.Sort(samples)
	if !slices.Equal(got, samples) {
		t.Fatalf("%s", difference(strings.Join(got, "\n"), strings.Join(samples, "\n")))
	}
}

// hasValidTexts reports whether all strings that samples refer to are UTF-8.
func hasValidTexts(p *profile.Profile) bool {
	var all []string
	for _, t := range p.SampleType {
		all = append(all, t.Type, t.Unit)
	}
	for _, m := range p.Mapping {
		all = append(all, m.File, m.BuildID)
	}
	for _, f := range p.Function {
		all = append(all, f.Name, f.SystemName, f.Filename)
	}
	for _, s := range p.Sample {
		for key, values := range s.Label {
			all = append(append(all, key), values...)
		}
		for key := range s.NumLabel {
			all = append(append(all, key), s.NumUnit[key]...)
		}
	}
	return !slices.ContainsFunc(all, func(s string) bool { return !utf8.ValidString(s) })
}

// eventText returns an event as sampleText would return its original sample.
func eventText(e *ntconv.Event) string {
	var b strings.Builder
	first := true
	for _, v := range e.Fields() {
		if !first {
			fmt.Fprintf(&b, "%d ", v.Int())
		}
		first = false
	}
	var list []string
	if e.Labels != nil {
		for _, l := range e.Labels.List() {
			if l.Kind == ntconv.LabelInt {
				list = append(list, fmt.Sprintf("%q=%d%q", l.Key, l.Num, l.Unit))
			} else {
				list = append(list, fmt.Sprintf("%q=%q", l.Key, l.Str))
			}
		}
	}
	slices.Sort(list)
	fmt.Fprintf(&b, "%v", list)
	if e.Stack == nil {
		return b.String()
	}
	for _, f := range e.Stack.Frames {
		m := f.Mapping
		if m == nil {
			m = &ntconv.Mapping{}
		}
		fmt.Fprintf(&b, "\n\t%#x folded %v in %#x-%#x+%#x %q %q", f.PC, f.Flags&ntconv.FrameFolded != 0, m.Start, m.Limit, m.Offset, m.File, m.BuildID)
		for _, flag := range []ntconv.MappingFlags{ntconv.MappingHasFunctions, ntconv.MappingHasFiles, ntconv.MappingHasLines, ntconv.MappingHasInlined} {
			fmt.Fprintf(&b, " %v", m.Flags&flag != 0)
		}
		if f.Flags&ntconv.FrameUnresolved == 0 {
			fmt.Fprintf(&b, " %q %q %q:%d line %d:%d inlined %v", f.Func.Name, f.Func.SystemName, f.Func.File, f.Func.StartLine, f.Line, f.Column, f.Flags&ntconv.FrameInlined != 0)
		}
	}
	return b.String()
}

func sampleText(s *profile.Sample) string {
	var b strings.Builder
	for _, v := range s.Value {
		fmt.Fprintf(&b, "%d ", v)
	}
	var list []string
	for k, values := range s.Label {
		for _, v := range values {
			list = append(list, fmt.Sprintf("%q=%q", k, v))
		}
	}
	for k, values := range s.NumLabel {
		for i, n := range values {
			unit := ""
			if units := s.NumUnit[k]; i < len(units) {
				unit = units[i]
			}
			list = append(list, fmt.Sprintf("%q=%d%q", k, n, unit))
		}
	}
	slices.Sort(list)
	fmt.Fprintf(&b, "%v", list)
	narrow := func(n int64) int32 { // numbers that do not fit are noted
		if int64(int32(n)) != n {
			return 0
		}
		return int32(n)
	}
	for _, l := range s.Location {
		m := l.Mapping
		if m == nil {
			m = &profile.Mapping{}
		}
		place := fmt.Sprintf("\n\t%#x folded %v in %#x-%#x+%#x %q %q %v %v %v %v", l.Address, l.IsFolded, m.Start, m.Limit, m.Offset, m.File, m.BuildID,
			m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames)
		if len(l.Line) == 0 {
			b.WriteString(place)
		}
		for i, n := range l.Line {
			f := n.Function
			fmt.Fprintf(&b, "%s %q %q %q:%d line %d:%d inlined %v", place, f.Name, f.SystemName, f.Filename, narrow(f.StartLine), narrow(n.Line), narrow(n.Column), i < len(l.Line)-1)
		}
	}
	return b.String()
}

// fieldsOf splits a message into its fields, each with its tag.
func fieldsOf(data []byte) (list [][]byte) {
	for len(data) > 0 {
		_, _, n := protowire.ConsumeField(data)
		if n < 0 {
			return list
		}
		list, data = append(list, data[:n]), data[n:]
	}
	return list
}

// mutated draws a profile with fields, at the top and in messages, in another order, repeated, missing, or changed.
// These cover most errors and most unusual but valid profiles.
func mutated(t *rapid.T, data []byte) []byte {
	fields := slices.Clone(fieldsOf(data))
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		if len(fields) == 0 {
			break
		}
		i := rapid.IntRange(0, len(fields)-1).Draw(t, "field")
		j := rapid.IntRange(0, len(fields)-1).Draw(t, "other")
		switch rapid.SampledFrom([]string{"swap", "repeat", "drop", "inside", "inside", "number", "length"}).Draw(t, "change") {
		case "swap":
			fields[i], fields[j] = fields[j], fields[i]
		case "repeat":
			fields = slices.Insert(fields, j, fields[i])
		case "drop":
			fields = slices.Delete(fields, i, i+1)
		case "inside":
			if n, kind, k := protowire.ConsumeTag(fields[i]); kind == protowire.BytesType && n != 6 {
				b, _ := protowire.ConsumeBytes(fields[i][k:])
				fields[i] = message(n, mutated(t, b))
			}
		case "number":
			if n, kind, _ := protowire.ConsumeTag(fields[i]); kind == protowire.VarintType {
				fields[i] = number(n, rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64()).Draw(t, "value"))
			}
		case "length": // with redundant bytes
			if n, kind, k := protowire.ConsumeTag(fields[i]); kind == protowire.BytesType {
				b, _ := protowire.ConsumeBytes(fields[i][k:])
				size := protowire.AppendVarint(nil, uint64(len(b)))
				size[len(size)-1] |= 0x80
				fields[i] = slices.Concat(protowire.AppendTag(nil, n, kind), append(size, 0x80, 0), b)
			}
		}
	}
	return bytes.Join(fields, nil)
}

func TestLikeGoogle(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if err := generated(t).WriteUncompressed(&b); err != nil {
			t.Fatalf("%v", err)
		}
		data := mutated(t, b.Bytes())
		if p, err := profile.ParseUncompressed(data); err == nil && p.CheckValid() == nil && len(p.Sample) > 0 {
			accepted++
		}
		checkLikeGoogle(t, data)
	})
	if accepted == 0 {
		t.Error("google/pprof accepted no profile")
	}
	for _, f := range googleProfiles(t) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		checkLikeGoogle(t, raw(t, p))
	}
}

// FuzzLikeGoogle checks the same for any input.
func FuzzLikeGoogle(f *testing.F) {
	for _, data := range [][]byte{
		handmade(message(3, number(1, 1)), message(4, number(1, 1), number(2, 1), message(4, number(1, 1))), message(2, number(1, 1), number(2, 7), message(3, number(1, 1), number(3, 4)))),
		handmade(message(2, message(1), message(2, []byte{5})), number(9, 1), message(11, number(1, 1)), message(13, []byte{1, 2, 3}), number(14, 1)),
	} {
		f.Add(data)
	}
	f.Add(handmade(message(3, number(1, 1)), message(4, number(1, 1)), message(2, number(1, 1), number(2, 7), message(3, number(1, 5), number(3, 4))), message(6, []byte("\x11\xea\xea"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) { // compressed
			return
		}
		checkLikeGoogle(t, data)
	})
}
