package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// A second implementation of pprof's format, in JavaScript, reads the same contents as pprof's own library.
func TestJavaScriptReadsProfiles(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: ", err)
	}
	if _, err := os.Stat(filepath.Join("node_modules", "pprof-format")); err != nil {
		t.Skip("not installed (npm --prefix e2e ci): ", err)
	}
	for _, name := range []string{"cpu-env", "cpu-v6", "three-processes-v6"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := convert(t, find(t, name), 1)
			r := run(t, "node", "decode.mjs", path)
			if r.code != 0 {
				t.Fatalf("%s", r.stderr)
			}
			var got struct {
				Types, Sums, Names []string
				Default            string
				Samples, Frames    int
				Whole              bool
			}
			decode(t, r.stdout, &got)
			var types, names []string
			sums := make([]int64, len(p.SampleType))
			frames := 0
			for _, v := range p.SampleType {
				types = append(types, v.Type+"/"+v.Unit)
			}
			for _, s := range p.Sample {
				frames += len(s.Location)
				for i, v := range s.Value {
					sums[i] += v
				}
			}
			for _, f := range p.Function {
				names = append(names, f.Name)
			}
			slices.Sort(names)
			slices.Sort(got.Names) // in byte order, as in names
			if !slices.Equal(got.Types, types) || got.Default != p.DefaultSampleType || got.Samples != len(p.Sample) || got.Frames != frames || !got.Whole {
				t.Errorf("read as %v, default %s, %d samples, %d frames, all of them named: %v", got.Types, got.Default, got.Samples, got.Frames, got.Whole)
			}
			for i, sum := range sums {
				if i >= len(got.Sums) || got.Sums[i] != strconv.FormatInt(sum, 10) {
					t.Errorf("sums %v, want %v", got.Sums, sums)
					break
				}
			}
			if !slices.Equal(got.Names, slices.Compact(names)) {
				t.Errorf("%d names of functions, want %d, or others", len(got.Names), len(names))
			}
		})
	}
}
