package tracecmp

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// drawType generates one of a few types, so that two are often equal.
func drawType(t *rapid.T, depth int) *ntconv.Type {
	text := rapid.SampledFrom([]string{"", "a", "ab", "b"})
	small := rapid.Uint8Range(0, 1)
	y := &ntconv.Type{
		Provider: text.Draw(t, "provider"), Name: text.Draw(t, "name"), ID: uint32(small.Draw(t, "id")), Version: small.Draw(t, "version"),
		Level: small.Draw(t, "level"), Opcode: small.Draw(t, "opcode"), HasOpcode: rapid.Bool().Draw(t, "has"), Keywords: uint64(small.Draw(t, "keywords")),
		Message: text.Draw(t, "message"), Description: text.Draw(t, "description"), Extra: []byte(text.Draw(t, "extra")),
		OptionalExtra: []byte(text.Draw(t, "optional")),
	}
	y.GUID[3] = small.Draw(t, "guid")
	for range small.Draw(t, "attributes") {
		y.Attrs = append(y.Attrs, ntconv.Attr{Key: text.Draw(t, "key"), Value: text.Draw(t, "value")})
	}
	y.Fields = drawFields(t, depth)
	return y
}

func drawFields(t *rapid.T, depth int) (out []ntconv.Field) {
	small := rapid.Uint8Range(0, 1)
	for range small.Draw(t, "fields") {
		f := ntconv.Field{Name: rapid.SampledFrom([]string{"", "x"}).Draw(t, "field"), Type: *drawFieldType(t, depth)}
		if small.Draw(t, "more") > 0 {
			f.Extra = []byte{7}
		}
		out = append(out, f)
	}
	return out
}

func drawFieldType(t *rapid.T, depth int) *ntconv.FieldType {
	small := rapid.Uint8Range(0, 1)
	out := &ntconv.FieldType{Code: ntconv.TypeCode(small.Draw(t, "code")), Count: uint16(small.Draw(t, "count"))}
	if depth > 0 && small.Draw(t, "element") > 0 {
		out.Elem = drawFieldType(t, depth-1)
	}
	if depth > 0 {
		out.Fields = drawFields(t, depth-1)
	}
	return out
}

// The content is equal if and only if the comparison finds no difference.
func TestContentOfTypes(t *testing.T) {
	equal := 0
	rapid.Check(t, func(t *rapid.T) {
		a := drawType(t, 2)
		b := *a
		switch rapid.IntRange(0, 3).Draw(t, "changed") {
		case 0:
			b.Fields = drawFields(t, 2)
		case 1:
			b.Extra, b.OptionalExtra = []byte(rapid.SampledFrom([]string{"", "a"}).Draw(t, "other extra")), b.Extra
		case 2:
			b = *drawType(t, 2)
		}
		same := equalTypes(a, &b) == nil
		if got := string(appendType(nil, a)) == string(appendType(nil, &b)); got != same {
			t.Fatalf("equal content is %v, equal is %v: %+v and %+v", got, same, a, b)
		}
		if same {
			equal++
		}
	})
	if equal == 0 {
		t.Error("no two were equal")
	}
}

// Definitions that no event uses are compared in linear time, regardless of their number and order.
func TestUnusedIsLookedAtOnce(t *testing.T) {
	for _, n := range []int{500, 1000} {
		var all declared[ntconv.Type]
		for i := range n {
			for side := range all {
				all[side] = append(all[side], &ntconv.Type{Provider: "P", Name: fmt.Sprint(i)})
			}
		}
		slices.Reverse(all[1])
		steps := 0
		content := func(y *ntconv.Type, _ int) string { steps++; return string(appendType(nil, y)) }
		if d := matchAll("type", all, content, nil); d != nil || steps != 2*n {
			t.Errorf("%d types: %d steps, %v", n, steps, d)
		}
		all[1][n/2].Name = "other"
		if d := matchAll("type", all, content, nil); d == nil || !d.Unused {
			t.Errorf("a type that differs is not found: %v", d)
		}
	}
}

// Long content that many events share is compared once.
func TestSharedContentIsComparedOnce(t *testing.T) {
	c := newComparer(&Options{})
	var stacks [2][3]*ntconv.Stack
	for side := range stacks {
		for i := range stacks[side] {
			stacks[side][i] = &ntconv.Stack{PCs: make([]uint64, 1000+i)}
		}
	}
	for i := range 9 {
		if d := c.stacks(stacks[0][i%3], stacks[1][i%3]); d != nil {
			t.Fatal(d)
		}
	}
	for i := range 3 {
		if a, b := stacks[0][i], stacks[1][i]; !c.sameStacks.has(a, b) || c.sameStacks.has(a, stacks[1][(i+1)%3]) {
			t.Errorf("stack %d is compared again, or taken for another", i)
		}
	}
	if d := c.stacks(stacks[0][0], stacks[1][1]); d == nil {
		t.Error("stacks of different lengths are equal")
	}
}

// Unused threads are equal only if their processes are.
func TestUnusedThreads(t *testing.T) {
	make2 := func(pids ...uint64) (defs []*ntconv.Thread) {
		processes := map[uint64]*ntconv.Process{}
		for i, pid := range pids {
			if processes[pid] == nil {
				processes[pid] = &ntconv.Process{PID: pid / 10} // 10 and 11 have equal content
			}
			defs = append(defs, &ntconv.Thread{TID: uint64(i % 2), Process: processes[pid]})
		}
		return defs
	}
	for _, tt := range []struct {
		a, b []uint64
		same bool
	}{
		{[]uint64{10, 20}, []uint64{10, 20}, true},
		{[]uint64{10, 10}, []uint64{10, 11}, false},
		{[]uint64{10, 11}, []uint64{11, 10}, true},
		{[]uint64{10, 20}, []uint64{10, 30}, false},
	} {
		c := newComparer(&Options{})
		c.defThreads = declared[ntconv.Thread]{make2(tt.a...), make2(tt.b...)}
		if d := c.definitions(); (d == nil) != tt.same {
			t.Errorf("threads of processes %v and %v: %v", tt.a, tt.b, d)
		}
	}
}
