package logs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// records returns the records of a trace, one line each.
func records(t *testing.T, data []byte, o *logs.Options) (lines []string) {
	t.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	r := logs.NewReader(src.Info(), func(rec *logs.Record) { lines = append(lines, line(rec)) }, o)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		r.Add(e)
	}
	r.Finish()
	return lines
}

func line(r *logs.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s [%s] %q", r.Severity, r.SeverityText, r.Scope.Name, r.Body.Str())
	if r.EventName != "" {
		fmt.Fprintf(&b, " name=%s", r.EventName)
	}
	for _, a := range r.Attributes {
		fmt.Fprintf(&b, " %s=%q", a.Key, a.Value.AppendText(nil))
		if a.Value.Kind() != span.ValueString {
			fmt.Fprintf(&b, "(%d)", a.Value.Kind())
		}
	}
	return b.String()
}

// recorded returns the records of a recording, and what its program wrote about them.
func recorded(t *testing.T, name string) ([]string, truth) {
	t.Helper()
	var want truth
	data, err := os.ReadFile(corpus.Shared(t, "data", "own", name+".truth.json"))
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	return records(t, corpus.SharedTrace(t, "own/"+name).Data, nil), want
}

type truth struct {
	Messages  map[string]int
	Templates []string
	Category  string
	Scopes    int
}

// TestTruth compares the records of three recordings of one program, with all three forms of each message, with the
// text only, and with JSON only, with what the program wrote.
func TestTruth(t *testing.T) {
	for name, levels := range map[string][]string{
		"logging":           {"Debug", "Information", "Warning", "Error", "Critical"},
		"logging-formatted": {"Warning", "Error", "Critical"},
		"logging-json":      {"Information", "Warning", "Error", "Critical"},
	} {
		got, want := recorded(t, name)
		counts := map[string]int{}
		for _, l := range got {
			_, rest, _ := strings.Cut(l, " ")
			level, rest, _ := strings.Cut(rest, " ")
			counts[level]++
			if !strings.HasPrefix(rest, "["+want.Category+"] ") {
				t.Errorf("%s: %s", name, l)
			}
		}
		for _, level := range levels {
			if n := want.Messages[level]; counts[level] != n || n == 0 {
				t.Errorf("%s: %d messages of level %s, want %d", name, counts[level], level, n)
			}
			delete(counts, level)
		}
		if len(counts) > 0 {
			t.Errorf("%s: %v", name, counts)
		}
		if name == "logging" {
			for _, template := range want.Templates {
				if template != "trace" && !strings.Contains(strings.Join(got, "\n"), fmt.Sprintf("{OriginalFormat}=%q", template)) {
					t.Errorf("no message with the template %q", template)
				}
			}
		}
	}
}

// TestForms checks that a message is the same record in each form that has all of it, and that scopes and exceptions are
// in it.
func TestForms(t *testing.T) {
	all, _ := recorded(t, "logging")
	text, _ := recorded(t, "logging-formatted")
	inJSON, _ := recorded(t, "logging-json")
	want := []string{
		`9 Information [Shop.Till] "Sold 0 of apples, red at 1.50" Count="0" Item="apples, red" Price="1.5" {OriginalFormat}="Sold {Count} of {Item} at {Price:F2}" OrderId="0" Customer="Ann \"A\" 😀"`,
		`13 Warning [Shop.Till] "Low stock" name=LowStock logrecord.event.id="42"(4) {OriginalFormat}="Low stock" OrderId="0" Customer="Ann \"A\" 😀"`,
		`17 Error [Shop.Till] "Failed 0" Id="0" {OriginalFormat}="Failed {Id}" exception.type="System.InvalidOperationException" exception.message="no till" ` +
			`exception.stacktrace="System.InvalidOperationException: no till\n ---> System.FormatException: inner\n   --- End of inner exception stack trace ---" OrderId="0" Customer="Ann \"A\" 😀"`,
		`9 Information [Shop.Till] "Order 0 took 00:00:01.5000000" name=OrderDone logrecord.event.id="7"(4) Id="0" Took="00:00:01.5000000" {OriginalFormat}="Order {Id} took {Took}"`,
		`5 Debug [Shop.Till] "debug (null)" Null=""(1) {OriginalFormat}="debug {Null}"`,
		`21 Critical [Shop.Till] "critical" {OriginalFormat}="critical"`,
	}
	if got := all[:6]; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := slices.Delete(slices.Clone(want), 4, 5); !slices.Equal(inJSON, want) {
		t.Errorf("JSON: got\n%s\nwant\n%s", strings.Join(inJSON, "\n"), strings.Join(want, "\n"))
	}
	if got, want := text[1], `17 Error [Shop.Till] "Failed 0" OrderId="0" Customer="Ann \"A\" 😀"`; got != want {
		t.Errorf("text: got %s\nwant %s", got, want)
	}
}

// TestWithoutText checks that a message that was recorded with its arguments only has the text that the program's
// formatter made, except for formats.
func TestWithoutText(t *testing.T) {
	src, err := reader.NewBytes(corpus.SharedTrace(t, "own/logging").Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	r := logs.NewReader(src.Info(), func(rec *logs.Record) { got = append(got, rec.Body.Str()) }, nil)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent && e.Type.Name == "Message" {
			r.Add(e)
		}
	}
	r.Finish()
	want := []string{"Sold 0 of apples, red at 1.5", "Low stock", "Failed 0", "Order 0 took 00:00:01.5000000", "debug ", "critical"}
	if !slices.Equal(got[:6], want) {
		t.Errorf("%q, want %q", got[:6], want)
	}
}

// TestOtherProviders checks that the events of a chosen event source are records with its levels and fields.
func TestOtherProviders(t *testing.T) {
	got := records(t, corpus.SharedTrace(t, "own/sources").Data, &logs.Options{Select: func(p string) bool { return p == "Shop-Manifest" }})
	text := strings.Join(got, "\n")
	for _, want := range []string{
		`21 Critical [Shop-Manifest] "AtCritical" name=AtCritical n="1"(4)`, `17 Error [Shop-Manifest] "AtError" name=AtError n="2"(4)`,
		`5 Verbose [Shop-Manifest] "AtVerbose" name=AtVerbose n="5"(4)`, `9 LogAlways [Shop-Manifest] "AtLogAlways" name=AtLogAlways n="0"(4)`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no record %s", want)
		}
	}
	if len(records(t, corpus.SharedTrace(t, "own/sources").Data, nil)) != 0 {
		t.Error("records of providers that are not chosen")
	}
}

// TestAllocations checks that messages do not allocate once their texts are known.
func TestAllocations(t *testing.T) {
	src, err := reader.NewBytes(corpus.SharedTrace(t, "own/logging").Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ntconvtest.Record(src)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Type.Name != "FormattedMessage" })
	n := 0
	allocs := 1.0
	for try := 0; try < 5 && allocs > 0; try++ { // two texts may share a place of the reader's cache; the runtime allocates, too
		r := logs.NewReader(src.Info(), func(*logs.Record) { n++ }, nil)
		allocs = testing.AllocsPerRun(100, func() {
			for _, e := range all {
				r.Add(e)
			}
		})
	}
	if allocs > 0 || n == 0 {
		t.Errorf("%v allocations for %d messages", allocs, len(all))
	}
}
