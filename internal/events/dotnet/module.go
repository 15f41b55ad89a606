package dotnet

import (
	"strconv"
	"strings"
)

// ShortModule returns the file name of a module without directory and without .dll, .exe and .ni.dll. Directories may
// be separated by / or \. Other extensions are kept, as in libcoreclr.so.
func ShortModule(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if n, ok := cutSuffixFold(name, ".dll"); ok {
		n, _ = cutSuffixFold(n, ".ni")
		return n
	}
	name, _ = cutSuffixFold(name, ".exe")
	return name
}

// Placeholder returns the name of an address without a symbol: the module and the offset in its file, or the address if
// file is empty. start is the address of the first mapped byte, and offset its offset in the file.
func Placeholder(file string, start, offset, pc uint64) string {
	if file == "" {
		return "0x" + strconv.FormatUint(pc, 16)
	}
	return ShortModule(file) + "+0x" + strconv.FormatUint(pc-start+offset, 16)
}

// cutSuffixFold removes an ASCII suffix, ignoring case, unless nothing would remain.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n <= 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}
