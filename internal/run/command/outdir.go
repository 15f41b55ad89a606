package command

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
)

// checkReplaced rejects an output directory that would replace a directory with an input or with files of other
// formats, even with -f: the directory is replaced as a whole, and files that ntconv has not written cannot be
// restored.
func checkReplaced(to *formats.Format, out string, inputs ...string) error {
	for _, in := range inputs {
		if isInside(in, out) {
			return failf(exitUsage,
				"%s: the output would replace the directory of the input (%s); choose another output", out,
				input.NameOf(in, 0))
		}
	}
	entries, err := store.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil // there is none, or the creation of the output gives the error
	case err != nil: // it may contain files that -f must not delete
		return outputFailure(&fileio.Error{Name: out, Op: "create", Bytes: -1, Err: err})
	}
	for _, e := range entries {
		if e.IsDir() || !hasExtension(to, e.Name()) {
			return failf(
				exitOutput,
				"%s: create: the directory exists and holds %s, which is not of format %s, and -f would delete it; choose another output",
				out,
				e.Name(),
				to.Name,
			)
		}
	}
	return nil
}

// hasExtension reports whether a name has an extension of a format, with or without that of a compression.
func hasExtension(to *formats.Format, name string) bool {
	for _, ext := range to.Exts {
		if strings.HasSuffix(name, ext) || strings.Contains(name, ext+".") {
			return true
		}
	}
	return false
}

// isInside reports whether a file is in a directory or in one of its subdirectories.
func isInside(name, dir string) bool {
	if store.Is(name) || store.Is(dir) {
		return strings.HasPrefix(store.Clean(name), store.Clean(dir)+"/") && store.Is(name)
	}
	at, err := filepath.Abs(name)
	if err != nil || name == "-" {
		return false
	}
	for parent := filepath.Dir(at); parent != at; at, parent = parent, filepath.Dir(parent) {
		if fileio.Same(parent, dir) {
			return true
		}
	}
	return false
}
