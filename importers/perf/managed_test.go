package perf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// Names from perf-PID.map are spelled as in traces of .NET, whatever tier the code has, and belong to their assembly.
func TestManaged(t *testing.T) {
	const text = `shop  4242/4243  [001] 123.456789:    1000000 cpu-clock:ppp: 
	    7f31c8a2b5c4 instance void [Shop] Shop.Cpu::Spin(float64)[OptimizedTier1]+0x44 (/tmp/perf-4242.map)
	    7f31c8a2b5d4 instance void [Shop] Shop.Cpu::Spin(float64)[Tier0]+0x4 (/tmp/perf-4242.map)
	    7f31c8a2b5e4 stub<12>+0x4 (/tmp/perf-4242.map)
	    7f31c8a2b5f4 memcpy [clone .part.0]+0x4 (/usr/lib/libc.so.6)

`
	src, err := perf.New(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var got []string
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Stack == nil {
			continue
		}
		for _, f := range e.Stack.Frames {
			managed := ""
			if f.Flags&ntconv.FrameManaged != 0 {
				managed = " managed"
			}
			got = append(got, f.Func.Name+" | "+f.Func.SystemName+" | "+f.Mapping.File+managed)
		}
	}
	want := []string{
		"Shop.Cpu.Spin(double) | Shop!Shop.Cpu::Spin(float64) | Shop managed",
		"Shop.Cpu.Spin(double) | Shop!Shop.Cpu::Spin(float64) | Shop managed",
		"stub<12> |  | /tmp/perf-4242.map",
		"memcpy [clone .part.0] |  | /usr/lib/libc.so.6",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// All tiers of a method are one function, by pointer, so that samples of them add up. Other symbols with brackets at their
// end are not .NET methods.
func TestTiers(t *testing.T) {
	const spin = "instance void [Shop] Shop.Cpu::Spin(float64)"
	var text strings.Builder
	for i, tier := range []string{"[PreJIT]", "[Tier0]", "[OptimizedTier1]", "[OptimizedTier1OSR]", "[ReadyToRun]"} {
		fmt.Fprintf(&text, "shop 1/2 %d.0: 1 cycles:\n\t%x %s%s+0x%x (/tmp/perf-1.map)\n\n", i, 4096*i, spin, tier, i)
	}
	text.WriteString("shop 1/2 9.0: 1 cycles:\n\t1 memcpy [clone .part.0] (/opt/libshop.so)\n\t2 [unknown] (/tmp/perf-1.map)\n" +
		"\t3 operator new[](unsigned long) (/opt/libshop.so)\n\t4 void [Shop] Shop.Cpu::.ctor(int32) (/opt/shop)\n\n")
	events, _, _ := read(t, []byte(text.String()), perf.Options{})
	first := events[0].Stack.Frames[0]
	if got := *first.Func; got.Name != "Shop.Cpu.Spin(double)" || got.SystemName != "Shop!Shop.Cpu::Spin(float64)" {
		t.Errorf("%+v", got)
	}
	if first.Flags != ntconv.FrameManaged || first.Mapping.File != "Shop" {
		t.Errorf("flags %v of %+v", first.Flags, first.Mapping)
	}
	for i := range events[:5] {
		if f := events[i].Stack.Frames[0]; f.Func != first.Func || f.Mapping != first.Mapping || f.Flags != first.Flags {
			t.Errorf("event %d: %+v, want %+v", i, f, first)
		}
	}
	for i, f := range events[5].Stack.Frames {
		if f.Flags&ntconv.FrameManaged != 0 || f.Func.SystemName != "" {
			t.Errorf("frame %d is managed: %+v", i, *f.Func)
		}
	}
}
