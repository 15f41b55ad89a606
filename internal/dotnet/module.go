package dotnet

import "strings"

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

// cutSuffixFold removes an ASCII suffix, ignoring case, unless nothing would remain.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n <= 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}
