package symbolfiles_test

import (
	"debug/elf"
	"os"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
)

// BenchmarkAddresses resolves 100,000 distinct addresses of a large program, this test, and of a library in C++, from
// the opening of the file on.
func BenchmarkAddresses(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for name, file := range map[string]string{"go": self, "c++": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"} {
		b.Run(name, func(b *testing.B) { benchmarkAddresses(b, file) })
	}
}

func benchmarkAddresses(b *testing.B, self string) {
	f, err := elf.Open(self)
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	var m *ntconv.Mapping
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			m = &ntconv.Mapping{Start: p.Vaddr, Limit: p.Vaddr + p.Filesz, Offset: p.Off, File: self}
		}
	}
	const count = 100_000
	for _, lines := range []bool{false, true} {
		name := "names"
		if lines {
			name = "lines"
		}
		b.Run(name, func(b *testing.B) {
			named := 0
			for b.Loop() {
				native := symbolfiles.New(func() symbolfiles.Options {
					return symbolfiles.Options{Paths: []string{self}, Lines: lines}
				})
				table := &symbol.NativeAddress{Mapping: m, PID: 1}
				var frames []symbol.NativeFrame
				named = 0
				for n := range uint64(count) {
					i := n * 7919 % count // stacks are not sorted
					table.PC = m.Start + i*((m.Limit-m.Start)/count)
					if frames = native.AppendNative(frames[:0], table); len(frames) > 0 {
						named++
					}
				}
			}
			b.ReportMetric(float64(named), "named")
		})
	}
}
