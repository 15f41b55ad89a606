package growth

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"
)

// text returns a generator of text files.
func text(name, ext string, n int, make func(b *strings.Builder, n int)) Input {
	return Input{Name: name, Ext: ext, N: n, Write: func(w io.Writer, n int) error {
		var b strings.Builder
		make(&b, n)
		_, err := io.WriteString(w, b.String())
		return err
	}}
}

// pprofInput returns a generator of profiles with one sample type; fill adds the rest.
func pprofInput(name string, n int, fill func(p *profile.Profile, n int)) Input {
	return Input{Name: "pprof-" + name, Ext: "pb", N: n, Write: func(w io.Writer, n int) error {
		p := &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, TimeNanos: 1e18, DurationNanos: 1e9,
			PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e6,
		}
		fill(p, n)
		if len(p.Location) == 0 {
			locate(p, 1, nil)
		}
		if len(p.Sample) == 0 {
			p.Sample = []*profile.Sample{{Location: p.Location[:1], Value: []int64{1}}}
		}
		return p.WriteUncompressed(w)
	}}
}

// locate adds n locations with one function each.
func locate(p *profile.Profile, n int, m *profile.Mapping) {
	for i := range n {
		f := &profile.Function{
			ID:         uint64(len(p.Function) + 1),
			Name:       fmt.Sprint("function", i),
			SystemName: fmt.Sprint("_f", i),
			Filename:   fmt.Sprint("f", i%50, ".go"),
		}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{
			ID: uint64(len(p.Location) + 1), Address: 0x1000 + uint64(16*i), Mapping: m, Line: []profile.Line{{Function: f, Line: int64(i)}},
		})
	}
}

// profileInputs returns generators of profiles and folded stacks.
func profileInputs() []Input {
	return []Input{
		pprofInput("locations", 500, func(p *profile.Profile, n int) {
			locate(p, n, nil)
			for i := range n {
				p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{p.Location[i], p.Location[n-1-i]}, Value: []int64{int64(i + 1)}})
			}
		}),
		pprofInput("deep", 500, func(p *profile.Profile, n int) {
			locate(p, n, nil)
			p.Sample = append(p.Sample, &profile.Sample{Location: p.Location, Value: []int64{1}})
		}),
		pprofInput("recursive", 1000, func(p *profile.Profile, n int) {
			locate(p, 1, nil)
			s := &profile.Sample{Value: []int64{1}}
			for range n {
				s.Location = append(s.Location, p.Location[0])
			}
			p.Sample = append(p.Sample, s)
		}),
		pprofInput("same-address", 500, func(p *profile.Profile, n int) {
			locate(p, n, nil)
			for i := range n {
				p.Location[i].Address = 0x1000
				p.Sample = append(p.Sample, &profile.Sample{Location: p.Location[i : i+1], Value: []int64{1}})
			}
		}),
		pprofInput("same-name", 500, func(p *profile.Profile, n int) {
			locate(p, n, nil)
			for i := range n {
				p.Function[i].Name, p.Function[i].SystemName = "f", "f"
				p.Sample = append(p.Sample, &profile.Sample{Location: p.Location[i : i+1], Value: []int64{1}})
			}
		}),
		pprofInput("same-sample", 500, func(p *profile.Profile, n int) {
			locate(p, 3, nil)
			for range n {
				p.Sample = append(p.Sample, &profile.Sample{Location: p.Location, Value: []int64{1}})
			}
		}),
		pprofInput("inlined", 500, func(p *profile.Profile, n int) {
			locate(p, n, nil)
			for i := range n {
				p.Location[0].Line = append(p.Location[0].Line, profile.Line{Function: p.Function[i], Line: 1})
			}
			for range 3 {
				p.Sample = append(p.Sample, &profile.Sample{Location: p.Location[:1], Value: []int64{1}})
			}
		}),
		pprofInput("mappings", 300, func(p *profile.Profile, n int) {
			pprofMappings(p, n, func(i uint64) (uint64, uint64) { return 0x1000 * (i + 1), 0x1000 * (i + 2) })
		}),
		pprofInput("mappings-same", 300, func(p *profile.Profile, n int) {
			pprofMappings(p, n, func(uint64) (uint64, uint64) { return 0x1000, 0x2000 })
		}),
		pprofInput("mappings-nested", 300, func(p *profile.Profile, n int) {
			pprofMappings(p, n, func(i uint64) (uint64, uint64) { return 0x1000 * (i + 1), 0x1000 * (4*uint64(n) - i) })
		}),
		pprofInput("labels", 500, func(p *profile.Profile, n int) {
			locate(p, 1, nil)
			for i := range n {
				p.Sample = append(p.Sample, &profile.Sample{
					Location: p.Location, Value: []int64{1}, Label: map[string][]string{fmt.Sprint("key", i): {fmt.Sprint("value", i)}},
				})
			}
		}),
		pprofInput("labels-threads", 300, func(p *profile.Profile, n int) {
			locate(p, 1, nil)
			for i := range n {
				p.Sample = append(p.Sample, &profile.Sample{
					Location: p.Location, Value: []int64{1}, Label: map[string][]string{"thread": {fmt.Sprint("thread ", i)}},
					NumLabel: map[string][]int64{"thread_id": {int64(i)}, "process_id": {int64(i % 100)}, "timestamp_ns": {int64(1e18) + int64(n-i)}},
				})
			}
		}),
		pprofInput("labels-many", 500, func(p *profile.Profile, n int) {
			labels := map[string][]string{}
			numbers := map[string][]int64{}
			for i := range n {
				labels[fmt.Sprint("key", i)] = []string{"value"}
				numbers["number"] = append(numbers["number"], int64(i))
			}
			locate(p, 1, nil)
			p.Sample = append(p.Sample, &profile.Sample{Location: p.Location, Value: []int64{1}, Label: labels, NumLabel: numbers})
		}),
		pprofInput("comments", 500, func(p *profile.Profile, n int) {
			for i := range n {
				p.Comments = append(p.Comments, fmt.Sprint("comment ", i))
			}
		}),
		pprofInput("types", 20, func(p *profile.Profile, n int) {
			locate(p, 1, nil)
			s := &profile.Sample{Location: p.Location}
			p.SampleType = nil
			for i := range n {
				p.SampleType = append(p.SampleType, &profile.ValueType{Type: fmt.Sprint("type", i), Unit: "count"})
				s.Value = append(s.Value, 1)
			}
			p.Sample = append(p.Sample, s, s)
		}),
		pprofInput("names-long", 2000, func(p *profile.Profile, n int) {
			locate(p, 2, nil)
			p.Function[0].Name, p.Function[1].Name = odd(n), strings.Repeat("a(b<c,", n)
			p.Function[1].SystemName, p.Function[1].Filename = odd(n), strings.Repeat("a/", n)
			p.Sample = append(p.Sample, &profile.Sample{Location: p.Location, Value: []int64{1}})
		}),
		text("folded-long-frame", "folded", 4000, func(b *strings.Builder, n int) {
			fmt.Fprintf(b, "main;%s 1\nmain;%s 2\n", strings.ReplaceAll(odd(n), ";", ":"), strings.Repeat("x [k] 1 ", n/8))
		}),
	}
}

func pprofMappings(p *profile.Profile, n int, of func(i uint64) (start, limit uint64)) {
	for i := range uint64(n) {
		start, limit := of(i)
		m := &profile.Mapping{ID: i + 1, Start: start, Limit: limit, File: fmt.Sprintf("/lib/l%d.so", i), BuildID: fmt.Sprint("id", i)}
		p.Mapping = append(p.Mapping, m)
		locate(p, 1, m)
		p.Location[i].Address = start + 16
		p.Sample = append(p.Sample, &profile.Sample{Location: p.Location[i : i+1], Value: []int64{1}})
	}
}
