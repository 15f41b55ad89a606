package recording

import (
	"cmp"
	"strings"
)

// Values of service.name for a program without a name (semantic conventions of resources).
const (
	UnknownService = "unknown_service:dotnet" // of .NET
	UnknownProgram = "unknown_service"        // of any kind
)

// serviceName returns the entry assembly or executable of a command line, without directory and extension: App for
// "/usr/bin/dotnet exec App.dll args" and for "/srv/App args". Without a command line it uses name.
func serviceName(command, name string) string {
	words := commandWords(command)
	if len(words) == 0 {
		words = []string{name}
	}
	program := programName(words[0])
	if !strings.EqualFold(program, "dotnet") {
		return cmp.Or(program, UnknownService)
	}
	for _, w := range words[1:] {
		if base := programName(w); isAssembly(w) && base != "" {
			return base
		}
	}
	return UnknownService
}

// commandWords splits a command line at spaces outside quotation marks.
func commandWords(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		if rest, ok := strings.CutPrefix(line, `"`); ok {
			word, line, _ = strings.Cut(rest, `"`)
		} else if i := strings.IndexAny(line, " \t"); i >= 0 {
			word, line = line[:i], line[i:]
		} else {
			word, line = line, ""
		}
		words = append(words, word)
	}
	return words
}

// isAssembly reports whether the extension of a file is one of managed code.
func isAssembly(path string) bool { return programName(path) != baseName(path) }

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// programName returns the name of a file without directory and without .dll or .exe.
func programName(path string) string {
	base := baseName(path)
	if i := len(base) - len(".dll"); i > 0 &&
		(strings.EqualFold(base[i:], ".dll") || strings.EqualFold(base[i:], ".exe")) {
		return base[:i]
	}
	return base
}
