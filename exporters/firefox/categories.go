package firefox

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Categories of frames and markers: indexes of categories.
const (
	categoryOther = iota
	categoryManaged
	categoryRuntime
	categoryNative
	categoryKernel
	categoryGC
	categoryJIT
	categoryWait
	categorySpan
	categoryException
	categoryEvent
	categoryLoss
)

// categories lists the categories with colors that the Firefox Profiler knows. The first grey category is its default.
var categories = [...]struct{ name, color string }{
	categoryOther:     {"Other", "grey"},
	categoryManaged:   {".NET", "blue"},
	categoryRuntime:   {"Runtime", "purple"},
	categoryNative:    {"Native", "lightblue"},
	categoryKernel:    {"Kernel", "orange"},
	categoryGC:        {"GC", "orange"},
	categoryJIT:       {"JIT", "magenta"},
	categoryWait:      {"Wait", "brown"},
	categorySpan:      {"Span", "green"},
	categoryException: {"Exception", "red"},
	categoryEvent:     {"Event", "yellow"},
	categoryLoss:      {"Lost events", "darkgrey"},
}

// runtimeModules are the native parts of .NET: file names in lower case, without the prefix "lib" and the extension.
var runtimeModules = map[string]bool{
	"coreclr": true, "clrjit": true, "clrgc": true, "clrgcexp": true, "clr": true, "mscordaccore": true, "hostfxr": true, "hostpolicy": true,
	"mscorwks": true, "monosgen-2.0": true, "system.native": true, "system.globalization.native": true, "system.io.compression.native": true,
	"system.net.security.native": true, "system.security.cryptography.native.openssl": true,
}

// categoryOf returns the category of a frame.
func categoryOf(f *ntconv.Frame) int {
	switch {
	case f.Flags&ntconv.FrameKernel != 0:
		return categoryKernel
	case f.Flags&ntconv.FrameManaged != 0:
		return categoryManaged
	case f.Flags&ntconv.FrameLabel != 0 || f.Mapping == nil || f.Mapping.File == "":
		return categoryOther
	}
	name := strings.TrimPrefix(strings.ToLower(baseName(f.Mapping.File)), "lib")
	name, _, _ = strings.Cut(name, ".so")
	if runtimeModules[strings.TrimSuffix(strings.TrimSuffix(name, ".dll"), ".dylib")] {
		return categoryRuntime
	}
	return categoryNative
}

// baseName returns the last element of a path of any operating system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// A class describes how the markers of an item category are shown.
type class struct {
	category int
	// single means that all markers of the category share one schema. Otherwise each name has a schema.
	single bool
	// overview means that the markers also appear above the list of threads.
	overview bool
}

// classOf returns the class of an item category. Every category that it does not list is a provider of events.
func classOf(category string) class {
	switch category {
	case timeline.CategorySpan, timeline.CategoryRequest:
		return class{categorySpan, true, true}
	case timeline.CategoryGC:
		return class{categoryGC, true, true}
	case timeline.CategoryJIT:
		return class{categoryJIT, true, true}
	case timeline.CategoryContention, timeline.CategoryWait:
		return class{categoryWait, true, true}
	case timeline.CategoryException:
		return class{categoryException, true, true}
	case timeline.CategoryLoss:
		return class{categoryLoss, true, true}
	}
	return class{categoryEvent, false, false}
}
