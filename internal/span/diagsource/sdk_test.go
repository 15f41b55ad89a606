package diagsource_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

var update = flag.Bool("update", false, "write ../../../docs/otlp-differences.md")

const document = "../../../docs/otlp-differences.md"

// stored lists the recordings in testdata, so that the comparison needs no other data.
var stored = []string{"otel-spans-both", "otel-spans-events", "otel-web-stop"}

// recordings lists the recordings whose spans were exported twice: through EventPipe, and as OTLP.
var recordings = []string{
	"otel-cpu", "otel-spans-both", "otel-spans-events", "otel-spans-implicit", "otel-spans-stop", "otel-web-stop", "otel-web-tags",
}

// load compares a recording with the spans that the SDK sent. It returns false if the recording is absent.
func load(t *testing.T, name string, o diagsource.Options) (*comparison, []sent, bool) {
	t.Helper()
	trace, requests := filepath.Join("testdata", name+".nettrace.zst"), filepath.Join("testdata", name+".otlp.binpb.zst")
	if !slices.Contains(stored, name) {
		var err error
		if trace, err = corpus.Find("data", "otel", name+".nettrace.zst"); err != nil {
			return nil, nil, false
		}
		requests = strings.TrimSuffix(trace, ".nettrace.zst") + ".otlp.binpb"
	}
	c := &comparison{recording: name, text: decode(t, corpus.Read(t, trace), o), omitted: make(map[span.ID]bool)}
	for _, s := range c.text.spans {
		c.omitted[s.Context.ID] = true
	}
	filter := diagsource.NewExportFilter(func(s *span.Span) { delete(c.omitted, s.Context.ID) })
	for _, s := range c.text.spans {
		filter.Add(s)
	}
	filter.Finish()
	if int(filter.Omitted()) != len(c.omitted) {
		t.Errorf("%s: the filter counts %d omitted spans, want %d", name, filter.Omitted(), len(c.omitted))
	}
	return c, readSent(t, corpus.Read(t, requests)), true
}

// row is a line of the document: differences of one field with one reason.
type row struct{ recording, field, reason string }

// count adds the differences of a recording to a table, and fails the test for those that no rule explains.
func count(t *testing.T, c *comparison, table map[row]int) {
	t.Helper()
	for i := range c.differences {
		d := &c.differences[i]
		j := slices.IndexFunc(rules, func(r rule) bool { return r.explains(c, d) })
		if j < 0 {
			t.Errorf("%s: %s of %s is %q, and the SDK sent %q: no rule explains this", c.recording, d.field, name(d), clip(d.ours), clip(d.theirs))
			continue
		}
		table[row{c.recording, d.field, rules[j].name}]++
	}
}

func name(d *difference) string {
	if d.us != nil {
		return fmt.Sprintf("span %q", d.us.Name)
	}
	return fmt.Sprintf("span %q of the SDK", d.them.Name)
}

func clip(s string) string { return s[:min(len(s), 200)] }

// TestSDK compares the spans of every recording with those that the program's own SDK sent, field by field. Every
// difference has a reason, and the document lists them all.
func TestSDK(t *testing.T) {
	var tables [2]map[row]int // attributes as text, and by convention
	var agreeing []string
	for i := range tables {
		tables[i] = make(map[row]int)
		for _, name := range recordings {
			c, theirs, ok := load(t, name, diagsource.Options{Convention: i == 1})
			if !ok {
				continue
			}
			if len(theirs) == 0 || c.text.counts != (diagsource.Counts{}) {
				t.Errorf("%s: the SDK sent %d spans; the trace has %+v", name, len(theirs), c.text.counts)
			}
			c.compare(theirs)
			c.order(theirs)
			count(t, c, tables[i])
			if i == 0 {
				agreeing = append(agreeing, fmt.Sprintf("| %s | %d | %d | %d | %d |\n", name, len(c.text.spans), len(theirs), c.fields, len(c.differences)))
			}
		}
	}
	checkDocument(t, tables, agreeing)
}

// checkDocument compares the tables with the document, row by row because recordings may be absent.
func checkDocument(t *testing.T, tables [2]map[row]int, agreeing []string) {
	t.Helper()
	keys := maps.Clone(tables[0])
	maps.Copy(keys, tables[1])
	order := slices.SortedFunc(maps.Keys(keys), func(a, b row) int {
		return cmp.Or(strings.Compare(a.recording, b.recording), strings.Compare(a.field, b.field), strings.Compare(a.reason, b.reason))
	})
	var rows []string
	for _, r := range order {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %d | %d |\n", r.recording, r.field, r.reason, tables[0][r], tables[1][r]))
	}
	fresh := documentOf(agreeing, rows)
	if *update {
		if len(agreeing) < len(recordings) {
			t.Fatalf("cannot write %s: only %d of %d recordings are there", document, len(agreeing), len(recordings))
		}
		if err := os.WriteFile(document, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const advice = "go test ./internal/span/diagsource -run TestSDK -update"
	if len(agreeing) == len(recordings) && fresh != string(b) {
		t.Errorf("%s is out of date: run %s", document, advice)
	}
	for _, line := range append(rows, agreeing...) {
		if !strings.Contains(string(b), line) {
			t.Errorf("%s lacks the row %q: run %s", document, line, advice)
		}
	}
	for _, line := range strings.SplitAfter(string(b), "\n") {
		recording, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if slices.Contains(stored, recording) && !slices.Contains(rows, line) && !slices.Contains(agreeing, line) {
			t.Errorf("%s has the row %q, which is not true any more: run %s", document, line, advice)
		}
	}
}

// order compares the order of the spans in each scope of a request.
func (c *comparison) order(theirs []sent) {
	position := make(map[span.ID]int)
	for i, s := range c.text.spans {
		position[s.Context.ID] = i
	}
	for i := 1; i < len(theirs); i++ {
		before, after := position[span.ID(theirs[i-1].SpanId)], position[span.ID(theirs[i].SpanId)]
		if theirs[i-1].scope != theirs[i].scope || before <= after {
			continue
		}
		one, other := c.text.spans[before], c.text.spans[after]
		c.differences = append(c.differences, difference{
			field: "order", ours: fmt.Sprint("thread ", other.EndThread.TID), theirs: fmt.Sprint("thread ", one.EndThread.TID), us: other, them: &theirs[i],
		})
	}
}

// documentOf returns the document with its rows.
func documentOf(agreeing, rows []string) string {
	var b strings.Builder
	b.WriteString(`# Spans of a trace and spans of the SDK

<!-- Generated: go test ./internal/span/diagsource -run TestSDK -update -->

Each recording is one run of a program whose spans were exported twice: through EventPipe to a trace, and through the
OpenTelemetry SDK for .NET 1.20.1 as OTLP. A test decodes both, matches the spans by ID and compares every field. This
page lists all differences. All other fields are equal: IDs, parents, names, kinds, times to the tick, status, trace
state, flags, attributes, events, links and scopes.

| recording | spans of the trace | spans of the SDK | fields compared | differences |
|---|---:|---:|---:|---:|
`)
	b.WriteString(strings.Join(agreeing, ""))
	b.WriteString(`
The resource is not compared. A trace contains the process, its command line, operating system and architecture. All
other parts of the SDK's resource come from the program's configuration.

## Reasons

| reason | explanation |
|---|---|
`)
	for _, r := range rules {
		fmt.Fprintf(&b, "| %s | %s |\n", r.name, r.why)
	}
	b.WriteString(`
## Differences

The two numbers count differences with ` + "`--attributes text` and with `--attributes convention`" + `.

| recording | field | reason | text | convention |
|---|---|---|---:|---:|
`)
	b.WriteString(strings.Join(rows, ""))
	return b.String()
}
