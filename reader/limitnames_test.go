package reader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// TestLimitNames checks that every member of Limits causes either an error with the constant named after the member, or
// no error.
func TestLimitNames(t *testing.T) {
	limits := map[string]struct {
		name  string // empty: no error
		shape string
	}{
		"BlockBytes":   {LimitBlockBytes, "no-barrier"},
		"Types":        {LimitTypes, "types"},
		"Fields":       {LimitFields, "fields"},
		"FieldDepth":   {LimitFieldDepth, "nested-100"},
		"Name":         {LimitName, "types"},
		"Threads":      {LimitThreads, "threads"},
		"LabelLists":   {LimitLabelLists, "labels"},
		"StackDepth":   {"", "stacks"},
		"TableBytes":   {LimitTableBytes, "types"},
		"WindowEvents": {"", "no-barrier"},
		"WindowBytes":  {"", "no-barrier"},
	}
	used := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		want, known := limits[f.Name]
		if !known {
			t.Errorf("no case for Limits.%s", f.Name)
			continue
		}
		if want.name != "" && used[want.name] {
			t.Errorf("two limits are named %q", want.name)
		}
		used[want.name] = true
		var o Options
		reflect.ValueOf(&o.Limits).Elem().FieldByIndex(f.Index).SetInt(2)
		_, err := count(shape(t, want.shape, 5000), &o)
		var l *ntconv.LimitError
		switch {
		case want.name == "" && err != nil:
			t.Errorf("Limits.%s = 2: %v", f.Name, err)
		case want.name != "" && (!errors.As(err, &l) || l.Limit != want.name || l.Value != 2 || l.Asked < 3 || !errors.Is(err, ntconv.ErrLimit)):
			t.Errorf("Limits.%s = 2: %v, want %q", f.Name, err, want.name)
		}
	}
}

// TestCompressionLimit checks that exceeding a limit of decompression is the same kind of error.
func TestCompressionLimit(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	s := wirestream.New(z, wire.V6)
	for range 6 {
		s.Block(77, make([]byte, 15<<20))
	}
	s.End()
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := count(b.Bytes(), nil)
	var l *ntconv.LimitError
	if !errors.As(err, &l) || l.Limit != LimitRatio || l.Value != 200 || l.Asked <= 200 || l.Asked > 1032 {
		t.Errorf("%v", err)
	}
	for _, d := range []ntconv.DecompressionLimits{{Ratio: 2000}, {Ratio: -1}, {Ratio: 2000, Bytes: 91 << 20}} {
		if _, err = count(b.Bytes(), &Options{Decompression: d}); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	}
	_, err = count(b.Bytes(), &Options{Decompression: ntconv.DecompressionLimits{Bytes: 1 << 20}})
	if !errors.As(err, &l) || l.Limit != LimitOutput || l.Value != 1<<20 || l.Asked <= 1<<20 {
		t.Errorf("at most 1 MiB: %v", err)
	}
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x81, 1, 0, 0}
	_, err = count(window, &Options{Decompression: ntconv.DecompressionLimits{Window: 1 << 20}})
	if !errors.As(err, &l) || l.Limit != LimitWindow || l.Value != 1<<20 {
		t.Errorf("a window of at most 1 MiB: %v", err)
	}
	_, err = count([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x89, 1, 0, 0}, nil) // a frame header with a window of 144 MiB
	if want := (ntconv.LimitError{Limit: LimitWindow, Value: 128 << 20, Asked: 144 << 20, Unit: "bytes"}); !exceeds(err, want) {
		t.Errorf("%v, want %+v", err, want)
	}
}
