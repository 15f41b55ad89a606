package message

import "runtime/debug"

// ModuleVersion returns the version of this module in the program, which may be the command or one that imports the
// library, and "unknown" if the binary does not contain it.
func ModuleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const module = "github.com/ntconv/ntconv"
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
