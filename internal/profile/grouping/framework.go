package grouping

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// A class is the owner of a frame's code.
type class uint8

const (
	program   class = iota // the program and its packages
	framework              // the runtime, the framework or the operating system
	generated              // code without a file, which belongs to its caller
)

// classOf returns the class of a frame. The file of its module decides: its directory, or else its name, because a
// program that was published with its own runtime has all assemblies in one directory. Without a file the module that
// the function's system name begins with decides, or else the namespace.
//
// Names that begin with Microsoft do not suffice: many packages have them. The prefixes below are those of assemblies
// of the shared frameworks. Packages that have the same prefixes, such as System.CommandLine, count as framework.
func classOf(f *ntconv.Frame) class {
	if f.Flags&ntconv.FrameKernel != 0 {
		return framework
	}
	file := ""
	if f.Mapping != nil {
		file = f.Mapping.File
	}
	switch {
	case file == "" || isGenerated(file):
		return classByName(f)
	case isAssembly(file):
		return frameworkIf(inFrameworkDir(file) || isFrameworkAssembly(dotnet.ShortModule(file)))
	}
	return frameworkIf(inFrameworkDir(file) || isSystemLibrary(file))
}

// IsProgram reports whether the code of a frame belongs to the program or one of its packages. It is false for code of
// the runtime, the framework and the operating system, and for generated code, which belongs to its caller.
func IsProgram(f *ntconv.Frame) bool { return f.Flags&ntconv.FrameLabel == 0 && classOf(f) == program }

func frameworkIf(is bool) class {
	if is {
		return framework
	}
	return program
}

// isGenerated reports whether a mapping with this name holds code that was generated at run time.
func isGenerated(file string) bool {
	switch {
	case strings.HasPrefix(file, "/memfd:"), strings.HasPrefix(file, "//anon"), strings.HasPrefix(file, "Anonymously Hosted "):
		return true
	}
	return file[0] == '[' && !isKernelObject(file)
}

// isKernelObject reports whether a mapping with this name holds code that the kernel provides.
func isKernelObject(file string) bool {
	return file == "[vdso]" || file == "[vsyscall]" || strings.HasPrefix(file, "[kernel") || strings.HasPrefix(file, "vmlinux")
}

// classByName returns the class of a frame without a file.
func classByName(f *ntconv.Frame) class {
	if f.Flags&ntconv.FrameUnresolved != 0 || f.Func == nil {
		return generated
	}
	name := f.Func.SystemName
	if module, method, ok := strings.Cut(name, "!"); ok && !strings.ContainsAny(module, " (<") {
		if isFrameworkAssembly(module) {
			return framework
		}
		name = method
	}
	for _, name := range []string{name, f.Func.Name} {
		switch {
		case strings.HasPrefix(name, "stub "), strings.HasPrefix(name, "dynamicClass."), strings.Contains(name, "IL_STUB_"):
			return generated
		case isFrameworkAssembly(name):
			return framework
		}
	}
	return program
}

// isAssembly reports whether a file has the name of an assembly. Windows libraries have it as well.
func isAssembly(file string) bool {
	return dotnet.ShortModule(file) != file[strings.LastIndexAny(file, `/\`)+1:]
}

// frameworkPrefixes are the prefixes of names of assemblies, and of namespaces, of the shared frameworks
// Microsoft.NETCore.App, Microsoft.AspNetCore.App and Microsoft.WindowsDesktop.App, and of OpenTelemetry, which observes the
// program like a part of the runtime.
var frameworkPrefixes = [...]string{
	"System.", "Microsoft.AspNetCore.", "Microsoft.Extensions.", "Microsoft.Win32.", "Microsoft.JSInterop.",
	"Microsoft.VisualBasic.", "Microsoft.Net.Http.", "Internal.", "Interop.", "PresentationFramework.",
	"OpenTelemetry.",
}

// frameworkModules are the names of modules of the runtime without a prefix of frameworkPrefixes: assemblies, and
// libraries of Windows.
var frameworkModules = map[string]bool{
	"opentelemetry": true, "system": true, "mscorlib": true, "netstandard": true, "microsoft.csharp": true, "microsoft.visualbasic": true,
	"windowsbase": true, "presentationcore": true, "presentationframework": true, "directwriteforwarder": true,
	"coreclr": true, "clr": true, "clrjit": true, "clrgc": true, "clretwrc": true, "mscordaccore": true, "mscordbi": true,
	"mscorwks": true, "hostfxr": true, "hostpolicy": true, "dotnet": true, "microsoft.jsinterop": true,
	"ntdll": true, "kernel32": true, "kernelbase": true, "ucrtbase": true, "msvcrt": true, "vcruntime140": true,
	"ntoskrnl": true, "win32u": true, "user32": true, "ws2_32": true, "mswsock": true, "bcrypt": true, "wow64": true,
}

// isFrameworkAssembly reports whether a module or a qualified name belongs to the framework by its name. module has no
// directory and no extension.
func isFrameworkAssembly(module string) bool {
	for _, prefix := range frameworkPrefixes {
		if strings.HasPrefix(module, prefix) {
			return true
		}
	}
	return frameworkModules[strings.ToLower(module)]
}

// inFrameworkDir reports whether a file is in a directory of the runtime, of a shared framework or of Windows.
func inFrameworkDir(file string) bool {
	path := strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	if _, rest, ok := strings.Cut(path, "/shared/microsoft."); ok {
		name, _, _ := strings.Cut(rest, "/")
		return strings.HasSuffix(name, ".app")
	}
	if _, rest, ok := strings.Cut(path, "/microsoft."); ok && strings.Contains(rest, ".app.runtime.") {
		return true // a package with the runtime for one platform
	}
	for _, dir := range [...]string{
		"/host/fxr/", "/windows/system32/", "/windows/syswow64/", "/windows/winsxs/", "/windows/microsoft.net/", "/windows/assembly/",
	} {
		if strings.Contains(path, dir) {
			return true
		}
	}
	return false
}

// systemLibraries are prefixes of names of native libraries: those of the runtime, which may be in the directory of the
// program, and those of the C library.
var systemLibraries = [...]string{
	"libcoreclr", "libclr", "libhostfxr", "libhostpolicy", "libmscor", "libSystem.", "ld-linux", "ld-musl", "ld-2.",
	"libc.so", "libc-2.", "libc.musl", "libm.so", "libpthread", "libdl", "librt", "libgcc_s.", "libstdc++.", "vmlinux", "[vdso]",
	"[vsyscall]", "[kernel", "libsystem_", "dyld",
}

// isSystemLibrary reports whether a native file belongs to the runtime or to the operating system. Libraries directly
// in a directory of libraries belong to the system; those of programs are in directories below.
func isSystemLibrary(file string) bool {
	dir, name := file[:strings.LastIndexByte(file, '/')+1], file[strings.LastIndexByte(file, '/')+1:]
	if name == "dotnet" {
		return true
	}
	for _, prefix := range systemLibraries {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if !strings.HasPrefix(name, "lib") {
		return false
	}
	dir = strings.TrimPrefix(dir, "/usr")
	switch dir {
	case "/lib/", "/lib64/", "/lib32/":
		return true
	}
	parts := strings.Split(dir, "/") // "", "lib", "x86_64-linux-gnu", ""
	return len(parts) == 4 && parts[1] == "lib" && strings.Contains(parts[2], "-linux-")
}
