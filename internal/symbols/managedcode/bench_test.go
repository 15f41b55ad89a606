package managedcode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/assembly"
	"github.com/ntconv/ntconv/symbol"
)

// BenchmarkAddresses resolves 100,000 addresses of the largest precompiled assembly, which is read once per iteration.
func BenchmarkAddresses(b *testing.B) {
	runtime := runtimeDir(b)
	found, err := filepath.Glob(filepath.Join(runtime, "*", "*", "System.Private.CoreLib.dll"))
	if err != nil || len(found) != 1 {
		b.Fatalf("found %q, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		b.Fatal(err)
	}
	img, err := assembly.ParseImage(data)
	if err != nil {
		b.Fatal(err)
	}
	text := img.Sections[0]
	m := &ntconv.Mapping{Start: 1 << 40, Limit: 1<<40 + uint64(text.FileSize), Offset: uint64(text.Offset), File: found[0]}
	const addresses = 100_000
	for b.Loop() {
		r := resolver(false, runtime)
		named := 0
		var frames []symbol.NativeFrame
		for i := range uint64(addresses) {
			frames = r.AppendNative(frames[:0], &symbol.NativeAddress{PC: m.Start + i*uint64(text.FileSize)/addresses, Mapping: m})
			named += len(frames)
		}
		if named < addresses/3 {
			b.Fatalf("only %d addresses have a name", named)
		}
	}
}
