package otlp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// If a recorder was killed while it wrote a line, and appended to the file later, at most that line and the next one
// are lost. The loss is counted, and all other spans are read.
func TestDamagedLine(t *testing.T) {
	var lines []string
	for i := range 6 {
		s := validSpan(fmt.Sprint(i))
		s.TraceState = `a="{"resourceSpans":` // escaped in JSON, so that it is not mistaken for an object
		lines = append(lines, strings.TrimSpace(string(spangen.JSON(oneScope(s), spangen.Style{})))+"\n")
	}
	for _, newline := range []string{"\n", ""} {
		for cut := 1; cut < len(lines[2])-2; cut++ {
			input := lines[0] + lines[1] + lines[2][:cut] + newline + strings.Join(lines[3:], "")
			var report ntconv.Report
			got, err := read(strings.NewReader(input), &otlp.Options{Report: &report})
			var names strings.Builder
			for _, s := range got {
				names.WriteString(s.Name)
			}
			if n := names.String(); err != nil || !strings.HasPrefix(n, "01") || !strings.HasSuffix(n, "45") || report.Count(ntconv.CodeCorrupt) == 0 {
				t.Errorf("cut at %d, newline %q: spans %s, %v, %v", cut, newline, n, err, report.Entries())
			}
			if e := report.Entries(); len(e) > 0 && e[0].Code == ntconv.CodeCorrupt && (e[0].Offset < int64(len(lines[0]+lines[1])) || e[0].Offset > int64(len(input))) {
				t.Errorf("cut at %d, newline %q: damage at byte %d", cut, newline, e[0].Offset)
			}
		}
	}
}

// Repeated corruption needs time in proportion to the input: nothing is decoded twice.
func TestDamageThroughout(t *testing.T) {
	for _, part := range []string{`{"resourceSpans":[}`, `{"resourceSpans":[{`, `{"resourceSpans"`, `{"resourceSpans":[{"x":"` + "\n"} {
		var report ntconv.Report
		got, err := read(strings.NewReader(strings.Repeat(part, 1<<19/len(part))+"}"), &otlp.Options{Report: &report})
		if err == nil || len(got) != 0 {
			t.Errorf("%q: %d spans, %v", part, len(got), err)
		}
	}
}
