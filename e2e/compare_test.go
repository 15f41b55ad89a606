package e2e

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// computed are fields of the reference that are not in the payload, because it derives, masks or synthesizes them.
var computed = map[string]bool{
	"OptimizationTier": true, "MethodFlags": true, "TotalHeapSize": true, "TotalPromoted": true, "Depth": true, "ModuleILFileName": true,
	"ObjectName": true, "TypeParameterCount": true, "TypeParameters": true, "LoaderModuleID": true, "CompactMechanisms": true,
	"ExpandMechanisms": true, "ConcurrentCompactMechanisms": true, "MemoryPressure": true, "TypeID_0": true, "TypeName_0": true,
	"Promoted": true, "ID": true, "Data": true,
}

// junkLabels are labels that one-collect writes without a meaning, and that the reference shows as part of the header.
var junkLabels = map[string]bool{"Error": true, "OpCode": true, "Keywords": true, "Level": true, "Version": true}

// An observed difference is a field of an event that the reference and ntconv show differently.
type observed struct {
	tr        trace
	want, got *line
	field     string
	a, b      any  // values of the reference and of ntconv
	absent    bool // ntconv does not have the field
}

// A comparison contains the differences between two dumps of a trace.
type comparison struct {
	missing, extra, paired int
	differ, absent         int
}

// compareEvents pairs the events of two dumps and calls see for every difference. It covers everything that the
// reference's own script compares, and more where that is cheap.
func compareEvents(t *testing.T, tr trace, want, got []*line, see func(*observed)) comparison {
	t.Helper()
	var c comparison
	theirs, ours := byKey(want), byKey(got)
	for key, a := range theirs {
		b := ours[key]
		c.missing += max(0, len(a)-len(b))
		for i := range min(len(a), len(b)) {
			c.paired++
			compareEvent(t, tr, a[i], b[i], func(d *observed) {
				if d.absent {
					c.absent++
				} else {
					c.differ++
				}
				see(d)
			})
		}
	}
	c.extra = len(got) - c.paired
	return c
}

func compareEvent(t *testing.T, tr trace, want, got *line, see func(*observed)) {
	note := func(field string, a, b any) { see(&observed{tr: tr, want: want, got: got, field: field, a: a, b: b}) }
	for _, h := range []struct {
		field string
		a, b  any
	}{
		{"pid", want.PID, got.PID}, {"level", want.Level, got.Level}, {"keywords", hex(t, want.Keywords), hex(t, got.Keywords)},
		{"activity_id", want.Activity, got.Activity}, {"related_activity_id", want.Related, got.Related},
		{"trace_id", want.TraceID, got.TraceID}, {"span_id", want.SpanID, got.SpanID},
	} {
		if h.a != h.b {
			note(h.field, h.a, h.b)
		}
	}
	if want.CRC != "" && want.CRC != got.CRC {
		note("crc32", want.CRC, got.CRC)
	}
	if want.CPU != 0 && want.CPU != got.CPU {
		note("cpu", want.CPU, got.CPU)
	}
	if want.Labels != nil {
		ours := object(t, got.Labels)
		for key, v := range object(t, want.Labels) {
			if !junkLabels[key] && !same(v, ours[key]) {
				note("labels."+key, v, ours[key])
			}
		}
	}
	if string(want.Payload) != string(got.Payload) {
		comparePayload(t, tr, want, got, see)
	}
}

func comparePayload(t *testing.T, tr trace, want, got *line, see func(*observed)) {
	p, q := want.fields(t), got.fields(t)
	if inner, ok := p[""].(map[string]any); ok && len(p) == 1 && len(q) != 1 {
		// Event counters: the reference nests the only field under an empty name.
		p, _ = inner["Payload"].(map[string]any)
	}
	for field, v := range p {
		// 298: the reference reads at an offset of 2 bytes.
		if computed[field] || want.ID == 298 && (field == "MethodToken" || field == "MethodNamespace") {
			continue
		}
		w, ok := q[field]
		if !ok || !same(v, w) {
			see(&observed{tr: tr, want: want, got: got, field: field, a: v, b: w, absent: !ok})
		}
	}
}

func hex(t *testing.T, text string) uint64 {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal("keywords: ", err)
	}
	return n
}

// same compares values like the reference's script: integers by their bits, because some unsigned ones are shown as
// signed, and numbers that one side writes as strings by their value.
func same(a, b any) bool {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return x.Cmp(y) == 0 || x.Sign()*y.Sign() < 0 && isWrap(new(big.Int).Sub(x, y))
		}
	}
	switch a := a.(type) {
	case json.Number:
		x, errX := a.Float64()
		n, ok := b.(json.Number)
		if !ok || errX != nil {
			return false
		}
		y, errY := n.Float64()
		return errY == nil && math.Abs(x-y) <= 1e-6*max(math.Abs(x), math.Abs(y))
	case string:
		s, ok := b.(string)
		return ok && strings.EqualFold(a, s)
	case bool:
		return a == b
	case []any:
		list, ok := b.([]any)
		ok = ok && len(a) == len(list)
		for i := 0; ok && i < len(a); i++ {
			ok = same(a[i], list[i])
		}
		return ok
	case map[string]any:
		m, ok := b.(map[string]any)
		ok = ok && len(a) == len(m)
		for k := range a {
			ok = ok && same(a[k], m[k])
		}
		return ok
	}
	return a == nil && b == nil
}

// integer returns the value of an integer, a boolean, or a string that contains one.
func integer(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case json.Number:
		return new(big.Int).SetString(v.String(), 10)
	case string:
		if strings.Trim(v, "-0123456789abcdefABCDEFxX") != "" {
			return nil, false
		}
		return new(big.Int).SetString(v, 0)
	}
	return nil, false
}

// isWrap reports whether a difference is a multiple of 2^n for an integer type.
func isWrap(n *big.Int) bool {
	n.Abs(n)
	return n.TrailingZeroBits() == uint(n.BitLen()-1) && (n.BitLen() == 9 || n.BitLen() == 17 || n.BitLen() == 33 || n.BitLen() == 65)
}
