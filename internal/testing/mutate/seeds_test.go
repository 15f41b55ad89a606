package mutate_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	importpprof "github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/mutate"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// maxSeed is the size of files that are read a million times. Larger ones would make each edit rarer.
const maxSeed = 8 << 10

// traceSeeds returns small traces of all versions: parts of those in testdata, profiles that became traces, and inputs that were made to
// cost too much.
func traceSeeds(tb testing.TB) (seeds []*mutate.Seed) {
	add := func(name string, data []byte) {
		if len(data) > 200 && len(data) <= maxSeed {
			seeds = append(seeds, &mutate.Seed{Name: name, Form: mutate.Trace, Data: data})
		}
	}
	cuts := []mutate.Cut{{PerType: 1, Bytes: 1200, Frames: 10}, {PerType: 3, Skip: 40, Bytes: 2000, Frames: 6}, {PerType: 8, Skip: 200, Bytes: 600, Frames: 3}}
	for _, f := range corpus.Traces(tb) {
		for _, c := range cuts {
			data, err := c.Of(f.Data)
			if err != nil {
				tb.Fatalf("%s: %v", f.Name, err)
			}
			add(f.Name, data)
		}
	}
	for _, name := range corpus.HostileNames(tb) {
		if data := corpus.Hostile(tb, name).Data; bytes.HasPrefix(data, []byte("Nettrace")) { // others are compressed, and large
			add(name, data)
		}
	}
	for i, p := range smallProfiles(tb) {
		src, err := importpprof.New(bytes.NewReader(p), nil)
		if err != nil {
			tb.Fatal(err)
		}
		opts := &symbol.SynthesizeOptions{}
		if i%2 == 1 {
			opts.Addresses = symbol.AddressesSynthetic
		}
		add("profile", rewrite(tb, symbol.Synthesize(src, opts)))
	}
	return seeds
}

// rewrite returns a trace of what a source yields.
func rewrite(tb testing.TB, src ntconv.Source) []byte {
	var out bytes.Buffer
	w, err := writer.New(&out, src.Info(), nil)
	if err == nil {
		_, err = ntconv.Copy(w, src)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// smallProfiles returns profiles with few samples: with addresses, inlined functions, labels, and without mappings.
func smallProfiles(tb testing.TB) (out [][]byte) {
	whole, err := profile.ParseData(corpus.Read(tb, corpus.Path("go-cpu.pb.gz")))
	if err != nil {
		tb.Fatal(err)
	}
	for _, part := range [][2]int{{0, 4}, {20, 28}, {60, 62}} {
		p := whole.Copy()
		p.Sample = p.Sample[min(part[0], len(p.Sample)):min(part[1], len(p.Sample))]
		small := p.Compact()
		for i, s := range small.Sample {
			s.Label = map[string][]string{"endpoint": {"/cart"}}
			s.NumLabel = map[string][]int64{"bytes": {int64(i) << 20}}
			s.NumUnit = map[string][]string{"bytes": {"bytes"}}
			s.Location = s.Location[:min(len(s.Location), 8)]
		}
		if part[0] == 60 {
			for _, l := range small.Location {
				l.Mapping = nil
			}
			small.Mapping = nil
		}
		var b bytes.Buffer
		if err := small.Compact().WriteUncompressed(&b); err != nil {
			tb.Fatal(err)
		}
		out = append(out, b.Bytes())
	}
	return out
}

// exported returns what an exporter writes of each trace, with the names of the traces.
func exported(tb testing.TB, traces []*mutate.Seed, form mutate.Form, export exporter) (seeds []*mutate.Seed) {
	for _, s := range traces {
		out := output{}
		if _, err := convert(s.Data, &out, export, tb.TempDir()); err != nil {
			continue // a trace that was made to cost too much
		}
		if out.Len() > 100 && out.Len() <= 2*maxSeed {
			seeds = append(seeds, &mutate.Seed{Name: s.Name, Form: form, Data: bytes.Clone(out.Bytes())})
		}
	}
	return seeds
}

// stored returns the files of a directory of the module that match a pattern.
func stored(tb testing.TB, form mutate.Form, pattern string) (seeds []*mutate.Seed) {
	_, file, _, _ := runtime.Caller(0)
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(file), "..", "..", "..", filepath.FromSlash(pattern)))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no files at %s: %v", pattern, err)
	}
	for _, p := range paths {
		if data := corpus.Read(tb, p); len(data) <= 2*maxSeed {
			seeds = append(seeds, &mutate.Seed{Name: filepath.Base(p), Form: form, Data: data})
		}
	}
	return seeds
}
