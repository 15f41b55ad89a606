package symbolfiles

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// errNotRegular means that a path is not a regular file: opening it could block or have effects.
var errNotRegular = errors.New("not a regular file")

// A file is an open regular file of a known size. It is closed when the process ends or it is collected, if debug
// information is read on demand.
type file struct {
	*os.File
	size int64
}

// openRegular opens a regular file. It checks the file before and after opening, because a path may be replaced.
func openRegular(name string) (*file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errNotRegular)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", name, errNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{f, info.Size()}, nil
}

// IsLocal reports whether a path of a trace may be opened on this machine: it is absolute and not a file of the kernel.
func IsLocal(name string) bool {
	if runtime.GOOS == "windows" || !strings.HasPrefix(name, "/") {
		return false
	}
	name = path.Clean(name)
	return !slices.ContainsFunc([]string{"/proc/", "/sys/", "/dev/"}, func(d string) bool { return strings.HasPrefix(name, d) })
}

// ReadRegular returns the content of a regular file of at most limit bytes.
func ReadRegular(name string, limit int64) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.size > limit {
		return nil, fmt.Errorf("%s: %d bytes: limit %d", name, f.size, limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1)) // files of /proc have the size 0
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: limit %d bytes", name, limit)
	}
	return b, err
}
