package fileio

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// benchContent resembles a trace: repetitive, a few times compressible.
func benchContent() []byte {
	b := make([]byte, 0, 32<<20)
	rnd := noise(4 << 20)
	for i := 0; len(b) < 32<<20-64; i += 5 {
		b = append(b, rnd[i%(len(rnd)-8):][:5]...)
		b = append(b, "Microsoft-Windows-DotNETRuntime/GC/AllocationTick"[:20+i%29]...)
	}
	return b
}

// Reading compressed input under a consumer that works on what it reads; and what read-ahead gains.
func BenchmarkStream(b *testing.B) {
	data := benchContent()
	for _, c := range []struct {
		name string
		data []byte
	}{{"plain", data}, {"gzip", gz(b, data)}, {"zstd", zst(b, data)}} {
		name := filepath.Join(b.TempDir(), "f")
		if err := os.WriteFile(name, c.data, 0o600); err != nil {
			b.Fatal(err)
		}
		for _, ahead := range []bool{false, true} {
			if c.name == "plain" && ahead {
				continue
			}
			b.Run(c.name+map[bool]string{true: "/ahead"}[ahead], func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					f, err := os.Open(name)
					if err != nil {
						b.Fatal(err)
					}
					r := io.Reader(f)
					if !ahead {
						r = once(f)
					}
					_, s := open(b, r, InputOptions{})
					if _, err := io.CopyBuffer(struct{ io.Writer }{sha256.New()}, struct{ io.Reader }{s}, make([]byte, 64<<10)); err != nil {
						b.Fatal(err)
					}
					s.Close()
					f.Close()
				}
			})
		}
	}
}

// BenchmarkOutput writes generated data, uncompressed, compressed by the caller, or compressed in a write-behind.
func BenchmarkOutput(b *testing.B) {
	data := benchContent()
	produce := func(w io.Writer) {
		for p := range slices.Chunk(data, 4096) {
			sum := sha256.Sum256(p) // the work of making the bytes
			w.Write(sum[:])
			w.Write(p)
		}
	}
	for _, mode := range []string{"plain", "gzip", "gzip write-behind"} {
		b.Run(mode, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			dir := b.TempDir()
			for b.Loop() {
				o := create(b, filepath.Join(dir, "out"), OutputOptions{Force: true})
				if mode == "plain" {
					produce(o)
				} else {
					z, err := NewGzip(o, 1)
					if err != nil {
						b.Fatal(err)
					}
					if mode == "gzip" {
						produce(z)
					} else {
						w := NewWriteBehind(z)
						produce(w)
						w.Close()
					}
					z.Close()
				}
				if err := o.Commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
