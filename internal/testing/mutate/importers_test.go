package mutate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	importparquet "github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/mutate"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// memory is a set of tables in memory.
type memory map[string]*bytes.Buffer

func (m memory) Names() []string { return slices.Sorted(maps.Keys(m)) }

func (m memory) Table(name string) (io.ReaderAt, int64, error) {
	return bytes.NewReader(m[name].Bytes()), int64(m[name].Len()), nil
}

// formOf returns the form of an input.
func formOf(data []byte) mutate.Form {
	text := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(data, []byte("PAR1")):
		return mutate.Parquet
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return mutate.JSON
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return mutate.Lines
	}
	return mutate.Proto
}

// importTargets returns the targets that read all readable formats but those of package reader. Their seeds are the
// examples of package readable and what the exporters write for the traces, a target for each form of a format.
func importTargets(t *testing.T, traces []*mutate.Seed) (list []*target) {
	dir := t.TempDir()
	targets := map[string]*target{}
	add := func(f *formats.Format, name string, data []byte) {
		form := formOf(data)
		key := "from " + f.Name + "-" + [...]string{"bytes", "trace", "json", "proto", "lines", "file"}[form]
		if targets[key] == nil {
			targets[key] = &target{name: key, share: fullShare, check: checkImport(f, dir)}
			list = append(list, targets[key])
		}
		targets[key].seeds = append(targets[key].seeds, &mutate.Seed{Name: name, Form: form, Data: data})
	}
	detect := func(name string, data []byte) {
		f, err := formats.Detect(formats.Readable(), name, data[:min(len(data), formats.HeadSize)])
		if err == nil && len(data) > 10 && len(data) <= 2*mutate.MaxSeed && !isTrace(f) {
			add(f, name, data)
		}
	}
	for _, x := range readable.Examples(t) {
		detect(x.Name, x.Data)
	}
	for _, p := range smallProfiles(t) {
		detect("go-cpu", p)
	}
	for _, e := range exporters() {
		for _, s := range exported(t, traces, e) {
			detect(s.Name, s.Data)
		}
	}
	pprof := formats.ByName(formats.Readable(), "pprof")
	for _, s := range legacyProfiles() {
		add(pprof, s.Name, s.Data)
	}
	return append(list, tablesTarget(t, traces, dir))
}

// isTrace reports whether package reader reads a format: traceTargets has its targets.
func isTrace(f *formats.Format) bool { return f.Name == "nettrace" || f.Name == "netperf" }

// TestTargets checks that the campaign reads and writes every format of the table.
func TestTargets(t *testing.T) {
	c := newCampaign(t)
	for _, f := range formats.All() {
		has := func(verb string) bool {
			return slices.ContainsFunc(c.targets, func(tg *target) bool {
				words := strings.FieldsFunc(tg.name, func(r rune) bool { return r == ' ' || r == '-' })
				return len(tg.seeds) > 0 && len(words) > 1 && words[0] == verb && words[1] == f.Name
			})
		}
		if f.In != nil && !isTrace(f) && !has("from") {
			t.Errorf("no target reads %s: there is no example of at most %d bytes", f.Name, 2*mutate.MaxSeed)
		}
		if f.Out != nil && !isTrace(f) && !has("to") {
			t.Errorf("no target writes %s: exporters has none of this name", f.Name)
		}
	}
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
func checkImport(f *formats.Format, dir string) func(uint64, []byte) (error, error) {
	view := laws.NewView()
	all := exporters()
	return func(n uint64, data []byte) (rejected, err error) {
		open := func() (ntconv.Source, error) { return readable.Open(f, data, nil) }
		src, err := open()
		if err != nil {
			return err, nil
		}
		return consume(n, src, view, all, open, dir)
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
	tg := &target{name: "from parquet tables", share: 3} // every mutant reads all tables
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
