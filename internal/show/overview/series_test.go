package overview

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"pgregory.net/rapid"
)

// A series does not depend on the order of its values, loses none, and has bounded memory.
func TestSeriesIsIndependentOfOrder(t *testing.T) {
	type entry struct {
		from, to ntconv.Ticks
		value    int64
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{100, 5000, 1 << 40, math.MaxInt64}).Draw(t, "limit")
		var list []entry
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			from := rapid.Int64Range(-limit, limit).Draw(t, "from")
			to := from + rapid.Int64Range(0, min(limit, 1<<30)).Draw(t, "length")
			list = append(list, entry{ntconv.Ticks(from), ntconv.Ticks(max(to, from)), rapid.Int64Range(0, 100).Draw(t, "value")})
		}
		fill := func() (s, spans series, total, length int64) {
			for _, e := range list {
				s.add(e.from, e.value)
				spans.addSpan(e.from, e.to)
				total += e.value
				length += int64(e.to - e.from)
			}
			return s, spans, total, length
		}
		a, b, total, length := fill()
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		c, d, _, _ := fill()
		for _, pair := range [][2]series{{a, c}, {b, d}} {
			if pair[0].shift != pair[1].shift || pair[0].first != pair[1].first || !slices.Equal(pair[0].values, pair[1].values) {
				t.Fatalf("%+v, in another order %+v", pair[0], pair[1])
			}
			if len(pair[0].values) > seriesBuckets {
				t.Fatalf("%d buckets", len(pair[0].values))
			}
		}
		sum := func(s *series) (n int64) {
			for _, v := range s.values {
				n += v
			}
			return n
		}
		if sum(&a) != total || sum(&b) != length {
			t.Fatalf("sums %d and %d, want %d and %d", sum(&a), sum(&b), total, length)
		}
	})
}

// Columns hold all values, and a value is in the column of its time.
func TestColumns(t *testing.T) {
	var s series
	for i := range ntconv.Ticks(6000) {
		s.add(i, 1)
	}
	s.add(3000, 500)
	columns := s.columns(0, 5999, 60)
	total := 0.
	for i, v := range columns {
		want := 100.
		if i == 30 {
			want = 600
		}
		if total += v; math.Abs(v-want) > 16 { // a bucket is 8 ticks wide
			t.Errorf("column %d has %g, want %g", i, v, want)
		}
	}
	if math.Abs(total-6500) > 1e-6 {
		t.Errorf("columns have %g, want 6500", total)
	}
	for _, v := range s.columns(7000, 8000, 4)[1:] {
		if v != 0 {
			t.Error("values before the range are not in the first column")
		}
	}
}

func TestSparkline(t *testing.T) {
	if got := sparkline([]float64{0, 1, 50, 100, -1}, 100); got != " ▁▅█." {
		t.Errorf("%q", got)
	}
	if got := sparkline([]float64{0, 0}, 0); got != "  " {
		t.Errorf("%q", got)
	}
}

// One large column does not hide the others.
func TestTypicalTop(t *testing.T) {
	values := []float64{0, 10, 20, 30, 0, 900}
	if top := typicalTop(values); top != 120 {
		t.Errorf("top %g, want 4 times the median of the columns with events", top)
	}
	if got := sparkline(values, typicalTop(values)); got != " ▁▂▃ █" {
		t.Errorf("%q", got)
	}
	if top := typicalTop([]float64{0, 3, 4, 5}); top != 5 {
		t.Errorf("top %g, want the maximum", top)
	}
}

// A ranking with too many names keeps the total.
func TestRankingIsBounded(t *testing.T) {
	var r ranking
	const n = maxNames + 500
	for i := range n {
		r.add(string(rune('a'+i%26))+string(rune(i)), 0, 1, 2)
	}
	list, count, value := r.list([]bool{true}, true), int64(0), int64(0)
	for _, p := range list {
		count, value = count+p.Count, value+p.Value
	}
	if len(list) > maxNames+1 || count != n || value != 2*n || !list[0].Rest {
		t.Errorf("%d names with %d samples, value %d; first %+v", len(list), count, value, list[0])
	}
}
