package dotnet

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// readTable reads tab-separated columns; lines that begin with # are comments.
func readTable(t *testing.T, name string, columns int) (rows [][]string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		row := strings.Split(sc.Text(), "\t")
		if len(row) != columns {
			t.Fatalf("%s:%d: %d columns, want %d", name, n, len(row), columns)
		}
		rows = append(rows, row)
	}
	if sc.Err() != nil {
		t.Fatal(sc.Err())
	}
	return rows
}

func TestGoldenMethods(t *testing.T) {
	rows := readTable(t, "testdata/methods.tsv", 4)
	if len(rows) < 120 {
		t.Errorf("%d methods, want at least 120", len(rows))
	}
	for _, r := range append(rows, readTable(t, "testdata/spellings.tsv", 4)...) {
		if got := (Method{r[0], r[1], r[2]}).Pretty(); got != r[3] {
			t.Errorf("%s | %s | %s\n got %s\nwant %s", r[0], r[1], r[2], got, r[3])
		}
	}
}

func TestGoldenSymbols(t *testing.T) {
	native := 0
	for _, r := range readTable(t, "testdata/symbols.tsv", 2) {
		if got := prettySymbol(r[0]); got != r[1] {
			t.Errorf("%s\n got %s\nwant %s", r[0], got, r[1])
		}
		if r[0] == r[1] {
			native++
		}
	}
	if native < 20 {
		t.Errorf("%d native symbols, want at least 20", native)
	}
}

func TestNotUnderstoodIsRaw(t *testing.T) {
	for _, m := range []Method{
		{"A[", "M", "void  ()"},
		{"A`1[System.Int32", "M", "void  ()"},
		{"A`1[,]x", "M", "void  ()"},
		{"A B", "M", "void  ()"},
		{"A`1[B]&", "M", "void  (!0)"},
		{"A", "M", "void  (" + strings.Repeat("[a]", 100000) + "A)"},
		{"A", "M", "void  (int32,,int32)"},
		{"A", "M", "void  (int32,)"},
		{"A", "M", "void  (List`1<int32)"},
		{"A", "M", "void  (int32&&)"},
		{"A", "M", "void  (!x)"},
		{"A", "M", "void  (" + strings.Repeat("L`1<", 100) + "int32" + strings.Repeat(">", 100) + ")"},
		{"A`1[" + strings.Repeat("x", 1000) + "]", "M", "void  (" + strings.Repeat("!0,", 1000) + "!0)"},
		{"A", strings.Repeat("`255", 1000), "void  ()"},
	} {
		if got := m.Pretty(); got != m.Raw() {
			t.Errorf("%.80q: got %.80q, want the raw name", m, got)
		}
	}
}
