package dotnet

import "testing"

// The names that a Speller makes do not depend on the methods before. Every golden method passes twice, so that types
// are found among those that are kept, and its signature also belongs to types whose arguments decide about it.
func TestSpeller(t *testing.T) {
	s := NewSpeller()
	rows := readTable(t, "testdata/methods.tsv", 4)
	for range 2 {
		for _, r := range rows {
			for _, typ := range []string{r[0], "Pair`2[System.__Canon,System.Int32]", ""} {
				m := Method{typ, r[1], r[2]}
				if got, want := s.Pretty(m), m.Pretty(); got != want {
					t.Errorf("%q: got %q, want %q", m, got, want)
				}
				if got, want := s.Short(m), m.Short(); got != want {
					t.Errorf("short name of %q: got %q, want %q", m, got, want)
				}
			}
		}
	}
	if len(s.types) < 50 {
		t.Errorf("%d types are kept, want at least 50", len(s.types))
	}
}
