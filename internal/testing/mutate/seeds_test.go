package mutate_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	importpprof "github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/mutate"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// traceSeeds returns small traces of all versions: excerpts of those in testdata, traces converted from profiles, and
// adversarial inputs.
func traceSeeds(tb testing.TB) (seeds []*mutate.Seed) {
	seeds = mutate.Traces(tb)
	add := func(name string, data []byte) {
		if len(data) <= mutate.MaxSeed {
			seeds = append(seeds, &mutate.Seed{Name: name, Form: mutate.Trace, Data: data})
		}
	}
	for _, name := range corpus.HostileNames(tb) {
		// Others are compressed and large.
		if data := corpus.Hostile(tb, name).Data; bytes.HasPrefix(data, []byte("Nettrace")) {
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

// rewrite returns a trace with the events of a source.
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

// smallProfiles returns profiles with few samples: with addresses, inlined functions and labels, and without mappings.
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

// exported returns the output of an exporter for each trace, with the names of the traces.
func exported(tb testing.TB, traces []*mutate.Seed, export exporter) (seeds []*mutate.Seed) {
	for _, s := range traces {
		out := output{}
		if _, err := convert(s.Data, &out, export, tb.TempDir()); err != nil {
			continue // an adversarial trace
		}
		if out.Len() > 100 && out.Len() <= 2*mutate.MaxSeed {
			seeds = append(seeds, &mutate.Seed{Name: s.Name, Data: bytes.Clone(out.Bytes())})
		}
	}
	return seeds
}
