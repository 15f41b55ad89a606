package dotnet

import "strings"

// ShortModule returns the file name of a module without directory, .dll, .exe and .ni.dll. Directories may be separated by / or \.
// Other extensions belong to the name, as in libcoreclr.so.
func ShortModule(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if n, ok := cutSuffixFold(name, ".dll"); ok {
		n, _ = cutSuffixFold(n, ".ni")
		return n
	}
	name, _ = cutSuffixFold(name, ".exe")
	return name
}

// cutSuffixFold cuts an ASCII suffix of any case, unless nothing would be left.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n <= 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// Bits of MethodFlags in method load and unload events (ClrEtwAll.man, MethodFlagsMap).
const (
	flagDynamic = 0x1
	flagJitted  = 0x8
	tierShift   = 7
	tierMask    = 7
)

// Tier returns how a method was compiled, from the MethodFlags of its load event: QuickJitted (tier 0), OptimizedTier1,
// OptimizedTier1OSR, Optimized (not tiered), MinOptJitted (not optimized on demand), QuickJittedInstrumented, OptimizedTier1Instrumented,
// or ReadyToRun for code from the assembly's file. It is empty if the runtime does not tell, as those before .NET Core 3 and for stubs.
func Tier(flags uint32) string {
	switch flags >> tierShift & tierMask {
	case 1:
		return "MinOptJitted"
	case 2:
		return "Optimized"
	case 3:
		return "QuickJitted"
	case 4:
		return "OptimizedTier1"
	case 5:
		return "OptimizedTier1OSR"
	case 6:
		return "QuickJittedInstrumented"
	case 7:
		return "OptimizedTier1Instrumented"
	}
	if flags&(flagDynamic|flagJitted) == 0 {
		return "ReadyToRun"
	}
	return ""
}
