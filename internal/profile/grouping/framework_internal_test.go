package grouping

import (
	"testing"

	"github.com/ntconv/ntconv"
)

// The files are those of real traces, of self-contained programs and of programs in directories of the system.
func TestClassOfFiles(t *testing.T) {
	for file, want := range map[string]class{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/System.Private.CoreLib.dll":                              framework,
		"/usr/share/dotnet/shared/Microsoft.AspNetCore.App/10.0.12/Microsoft.AspNetCore.Mvc.Core.dll":                    framework,
		`C:\Program Files\dotnet\shared\Microsoft.WindowsDesktop.App\8.0.0\PresentationUI.dll`:                           framework,
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/libcoreclr.so":                                           framework,
		"/usr/share/dotnet/host/fxr/10.0.12/libhostfxr.so":                                                               framework,
		"/home/user/.nuget/packages/microsoft.netcore.app.runtime.linux-x64/8.0.1/runtimes/linux-x64/lib/net8.0/Foo.dll": framework,
		"/usr/share/dotnet/dotnet":                                                 framework,
		"/app/bin/release/net5.0/osx-x64/System.Linq.dll":                          framework,
		"/app/bin/release/net5.0/osx-x64/Microsoft.Extensions.Hosting.dll":         framework,
		"/app/bin/release/net5.0/osx-x64/libclrjit.dylib":                          framework,
		`C:\Windows\assembly\NativeImages_v4.0\mscorlib.ni.dll`:                    framework,
		`C:\WINDOWS\System32\KernelBase.dll`:                                       framework,
		"System.Private.CoreLib.dll":                                               framework,
		"/usr/lib/x86_64-linux-gnu/libc.so.6":                                      framework,
		"/usr/lib/x86_64-linux-gnu/libssl.so.3":                                    framework,
		"/lib/ld-musl-x86_64.so.1":                                                 framework,
		"/usr/lib64/libicuuc.so.70":                                                framework,
		"[vdso]":                                                                   framework,
		"vmlinux":                                                                  framework,
		"/usr/share/dotnet/sdk/10.0.401/Roslyn/bincore/Microsoft.CodeAnalysis.dll": program,
		"/usr/lib/dotnet/sdk/10.0.401/Roslyn/bincore/csc.dll":                      program,
		"/usr/lib/jellyfin/bin/jellyfin.dll":                                       program,
		"/usr/lib/jellyfin/bin/libe_sqlite3.so":                                    program,
		"/app/Microsoft.EntityFrameworkCore.dll":                                   program,
		"/app/Microsoft.Data.SqlClient.dll":                                        program,
		"/app/OpenTelemetry.dll":                                                   framework,
		"/app/OpenTelemetry.Instrumentation.AspNetCore.dll":                        framework,
		"/app/OpenTelemetryDemo.dll":                                               program,
		"/app/SystemMonitor.dll":                                                   program,
		"/opt/shop/shop.dll":                                                       program,
		"/opt/shop/shared/shop.dll":                                                program,
		"/usr/bin/node":                                                            program,
		"/usr/lib/x86_64-linux-gnu/perl/5.36.0/auto/Digest/SHA/SHA.so":             program,
		"":                              generated,
		"[heap]":                        generated,
		"/memfd:doublemapper (deleted)": generated,
		"//anon":                        generated,
		"Anonymously Hosted DynamicMethods Assembly": generated,
	} {
		f := ntconv.Frame{Func: &ntconv.Function{Name: "x"}, Mapping: &ntconv.Mapping{File: file}, Flags: ntconv.FrameUnresolved}
		if got := classOf(&f); got != want {
			t.Errorf("%s: class %d, want %d", file, got, want)
		}
	}
}

// Without a file, names decide.
func TestClassOfNames(t *testing.T) {
	for _, c := range []struct {
		name, system string
		flags        ntconv.FrameFlags
		want         class
	}{
		{"System.Threading.Monitor.Wait(object)", "", ntconv.FrameManaged, framework},
		{"Monitor.Wait(object)", "System.Private.CoreLib!System.Threading.Monitor::Wait", 0, framework},
		{"Till.Scan()", "shop!Shop.Till::Scan", 0, program},
		{"Systems.Shop.Scan()", "", 0, program},
		{"main", "", 0, program},
		{"stub ReportStubBlock<MethodCallThunk>", "", 0, generated},
		{"dynamicClass.lambda_method4(?, ?, ?)", "", ntconv.FrameManaged, generated},
		{"dynamicClass.IL_STUB_PInvoke()", "", ntconv.FrameManaged, generated},
		{"0x7f0011223344", "", ntconv.FrameUnresolved, generated},
		{"do_syscall_64", "", ntconv.FrameKernel, framework},
	} {
		f := ntconv.Frame{Func: &ntconv.Function{Name: c.name, SystemName: c.system}, Flags: c.flags}
		if got := classOf(&f); got != c.want {
			t.Errorf("%s: class %d, want %d", c.name, got, c.want)
		}
	}
	if got := classOf(&ntconv.Frame{}); got != generated {
		t.Errorf("no function: class %d", got)
	}
}

// fixedMappings is a Namer with the mappings of one process.
type fixedMappings struct {
	ntconv.Namer
	list []*ntconv.Mapping
}

func (n fixedMappings) Mappings(*ntconv.Process) []*ntconv.Mapping { return n.list }

// The executable that starts an assembly belongs to the runtime; one without an assembly is a program.
func TestHost(t *testing.T) {
	app, tool := &ntconv.Mapping{File: "/opt/shop/shop"}, &ntconv.Mapping{File: "/opt/shop/tool"}
	namer := fixedMappings{new(ntconv.NoNames), []*ntconv.Mapping{app, tool, {File: "/opt/shop/shop.dll"}}}
	rules := Rules{JustMyCode: true}
	n := rules.Namer(namer)
	p := new(ntconv.Process)
	for m, want := range map[*ntconv.Mapping]string{app: frameworkFrame, tool: "main"} {
		s := &ntconv.Stack{Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: "main"}, Mapping: m}}}
		if got := n.AppendFrames(nil, p, s, 0)[0].Func.Name; got != want {
			t.Errorf("%s: %s, want %s", m.File, got, want)
		}
	}
}
