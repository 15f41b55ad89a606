package pprof_test

import (
	"path"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/reader"
)

// The first mapping is the program, which pprof names as the profiled file.
func TestFirstMapping(t *testing.T) {
	core := &ntconv.Mapping{Start: 1, Limit: 2, File: "/usr/share/dotnet/System.Private.CoreLib.dll"}
	web := &ntconv.Mapping{Start: 3, Limit: 4, File: `C:\srv\Web.dll`}
	host := &ntconv.Mapping{Start: 5, Limit: 6, File: "/usr/bin/dotnet"}
	lib := &ntconv.Mapping{Start: 7, Limit: 8, File: "/srv/Lib.dll"}
	for _, c := range []struct {
		name    string
		process ntconv.ProcessInfo
		modules []*ntconv.Mapping
		want    string
	}{
		{"named after the process", ntconv.ProcessInfo{Name: "Web"}, []*ntconv.Mapping{core, host, lib, web}, web.File},
		{"named after the program file", ntconv.ProcessInfo{Name: "Web.exe"}, []*ntconv.Mapping{core, host, lib, web}, web.File},
		{"run by dotnet", ntconv.ProcessInfo{Name: "dotnet", CommandLine: `/usr/bin/dotnet exec "/srv/Web.dll" --urls Lib.dll`}, []*ntconv.Mapping{core, host, lib, web}, web.File},
		{"program that is not a module", ntconv.ProcessInfo{Name: "shop"}, []*ntconv.Mapping{core, host, lib, web}, "shop"},
		{"command line that names no module", ntconv.ProcessInfo{CommandLine: `dotnet "/srv/My Till.dll" Lib`}, []*ntconv.Mapping{core, host, web}, "My Till"},
		{"run by dotnet, without a command line", ntconv.ProcessInfo{Name: "dotnet"}, []*ntconv.Mapping{core, host, lib, web}, host.File},
		{"run by dotnet, without modules", ntconv.ProcessInfo{Name: "dotnet"}, nil, "dotnet"},
		{"not known: where stacks begin, but for the runtime", ntconv.ProcessInfo{}, nil, web.File},
		{"program without a sample", ntconv.ProcessInfo{Name: "dotnet", CommandLine: "dotnet Other.dll"}, []*ntconv.Mapping{{Start: 9, Limit: 10, File: "/srv/Other.dll"}}, "/srv/Other.dll"},
	} {
		namer := (&table{process: c.process, modules: c.modules}).in(core, 1, "c").in(lib, 7, "l").in(web, 3, "w")
		at := func(pcs ...uint64) *ntconv.Stack { return &ntconv.Stack{PCs: pcs} }
		p := export(t, testInfo(), namer, nil,
			sampled(till, 0, at(1)), sampled(till, 1000, at(7, 3)), sampled(till, 1100, at(7, 1)), sampled(till, 2000, at(3)), sampled(till, 2001, at(3, 1)))
		if len(p.Mapping) < 3 {
			t.Fatalf("%s: mappings %v", c.name, p.Mapping)
		}
		if got := p.Mapping[0]; got.File != c.want || !got.HasFunctions {
			t.Errorf("%s: first mapping %+v, want %s", c.name, *got, c.want)
		}
	}
}

// A recording without rundown has no modules. Its profile has the name of the process, which is not that of a library.
func TestProfileIsNamedAfterProcess(t *testing.T) {
	for trace, want := range map[string]string{
		"cpu-norundown": "shop", // a command line of shop
		"cpu-env":       "shop.dll",
	} {
		p := convert(t, trace, reader.ByTime, &pprof.Options{})
		if len(p.Mapping) == 0 || path.Base(p.Mapping[0].File) != want || !p.Mapping[0].HasFunctions {
			t.Errorf("%s: mappings %+v, want %s first", trace, p.Mapping, want)
		}
	}
}

// Without assemblies it is the module with the most time.
func TestFirstMappingOfNativeCode(t *testing.T) {
	libc := &ntconv.Mapping{Start: 1, Limit: 2, File: "/lib/libc.so.6"}
	perl := &ntconv.Mapping{Start: 3, Limit: 4, File: "/usr/bin/perl"}
	namer := (&table{}).in(libc, 1, "c").in(perl, 3, "p")
	p := export(t, testInfo(), namer, nil, sampled(till, 0, &ntconv.Stack{PCs: []uint64{1}}), sampled(till, 10, &ntconv.Stack{PCs: []uint64{3, 1}}), sampled(till, 100, &ntconv.Stack{PCs: []uint64{1}}))
	if p.Mapping[0].File != perl.File {
		t.Errorf("first mapping %+v", *p.Mapping[0])
	}
}

// An inlined frame may have a mapping that differs from that of its location. The profile does not refer to this
// mapping, so it cannot be the first one.
func TestFirstMappingIsOneOfALocation(t *testing.T) {
	outer := &ntconv.Mapping{Start: 1, Limit: 2, File: "/srv/Outer.dll"}
	inner := &ntconv.Mapping{Start: 3, Limit: 4, File: "/srv/Inner.dll"}
	native := &ntconv.Mapping{Start: 5, Limit: 6, File: "/usr/bin/perl"}
	for _, c := range []struct {
		name  string
		outer *ntconv.Mapping
		want  []string
	}{
		{"none has one", nil, nil},
		{"the location has another", outer, []string{outer.File}},
		{"the location's is not an assembly", native, []string{native.File}},
	} {
		frames := []ntconv.Frame{
			{Func: &ntconv.Function{Name: "inner"}, PC: 3, Mapping: inner, Flags: ntconv.FrameInlined},
			{Func: &ntconv.Function{Name: "outer"}, PC: 1, Mapping: c.outer},
		}
		p := export(t, testInfo(), &table{}, nil, sampled(till, 0, &ntconv.Stack{Frames: frames}), sampled(till, 10, &ntconv.Stack{Frames: frames}))
		var got []string
		for _, m := range p.Mapping {
			got = append(got, m.File)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: mappings %q, want %q", c.name, got, c.want)
		}
	}
}
