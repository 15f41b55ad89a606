package chrome_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/ntconvtest"
)

// FuzzChrome checks that the events of any input arrive in time order and satisfy the contract of Event, that an error
// wraps one of the sentinels and is returned again, and that a valid JSON array or object that is not nested too deep
// yields no error.
func FuzzChrome(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := chrome.New(bytes.NewReader(text), &chrome.Options{Limits: chrome.Limits{Value: 1 << 20, Stack: 100, Names: 10_000}, Report: &ntconv.Report{}})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		poisoned := ntconvtest.Poison(src)
		dec := chromeevent.NewDecoder(nil)
		var last ntconv.Ticks
		n := 0
		for ; ; n++ {
			e, err := poisoned.Next()
			if err != nil {
				checkError(t, text, src, err)
				return
			}
			if e.Kind != ntconv.KindEvent {
				continue
			}
			if e.Type == nil || e.Thread == nil || e.Capture == nil || n > 0 && e.Time < last {
				t.Fatalf("event %d at %d after %d: %+v", n, e.Time, last, e)
			}
			last = e.Time
			for field, v := range e.Fields() {
				if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
					t.Fatalf("%s: field %s: %v", describe(e), field.Name, v.Err())
				}
			}
			if _, ok := chromeevent.Of(e.Type); ok {
				if c, ok := dec.Decode(e); ok {
					if text := chromeevent.AppendJSON(nil, c); !json.Valid(text) {
						t.Fatalf("%s is not JSON", text)
					}
				}
			}
		}
	})
}

func checkError(t *testing.T, text []byte, src ntconv.Source, err error) {
	if _, again := src.Next(); again != err {
		t.Fatalf("%v, then %v", err, again)
	}
	switch {
	case err == io.EOF, errors.Is(err, ntconv.ErrLimit):
	case errors.Is(err, ntconv.ErrCorrupt), errors.Is(err, ntconv.ErrTruncated), errors.Is(err, ntconv.ErrFormat):
		if c := bytes.TrimLeft(text, " \t\r\n"); json.Valid(text) && (c[0] == '[' || c[0] == '{') {
			t.Fatalf("%q: %v", text, err)
		}
	default:
		t.Fatal(err)
	}
}
