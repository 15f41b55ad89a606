package convert

import (
	"os"
	"runtime/debug"
)

// version returns the version of this module in the program, "unknown" if the binary does not contain it.
func version() string {
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

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// sameFile reports whether an input and an output are the same file or directory.
func sameFile(in, out string) bool {
	x, err := os.Stat(in)
	if err != nil || !x.Mode().IsRegular() && !x.IsDir() {
		return false
	}
	y, err := os.Stat(out)
	return err == nil && os.SameFile(x, y)
}
