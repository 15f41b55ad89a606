package pprof_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

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
	if len(want.Sample) == 0 {
		want.Mapping = nil // no location refers to them
	}
	if comesBack(want) {
		if got, want := canon(exported(t, src, nil, new(ntconv.Report)).Compact()), canon(want.Compact()); got != want {
			t.Fatalf("%s", difference(got, want))
		}
	}
}

// comesBack reports whether a profile has nothing that is known not to round-trip.
func comesBack(p *profile.Profile) bool {
	var b bytes.Buffer
	if len(p.SampleType) == 0 { // it says nothing
		return false
	}
	if p.WriteUncompressed(&b) != nil || b.Len() > 32<<10 || !isUTF8(p) {
		return false
	}
	for _, l := range p.Location {
		for _, n := range l.Line {
			if int64(int32(n.Line)) != n.Line || int64(int32(n.Column)) != n.Column || int64(int32(n.Function.StartLine)) != n.Function.StartLine {
				return false
			}
		}
	}
	sums := make([]float64, len(p.SampleType))
	for _, s := range p.Sample { // what is gone when pprof's library writes it
		for i, v := range s.Value {
			if sums[i] += math.Abs(float64(v)); sums[i] >= math.MaxInt64 { // a sum stays at the largest value, that of Compact overflows
				return false
			}
		}
		for _, list := range s.Label {
			if slices.Contains(list, "") {
				return false
			}
		}
		for key, list := range s.NumLabel {
			for i, n := range list {
				if units := s.NumUnit[key]; n == 0 && (len(units) <= i || units[i] == "") {
					return false
				}
			}
		}
	}
	return true
}

func isUTF8(p *profile.Profile) bool {
	return strings.ToValidUTF8(canon(p), "") == canon(p) && !strings.Contains(canon(p), `\x`)
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
