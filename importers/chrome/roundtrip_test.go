package chrome_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// canonical returns an event as it must be after a round-trip: JSON with sorted names, numbers as fractions, times
// rounded to nanoseconds, and without its stack.
func canonical(t testing.TB, text []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	round := func(r *big.Rat) *big.Rat {
		r = new(big.Rat).Add(r, big.NewRat(1, 2)) // a half is rounded up
		q, mod := new(big.Int), new(big.Int)
		return new(big.Rat).SetInt(first(q.DivMod(r.Num(), r.Denom(), mod)))
	}
	nanos := func(name string) *big.Rat {
		r, ok := new(big.Rat).SetString(fmt.Sprint(m[name]))
		if !ok {
			return new(big.Rat)
		}
		return r.Mul(r, big.NewRat(1000, 1))
	}
	for begin, length := range map[string]string{"ts": "dur", "tts": "tdur"} {
		at, dur := nanos(begin), nanos(length)
		if _, ok := m[length]; ok {
			m[length] = new(big.Rat).Sub(round(new(big.Rat).Add(at, dur)), round(at)).String()
		}
		if _, ok := m[begin]; ok {
			m[begin] = round(at).String()
		}
	}
	for _, id := range []string{"pid", "tid"} {
		if s, ok := m[id].(string); ok {
			if n, err := strconv.ParseUint(s, 10, 63); err == nil {
				m[id] = json.Number(fmt.Sprint(n))
			}
		}
	}
	for _, stack := range []string{"sf", "stack"} {
		if fmt.Sprint(m[stack]) != "99" { // which has no frame
			delete(m, stack)
		}
	}
	out, err := json.Marshal(fractions(m))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func first(a, _ *big.Int) *big.Int { return a }

// fractions replaces numbers by fractions, so that 1.0 equals 1 and all other numbers differ.
func fractions(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return "number " + r.String()
	case []any:
		for i := range v {
			v[i] = fractions(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = fractions(v[k])
		}
	}
	return v
}

// listed returns the events of a file in canonical form, without those that hold profiles and without elements that are
// not events.
func listed(t testing.TB, text []byte) (list []string) {
	t.Helper()
	var events []json.RawMessage
	text = bytes.TrimRight(text, ", \n")
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var f struct{ TraceEvents []json.RawMessage }
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		events = f.TraceEvents
	} else {
		text = append(bytes.TrimRight(bytes.TrimRight(text, "]"), ", \n"), ']')
		if err := json.Unmarshal(text, &events); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		if len(e) < 3 || e[0] != '{' || bytes.Contains(e, []byte(`"cpuProfile"`)) || bytes.Contains(e, []byte(`"id":"0x1","pid":10,"tid":11,"ts":1000,`)) {
			continue
		}
		list = append(list, canonical(t, e))
	}
	slices.Sort(list)
	return list
}

// throughNettrace imports a file, writes it as nettrace, reads that with the strict reader, and returns its Chrome
// events in canonical form.
func throughNettrace(t testing.TB, text []byte) (list []string) {
	t.Helper()
	src, err := chrome.New(bytes.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), &writer.Options{Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ntconv.Copy(symbol.SynthesizeTo(w, nil), src); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.New(&file, &reader.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	report := &ntconv.Report{}
	dec := chromeevent.NewDecoder(report)
	for e, err := range ntconv.Events(r) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := chromeevent.Of(e.Type); !ok {
			continue
		}
		if c, ok := dec.Decode(e); ok && !c.TopLevel {
			// The member ts of an event that has none is the time at which it was delivered.
			list = append(list, canonical(t, chromeevent.AppendJSON(nil, c)))
		}
	}
	if len(report.Entries()) > 0 {
		t.Error(report.Entries())
	}
	slices.Sort(list)
	return list
}

// TestRoundTrip checks that Chrome -> source -> nettrace -> Chrome preserves every event.
func TestRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	check := func(name string, text []byte) {
		got, want := throughNettrace(t, text), listed(t, text)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: %d events, want %d; the first difference is at %d:\n%.3000s\nwant\n%.3000s", name, len(got), len(want), i,
					strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
				return
			}
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		check(name, text)
	}
	check("generated", generated(5000))
	check("large", []byte(`[{"ph":"X","name":"a","cat":"c","ts":1,"dur":2,"args":{"s":"`+strings.Repeat("xyz€", 100_000)+`"}},{"ph":"i","ts":3}]`))
}
