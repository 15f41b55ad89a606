package perf_test

import (
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
