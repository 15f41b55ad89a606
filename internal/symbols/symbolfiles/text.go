package symbolfiles

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"unsafe"
)

// Limits of text files.
const (
	maxPerfMap = 1 << 30 // bytes
	maxLines   = 1 << 24
)

// A symbolText is a text file with a symbol per line.
type symbolText struct {
	path    string // empty if there is none
	err     error
	text    []byte
	entries []textEntry
	named   uint64 // addresses
}

// A textEntry is a line of a symbolText. Its name is a part of the text.
type textEntry struct {
	start, end uint64 // of a perf map; kallsyms has no ends
	name, size uint32
	line       uint32 // its number among the valid ones
	code       bool   // a function; other symbols of kallsyms end functions
}

// parse reads the lines. Invalid lines are skipped: a runtime may still have been writing.
func (t *symbolText) parse(parse func(line []byte) (textEntry, bool)) {
	off := 0
	for line := range bytes.Lines(t.text) {
		if len(t.entries) == maxLines {
			break
		}
		if e, ok := parse(bytes.TrimSuffix(line, []byte("\n"))); ok {
			e.name += uint32(off)
			e.line = uint32(len(t.entries))
			t.entries = append(t.entries, e)
		}
		off += len(line)
	}
	slices.SortFunc(t.entries, func(a, b textEntry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.line, b.line))
	})
}

// after returns the number of the first entry after an address.
func (t *symbolText) after(pc uint64) int {
	return sort.Search(len(t.entries), func(i int) bool { return t.entries[i].start > pc })
}

// nameOf returns the name of an entry.
func (t *symbolText) nameOf(e *textEntry) string { return string(t.text[e.name : e.name+e.size]) }

// bytes returns the memory in use.
func (t *symbolText) bytes() int64 {
	return int64(len(t.text)) + int64(len(t.entries))*int64(unsafe.Sizeof(textEntry{}))
}

// readText reads the first file with one of the names below the paths of --symbols. A path that is a file is read
// if named accepts its name. The result has no path if there is no such file.
func (f *Finder) readText(limit int64, named func(base string) bool, names ...string) (path string, text []byte, err error) {
	for _, t := range f.trees[:f.explicit] {
		if t.single {
			if !named(filepath.Base(t.root)) {
				continue
			}
			if text, err = ReadRegular(t.root, limit); err == nil || !isMissing(err) {
				return t.root, text, err
			}
			continue
		}
		for _, name := range names {
			path = filepath.Join(t.root, name)
			if text, err = ReadRegular(path, limit); err == nil || !isMissing(err) {
				return path, text, err
			}
		}
	}
	return "", nil, nil
}

// isMissing reports whether a file does not exist or is not one that is read.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular)
}
