package command

import (
	"bytes"
	"encoding/binary"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// Activities state their times as dates, so their spans have dates even if the trace has none. Those of event sources
// have not.
func TestUndatedActivities(t *testing.T) {
	dir := t.TempDir()
	for name, says := range map[string]bool{"spans-stop": false, "activities": true} {
		write(t, dir, name, undated(t, corpus.Trace(t, name).Data))
		if r := succeed(t, dir, "info", name); !strings.Contains(r.stdout, "at an unknown time") {
			t.Error(r.stdout)
		}
		r := succeed(t, dir, "to", "otlp", name, "-o", name+".jsonl")
		if strings.Contains(r.stderr, "without a date") != says {
			t.Errorf("%s: %s", name, r.stderr)
		}
		for _, at := range regexp.MustCompile(`"startTimeUnixNano":"(\d+)"`).FindAllSubmatch(contentAt(t, dir+"/"+name+".jsonl"), -1) {
			if in1970 := len(at[1]) < len("1700000000000000000"); in1970 != says {
				t.Errorf("%s: a span begins at %s", name, at[1])
			}
		}
	}
}

// undated returns a nettrace file with the date that means an unknown one: 1601-01-02, as a SYSTEMTIME of Windows.
func undated(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := reader.New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	w := r.Info().Clock.Wall
	var date []byte
	for _, n := range []int{w.Year(), int(w.Month()), int(w.Weekday()), w.Day(), w.Hour(), w.Minute(), w.Second(), w.Nanosecond() / 1e6} {
		date = binary.LittleEndian.AppendUint16(date, uint16(n))
	}
	if bytes.Count(data, date) != 1 {
		t.Fatalf("the date %v is not in the file", w)
	}
	return bytes.Replace(data, date, []byte{0x41, 6, 1, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1)
}

// A trace without a date stays undated through every format that can hold its events. Only OTLP has to state dates,
// and the summary reports it. --start-time dates the trace.
func TestUndated(t *testing.T) {
	dir := t.TempDir()
	const unknown = "recorded  at an unknown time\n"
	write(t, dir, "x.json", []byte(`[{"ph":"X","pid":1,"tid":2,"ts":9000000.25,"dur":1000000,"name":"f"},{"ph":"X","pid":1,"tid":2,"ts":9500000.25,"dur":7.5,"name":"g"}]`))
	for _, name := range []string{"x.nettrace", "x.firefox.json", "x.jsonl", "again.json", "x"} {
		format := map[string]string{
			"x.nettrace": "nettrace", "x.firefox.json": "firefox", "x.jsonl": "otlp", "again.json": "chrome", "x": "parquet",
		}[name]
		r := succeed(t, dir, "to", format, "x.json", "-o", name)
		if says := strings.Contains(r.stderr, "; 2 without a date, so their times count from 1970-01-01; set --start-time"); says != (format == "otlp") {
			t.Errorf("%s: %s", name, r.stderr)
		}
		if r := succeed(t, dir, "info", name); !strings.Contains(r.stdout, unknown) {
			t.Errorf("%s: %s", name, r.stdout)
		}
		r = succeed(t, dir, "info", "--start-time", "2026-11-21T06:52:53.0005Z", name)
		if !strings.Contains(r.stdout, "recorded  2026-11-21 06:52:53.000 UTC\n") {
			t.Errorf("%s: %s", name, r.stdout)
		}
	}
	succeed(t, dir, "to", "nettrace", "--start-time", "1795243973.0005", "x.json", "-o", "dated.nettrace")
	r := succeed(t, dir, "to", "otlp", "--start-time", "1", "dated.nettrace", "-o", "dated.jsonl")
	if strings.Contains(r.stderr, "1970") || !strings.Contains(r.stderr, "; --start-time has no effect: dated.nettrace states when it began\n") {
		t.Error(r.stderr)
	}
	spans := string(contentAt(t, dir+"/dated.jsonl"))
	for _, want := range []string{`"startTimeUnixNano":"1795243973000500000","endTimeUnixNano":"1795243974000500000"`, `"endTimeUnixNano":"1795243973500507500"`} {
		if !strings.Contains(spans, want) {
			t.Errorf("%s is not in %s", want, spans)
		}
	}
	for _, bad := range []string{"yesterday", "1.", "-1", "1.0000000001", "9999999999999", "1500-01-01T00:00:00Z", ""} {
		if r := invoke(t, dir, nil, "info", "--start-time", bad, "x.json"); r.code != exitUsage || !strings.Contains(r.stderr, "--start-time") {
			t.Errorf("%q: code %d: %s", bad, r.code, r.stderr)
		}
	}
}
