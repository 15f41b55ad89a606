package writer_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

var update = flag.Bool("update", false, "rewrite the table of ../docs/rewriting.md")

const sizesHead = "| trace | bytes | version 6, file order | | time order | |\n|---|---:|---:|---:|---:|---:|\n"

// sizeRow rewrites a trace in both orders and returns its row of the table of sizes. In file order, the output is at
// most 2% larger than the input, and not larger if the trace has stacks.
func sizeRow(t *testing.T, f corpus.File) string {
	t.Helper()
	stacks := false
	r := read(t, f.Data)
	src := ntconv.Observe(r, func(e *ntconv.Event) { stacks = stacks || e.Stack != nil })
	inOrder := strings.HasPrefix(r.Info().Format, "netperf") // the command does the same
	file := len(write(t, src, &writer.Options{Ordered: inOrder}))
	byTime, err := reader.New(bytes.NewReader(f.Data), &reader.Options{AllowPrerelease: true})
	if err != nil {
		t.Fatal(err)
	}
	ordered := len(write(t, byTime, &writer.Options{Ordered: true}))
	n := len(f.Data)
	if stacks && file > n || file > n+n/50 {
		t.Errorf("%s: %d bytes become %d", f.Name, n, file)
	}
	ratio := func(size int) string { return fmt.Sprintf("%.3f", float64(size)/float64(n)) }
	return fmt.Sprintf("| %s | %d | %d | %s | %d | %s |\n", f.Name, n, file, ratio(file), ordered, ratio(ordered))
}

// TestSizes checks the table in the documentation for the traces of testdata and those next to the checkout.
func TestSizes(t *testing.T) {
	path := filepath.Join("..", "docs", "rewriting.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(page), sizesHead)
	if !ok {
		t.Fatalf("%s has no table %q", path, sizesHead)
	}
	if *update {
		var rows []string
		for _, f := range append(corpus.Traces(t), corpus.SharedTraces(t)...) {
			rows = append(rows, sizeRow(t, f))
		}
		slices.Sort(rows)
		rows = slices.Compact(rows) // testdata has copies of shared traces
		for strings.HasPrefix(after, "|") {
			_, after, _ = strings.Cut(after, "\n")
		}
		if err := os.WriteFile(path, []byte(before+sizesHead+strings.Join(rows, "")+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	check := func(files []corpus.File) {
		for _, f := range files {
			if row := sizeRow(t, f); !strings.Contains(after, row) {
				t.Errorf("%s lacks this row (update it with go test ./writer -run TestSizes -update):\n%s", path, row)
			}
		}
	}
	check(corpus.Traces(t))
	if !testing.Short() {
		check(corpus.SharedTraces(t))
	}
}
