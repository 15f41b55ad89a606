package otlp_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	sending "github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/ntconvtest"
)

// samplesOf returns the samples of a source as text: sample type, time, thread, labels, frames and value.
func samplesOf(src ntconv.Source, err error) (list []string, _ error) {
	if err != nil {
		return nil, err
	}
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			return list, err
		}
		if e.Kind != ntconv.KindEvent || imported.ColumnsOf(e.Type) == nil {
			continue
		}
		text := fmt.Sprint(imported.ColumnsOf(e.Type).Types, e.Time, e.Thread.TID, e.Labels.List())
		if e.Stack != nil {
			for _, f := range e.Stack.Frames {
				text += fmt.Sprintf(" %s:%d", f.Func.Name, f.Line)
			}
		}
		for name, v := range e.Fields() {
			if name.Name != "Value" {
				text += fmt.Sprint(" = ", v.Int())
			}
		}
		list = append(list, text)
	}
	return list, nil
}

// TestProfiles reads profiles in all forms: the same samples.
func TestProfiles(t *testing.T) {
	input, err := os.ReadFile("testdata/cpu-v6.profiles.binpb")
	if err != nil {
		t.Fatal(err)
	}
	want, err := samplesOf(otlp.New(bytes.NewReader(input), nil))
	if err != nil || len(want) != 118 || !strings.Contains(want[0], "samples count") {
		t.Fatalf("%d samples, %v", len(want), err)
	}
	text := sending.AppendJSON(nil, sending.Profiles, input)
	for name, in := range map[string][]byte{
		"delimited": delimited(input), "varint": varintDelimited(input), "JSON": text, "JSON array": slices.Concat([]byte("["), text, []byte("]")),
		"snake case": bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"nameStrindex"`), []byte(`"name_strindex"`)), []byte("stackTable"), []byte("stack_table")),
	} {
		var report ntconv.Report
		got, err := samplesOf(otlp.New(bytes.NewReader(in), &otlp.Options{Report: &report}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d samples, %v, want %d", name, len(got), err, len(want))
		}
		wantClean(t, &report)
	}
	for name, in := range map[string][]byte{"delimited": delimited(input, input), "JSON": slices.Concat(text, []byte("\n"), text)} {
		if got, err := samplesOf(otlp.New(bytes.NewReader(in), nil)); err != nil || len(got) != 2*len(want) {
			t.Errorf("%s: %d samples of two messages, %v", name, len(got), err)
		}
	}
	if _, err := samplesOf(otlp.New(bytes.NewReader(input[:len(input)/2]), nil)); !errors.Is(err, ntconv.ErrTruncated) {
		t.Errorf("truncated: %v", err)
	}
}

// number is a field with a number.
func number(field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), n)
}

// fixed is a field with a number of 8 bytes.
func fixed(field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), n)
}

// TestProfileDefects reads profiles whose messages refer to what does not exist.
func TestProfileDefects(t *testing.T) {
	head := slices.Concat(bytesField(1, slices.Concat(number(1, 1), number(2, 2))), fixed(3, 1e18), number(4, 1000))
	dict := bytesField(2, slices.Concat(
		bytesField(5, nil), bytesField(5, []byte("cpu")), bytesField(5, []byte("count")), bytesField(5, []byte("Main")),
		bytesField(3, nil), bytesField(3, number(1, 3)), bytesField(2, nil), bytesField(2, slices.Concat(number(2, 7), bytesField(3, number(1, 1)))),
		bytesField(7, nil), bytesField(7, bytesField(1, []byte{1})), bytesField(7, bytesField(1, []byte{9})),
		bytesField(6, nil), bytesField(6, slices.Concat(number(1, 2), bytesField(2, number(3, 5)))), bytesField(6, slices.Concat(number(1, 2), bytesField(2, number(2, 1)))),
	))
	const start = "[{cpu count}] 1000000000000000000"
	for _, tt := range []struct {
		name   string
		sample []byte
		dict   []byte
		want   []string
		code   ntconv.Code
	}{
		{"valid", slices.Concat(number(1, 1), bytesField(2, []byte{1}), number(4, 3)), dict, []string{start + " 0 [{int count   5 [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]}] Main:0 = 3"}, 0},
		{"times", slices.Concat(number(1, 1), bytesField(5, fixed(1, 2e18)[1:]), bytesField(4, []byte{4})), dict, []string{"[{cpu count}] 2000000000000000000 0 [] Main:0 = 4"}, 0},
		{"times without values", slices.Concat(number(1, 1), bytesField(5, slices.Concat(fixed(1, 2e18)[1:], fixed(1, 2e18)[1:]))), dict,
			[]string{"[{cpu count}] 2000000000000000000 0 [] Main:0 = 1", "[{cpu count}] 2000000000000000000 0 [] Main:0 = 1"}, 0},
		{"stack", slices.Concat(number(1, 17), number(4, 3)), dict, []string{start + " 0 [] = 3"}, ntconv.CodeRepaired},
		{"location", slices.Concat(number(1, 2), number(4, 3)), dict, []string{start + " 0 [] = 3"}, ntconv.CodeRepaired},
		{"link", slices.Concat(number(3, 2), number(4, 3)), dict, []string{start + " 0 [] = 3"}, ntconv.CodeRepaired},
		{"attribute", slices.Concat(bytesField(2, []byte{99}), number(4, 3)), dict, []string{start + " 0 [] = 3"}, ntconv.CodeRepaired},
		{"bool", slices.Concat(bytesField(2, []byte{2}), number(4, 3)), dict, []string{start + " 0 [{string count true  0 [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]}] = 3"}, ntconv.CodeNotCarried},
		{"no values", number(1, 1), dict, nil, ntconv.CodeRowSkipped},
		{"no dictionary", slices.Concat(number(1, 1), number(4, 3)), nil, []string{"[{ }] 1000000000000000000 0 [] = 3"}, ntconv.CodeRepaired},
		{"corrupt sample", []byte{0x08}, dict, nil, ntconv.CodeRowSkipped},
	} {
		for _, first := range []bool{false, true} { // the dictionary
			input := slices.Concat(profile(head, bytesField(2, tt.sample)), tt.dict)
			if first {
				input = slices.Concat(tt.dict, profile(head, bytesField(2, tt.sample)))
			}
			var report ntconv.Report
			got, err := samplesOf(otlp.New(bytes.NewReader(input), &otlp.Options{Report: &report}))
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], fmt.Sprint(ntconv.TIDUnknown), "0")
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
			}
			if tt.code == 0 {
				wantClean(t, &report)
			} else if report.Count(tt.code) == 0 {
				t.Errorf("%s: no %v in %v", tt.name, tt.code, report.Entries())
			}
		}
	}
}

// TestDictionaryLimit reads a dictionary whose rows need more memory than its limit.
func TestDictionaryLimit(t *testing.T) {
	rows := bytes.Repeat(bytesField(6, nil), 5000) // attributes without contents
	input := slices.Concat(profile(fixed(3, 1), number(4, 1)), bytesField(2, rows))
	_, err := samplesOf(otlp.New(bytes.NewReader(input), &otlp.Options{Limits: otlp.Limits{Dictionary: 1 << 20}}))
	var limit *ntconv.LimitError
	if !errors.As(err, &limit) || limit.Limit != otlp.LimitDictionary {
		t.Errorf("%v, want a limit error", err)
	}
}
