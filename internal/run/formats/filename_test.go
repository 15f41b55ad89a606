package formats

import (
	"slices"
	"strings"
	"testing"
)

func TestOutputFor(t *testing.T) {
	for _, c := range []struct{ to, in, want string }{
		{"pprof", "dir/trace.nettrace", "trace.pb.gz"},
		{"pprof", "trace.nettrace.gz", "trace.pb.gz"},
		{"pprof", "trace.NETTRACE.zst", "trace.pb.gz"},
		{"pprof", "trace.netperf", "trace.pb.gz"},
		{"pprof", "trace.dat", "trace.dat.pb.gz"},
		{"pprof", "trace.dat.gz", "trace.dat.pb.gz"},
		{"pprof", ".nettrace", ".nettrace.pb.gz"},
		{"pprof", ".gz", ".gz.pb.gz"},
		{"pprof", "dir/cpu.pb.gz", "cpu.pb.gz"},
		{"pprof", "cpu.pprof.zst", "cpu.pb.gz"},
		{"nettrace", "q.pb.gz", "q.nettrace"},
		{"nettrace", "q.PB.GZ", "q.nettrace"},
		{"nettrace", "q.pb.gz.zst", "q.nettrace"},
		{"nettrace", "q.pprof", "q.nettrace"},
		{"nettrace", "q.nettrace.zst", "q.nettrace"},
	} {
		if got := ByName(Writable(), c.to).OutputFor(c.in); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.in, c.to, got, c.want)
		}
	}
}

// The name of an output states its format, in any case of its letters; a compression that no output has is a mismatch.
func TestByOutput(t *testing.T) {
	for _, f := range All() {
		for _, ext := range f.Exts {
			for _, name := range []string{"dir/x" + ext, "x" + strings.ToUpper(ext)} {
				got, compression := ByOutput(name)
				if got == nil || got.Name != f.Name || compression != "" || f.Mismatch(name) != "" {
					t.Errorf("%s: %v, %q, %q", name, got, compression, f.Mismatch(name))
				}
				for _, other := range All() {
					if (other.Mismatch(name) == "") != (other.Name == f.Name) {
						t.Errorf("%s as an output of %s: %q", name, other.Name, other.Mismatch(name))
					}
				}
			}
			for _, c := range compressionExts() {
				if ByFile(All(), "x"+ext+c) != nil {
					continue // .pb.gz is an extension of its own
				}
				got, compression := ByOutput("x" + ext + c)
				if got == nil || got.Name != f.Name || compression != c || (f.Mismatch("x"+ext+c) == "") != f.Compresses(c) {
					t.Errorf("x%s%s: %v, %q, %q", ext, c, got, compression, f.Mismatch("x"+ext+c))
				}
			}
		}
		if f.Mismatch("x") != "" || f.Mismatch("x.dat") != "" || f.Mismatch(f.OutputFor("x")) != "" {
			t.Errorf("%s: names without a format: %q, %q, %q", f.Name, f.Mismatch("x"), f.Mismatch("x.dat"), f.Mismatch(f.OutputFor("x")))
		}
	}
	if f, compression := ByOutput("x.GZ"); f != nil || compression != ".gz" {
		t.Errorf("a compression alone: %v, %q", f, compression)
	}
}

// speedscope rejects files of ours whose names end in .chrome.json, so no default name does, and another one gets a remark
// with a better name.
func TestNamesThatSpeedscopeRejects(t *testing.T) {
	for in, want := range map[string]string{"a.chrome.json": "a.json", "a.Chrome.nettrace": "a.json", "a.chrome.json.gz": "a.json", "a.chrome": "a.json"} {
		if got := chromeFormat().OutputFor(in); got != want {
			t.Errorf("the output for %s is %s, want %s", in, got, want)
		}
	}
	if got := chromeFormat().Mismatch("dir/a.chrome.json"); !strings.HasSuffix(got, "rename it to dir/a.trace.json") {
		t.Errorf("a.chrome.json: %q", got)
	}
	for _, name := range []string{"a.chrome.json.gz", "a.trace.json", "chrome.json", "a.profile.json"} {
		if f, _ := ByOutput(name); f.Mismatch(name) != "" {
			t.Errorf("%s: %q", name, f.Mismatch(name))
		}
	}
}

// Every extension of an input is one that ByOutput or ByFile knows.
func TestInputExts(t *testing.T) {
	exts := InputExts(Readable())
	for _, f := range Readable() {
		for _, e := range f.Exts {
			for _, c := range append(compressionExts(), "") {
				if !slices.Contains(exts, e[1:]+c) {
					t.Errorf("no %s%s in %q", e, c, exts)
				}
			}
		}
	}
	for _, e := range exts {
		if f, _ := ByOutput("x." + e); f == nil || f.In == nil {
			t.Errorf("%s is of no format that can be read", e)
		}
	}
}
