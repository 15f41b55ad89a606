package growth

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The same run has the same number of steps, and the places of the steps are known.
func TestDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command with counters")
	}
	p := Start(t)
	var costs []*Cost
	for _, n := range []int{100, 100, 400} {
		var b bytes.Buffer
		if err := Inputs()[0].Write(&b, n); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "in.nettrace")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := p.Run("print", "--json", file)
		if err != nil || c.Code != 0 {
			t.Fatal(c, err)
		}
		costs = append(costs, c)
	}
	if a, b, c := costs[0].Steps, costs[1].Steps, costs[2].Steps; a != b || c < 2*a {
		t.Errorf("%d steps, the same run %d, and %d for four times as many types", a, b, c)
	}
	hot, err := p.Hot(costs[0], costs[2], 5)
	if err != nil || len(hot) != 5 || !strings.Contains(hot[0], ".go:") {
		t.Errorf("places with the most growth: %q, %v", hot, err)
	}
}
