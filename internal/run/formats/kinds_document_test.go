package formats

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

var update = flag.Bool("update", false, "write the table of kinds in docs/profiles.md")

// The table of kinds in docs/profiles.md is that of the program.
func TestKindsDocument(t *testing.T) {
	const path, head, rule = "../../../docs/profiles.md", "| kind | shows | sample types, the default in bold | labels | recorded by |\n", "|---|---|---|---|---|\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, k := range sample.All() {
		types, main, labels := meters.Describe(k)
		var columns, keys []string
		for i, v := range types {
			text := "`" + v.Type + "/" + v.Unit + "`"
			if i == main {
				text = "**" + text + "**"
			}
			columns = append(columns, text)
		}
		for _, key := range labels {
			keys = append(keys, "`"+key+"`")
		}
		how := recorder(k)
		if how != "" {
			how = "`" + strings.NewReplacer(" (", "` (", ",System", ",` `System").Replace(how)
			if !strings.HasSuffix(how, ")") {
				how += "`"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", k, k.Doc(), strings.Join(columns, ", "), strings.Join(keys, ", "), how)
	}
	before, rest, ok := strings.Cut(string(page), head+rule)
	if !ok {
		t.Fatal("the page has no table of kinds")
	}
	table, after, ok := strings.Cut(rest, "\n\n")
	if !ok || !strings.HasPrefix(table, "|") {
		t.Fatal("the table of kinds is empty; write one row before the update")
	}
	if table+"\n" == b.String() {
		return
	}
	if !*update {
		t.Errorf("the table differs; run: go test ./internal/run/formats -run TestKindsDocument -update\n%s\nwant\n%s", table, &b)
		return
	}
	if err := os.WriteFile(path, []byte(before+head+rule+b.String()+"\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
