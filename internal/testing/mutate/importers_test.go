package mutate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	importchrome "github.com/ntconv/ntconv/importers/chrome"
	importfirefox "github.com/ntconv/ntconv/importers/firefox"
	importfolded "github.com/ntconv/ntconv/importers/folded"
	importotlp "github.com/ntconv/ntconv/importers/otlp"
	importparquet "github.com/ntconv/ntconv/importers/parquet"
	importpprof "github.com/ntconv/ntconv/importers/pprof"
	importspeedscope "github.com/ntconv/ntconv/importers/speedscope"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/mutate"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// An importer reads a format.
type importer struct {
	name string // also the name of an exporter
	open func(data []byte, tables map[string]*bytes.Buffer) (ntconv.Source, error)
}

func importers() []importer {
	return []importer{
		{"pprof", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importpprof.New(bytes.NewReader(data), nil)
		}},
		{"folded", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importfolded.New(bytes.NewReader(data), nil)
		}},
		{"otlp-json", importOTLP},
		{"otlp-proto", importOTLP},
		{"parquet", func(_ []byte, tables map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importparquet.New(memory(tables), nil)
		}},
		{"parquet-single", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importparquet.New(importparquet.File("events", bytes.NewReader(data), int64(len(data))), nil)
		}},
		{"chrome", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importchrome.New(bytes.NewReader(data), nil)
		}},
		{"firefox", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importfirefox.New(bytes.NewReader(data), nil)
		}},
		{"speedscope", func(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
			return importspeedscope.New(bytes.NewReader(data), nil)
		}},
	}
}

func importOTLP(data []byte, _ map[string]*bytes.Buffer) (ntconv.Source, error) {
	return importotlp.New(bytes.NewReader(data), nil)
}

// importerOf returns the importer with a name, or nil.
func importerOf(name string) *importer {
	for _, i := range importers() {
		if i.name == name {
			return &i
		}
	}
	return nil
}

// memory is a set of tables in memory.
type memory map[string]*bytes.Buffer

func (m memory) Names() []string { return slices.Sorted(maps.Keys(m)) }

func (m memory) Table(name string) (io.ReaderAt, int64, error) {
	return bytes.NewReader(m[name].Bytes()), int64(m[name].Len()), nil
}

// importTargets returns the targets that read other formats.
func importTargets(t *testing.T, traces []*mutate.Seed) (list []*target) {
	forms := map[string]mutate.Form{
		"pprof": mutate.Proto, "folded": mutate.Lines, "otlp-json": mutate.JSON, "otlp-proto": mutate.Proto, "parquet-single": mutate.Parquet,
		"chrome": mutate.JSON, "firefox": mutate.JSON, "speedscope": mutate.JSON,
	}
	files := map[string]string{
		"folded": "importers/folded/testdata/*.folded", "otlp-json": "importers/otlp/testdata/*.json.zst", "otlp-proto": "importers/otlp/testdata/*.binpb",
		"chrome": "importers/chrome/testdata/*", "firefox": "importers/firefox/testdata/*.json", "speedscope": "importers/speedscope/testdata/*.json",
	}
	dir := t.TempDir()
	for _, i := range importers() {
		if i.name == "parquet" {
			list = append(list, tablesTarget(t, traces, dir))
			continue
		}
		seeds := exported(t, traces, forms[i.name], exporterOf(i.name))
		if p := files[i.name]; p != "" {
			seeds = append(seeds, stored(t, forms[i.name], p)...)
		}
		if i.name == "pprof" {
			for _, p := range smallProfiles(t) {
				seeds = append(seeds, &mutate.Seed{Name: "go-cpu", Form: mutate.Proto, Data: p})
			}
		}
		list = append(list, &target{name: "from " + i.name, share: fullShare, seeds: seeds, check: checkImport(i, dir)})
	}
	legacy := *importerOf("pprof")
	return append(list, &target{name: "from pprof-legacy", share: fullShare, seeds: legacyProfiles(), check: checkImport(legacy, dir)})
}

// legacyProfiles returns profiles in the text and binary formats that preceded profile.proto.
func legacyProfiles() (seeds []*mutate.Seed) {
	for name, text := range map[string]string{
		"heap": "heap profile: 3: 1200 [ 9: 4096 ] @ heapprofile\n 1: 400 [ 2: 800 ] @ 0x452ab0 0x4531c3 0x45330f\n 2: 800 [ 7: 3296 ] @ 0x452ab0 0x45330f\n\n" +
			"MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 123 /bin/server\n",
		"heapz": "heap profile: 1: 32 [ 1: 32 ] @ heap_v2/524288\n1: 32 [1: 32] @ 0x1000 0x2000\nMAPPED_LIBRARIES:\n1000-9000: /bin/x\n",
		"growth": "heap profile:  2: 65536 [ 2: 65536 ] @ growthz\n 1: 32768 [ 1: 32768 ] @ 0x1000 0x2000\n 1: 32768 [ 1: 32768 ] @ 0x1000 0x3000\n" +
			"MAPPED_LIBRARIES:\n1000-9000 r-xp 00000000 00:00 0 /bin/x\n",
		"contention": "--- contentionz 1 ---\ncycles/second = 3201000000\nsampling period = 100\nms since reset = 16502830\ndiscarded samples = 0\n" +
			"  19490304       27 @ 0xbccc97 0xc61202 0x42ed5f\n  768       1 @ 0xbccc97 0xa42dc7\n--- Memory map: ---\n  00400000-00fcb000: cppbench_server_main\n",
		"thread": "--- threadz 1 ---\n\n--- Thread 7f794ab90940 (name: main/14748) stack: ---\n  PC: 0x40dc31 0x41a2b0: Run\n  0x42ed5f: main\n" +
			"--- Thread 7f794ab90941 (name: bg/14749) stack: ---\n [same as previous thread]\n--- Memory map: ---\n  00400000-00fcb000: server\n",
		"goroutine": "goroutine profile: total 3\n2 @ 0x40dc31 0x41a2b0\n#\t0x40dc31\tmain.run+0x11\t/src/main.go:12\n\n1 @ 0x42ed5f\n#\t0x42ed5f\tmain.main+0x3\t/src/main.go:3\n",
		"java":      "--- heapz 1 ---\nformat = java\nresolution = bytes\n     1024       2 @ 0x1 0x2\n  512       1 @ 0x2\n 0x1 com.shop.Till.scan (Till.java:12)\n 0x2 com.shop.Main.main (Main.java)\n",
	} {
		seeds = append(seeds, &mutate.Seed{Name: name, Form: mutate.Lines, Data: []byte(text)})
	}
	slices.SortFunc(seeds, func(a, b *mutate.Seed) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	cpu := []uint64{0, 3, 0, 10000, 0, 5, 2, 0x40dc31, 0x41a2b0, 1, 3, 0x40dc32, 0x41a2b0, 0x42ed5f, 0, 1, 0}
	var b []byte
	for _, v := range cpu {
		for i := range 8 {
			b = append(b, byte(v>>(8*i)))
		}
	}
	b = append(b, "00400000-00500000 r-xp 00000000 08:01 123 /bin/server\n"...)
	return append(seeds, &mutate.Seed{Name: "cpu", Data: b})
}

// checkImport reads a file. It writes one in four as a trace, which must be equal when read again, and one in eight as
// a profile, a timeline or tables.
func checkImport(i importer, dir string) func(uint64, []byte) (error, error) {
	view := laws.NewView()
	all := exporters()
	return func(n uint64, data []byte) (rejected, err error) {
		src, err := i.open(data, nil)
		if err != nil {
			return err, nil
		}
		return consume(n, src, view, all, func() (ntconv.Source, error) { return i.open(data, nil) }, dir)
	}
}

func consume(n uint64, src ntconv.Source, view *laws.View, all []exporter, again func() (ntconv.Source, error), dir string) (rejected, err error) {
	view.Reset(true)
	_, rejected = drain(src, view, 1<<20)
	switch {
	case rejected == nil && view.Changed():
		return nil, errors.New("a type, thread, stack or label list changed after it was delivered")
	case errors.Is(rejected, errEndless):
		return nil, rejected
	case rejected != nil:
		return rejected, nil
	}
	switch n / 3 % 8 {
	case 0, 1:
		if src, err = again(); err != nil {
			return nil, fmt.Errorf("accepted once, then: %w", err)
		}
		return nil, restored(src, again)
	case 2:
		if src, err = again(); err != nil {
			return nil, fmt.Errorf("accepted once, then: %w", err)
		}
		e := all[n/24%uint64(len(all))]
		if e.name == "parquet" && n/240%4 != 0 {
			return nil, nil // some twenty files
		}
		_, err = export(src, nil, new(ntconv.Report), new(output), e, dir)
	}
	return nil, err
}

// restored writes a source as a trace and compares the trace with the source.
func restored(src ntconv.Source, again func() (ntconv.Source, error)) error {
	var out bytes.Buffer
	src = symbolized(src)
	w, err := writer.New(&out, src.Info(), &writer.Options{AllowLarge: true})
	if err != nil {
		return unlessLimit(err)
	}
	_, err = ntconv.Copy(w, src)
	if err = errors.Join(err, w.Close()); err != nil {
		return unlessLimit(err)
	}
	read, err := reader.New(bytes.NewReader(out.Bytes()), &reader.Options{Order: reader.FileOrder})
	if err != nil {
		return fmt.Errorf("its trace: %w", err)
	}
	if _, err = drain(read, laws.NewView(), 1<<21); err != nil {
		return fmt.Errorf("its trace of %d bytes: %w", out.Len(), err)
	}
	return nil
}

// tablesTarget mutates one table of a trace at a time.
func tablesTarget(t *testing.T, traces []*mutate.Seed, dir string) *target {
	var wholes []map[string]*bytes.Buffer
	tg := &target{name: "from parquet", share: 3} // every mutant reads all tables
	owner := map[string]int{}
	for i, s := range traces {
		if i%6 != 0 {
			continue
		}
		out := output{}
		if _, err := convert(s.Data, &out, exporterOf("parquet"), dir); err != nil {
			continue
		}
		for _, table := range slices.Sorted(maps.Keys(out.tables)) {
			if b := out.tables[table].Bytes(); len(b) <= 2*mutate.MaxSeed {
				name := fmt.Sprintf("%s/%d/%s", s.Name, i, table)
				owner[name] = len(wholes)
				tg.seeds = append(tg.seeds, &mutate.Seed{Name: name, Form: mutate.Parquet, Data: b})
			}
		}
		wholes = append(wholes, out.tables)
	}
	view := laws.NewView()
	all := exporters()
	tg.check = func(n uint64, data []byte) (error, error) {
		seed := tg.mutator.Seed()
		tables := maps.Clone(wholes[owner[seed.Name]])
		tables[seed.Name[bytes.LastIndexByte([]byte(seed.Name), '/')+1:]] = bytes.NewBuffer(data)
		open := func() (ntconv.Source, error) { return importparquet.New(memory(tables), nil) }
		src, err := open()
		if err != nil {
			return err, nil
		}
		return consume(n, src, view, all, open, dir)
	}
	return tg
}
