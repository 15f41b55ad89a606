package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Bounds on reading source files. The profile determines names and line numbers.
const (
	maxPathElements = 64       // of the name of a file; the last ones are tried
	maxSourceFile   = 16 << 20 // bytes
	maxSourceLine   = 1000     // bytes shown of a line
)

// sources are the directories in which source files are looked up.
type sources struct{ roots []*os.Root }

// openSources opens directories.
func openSources(dirs []string) (*sources, error) {
	s := &sources{}
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			s.close()
			return nil, fmt.Errorf("directory of sources: %w", err)
		}
		s.roots = append(s.roots, root)
	}
	return s, nil
}

func (s *sources) close() {
	for _, root := range s.roots {
		_ = root.Close() // nothing was written
	}
}

// errNoSource means that no directory contains a file.
var errNoSource = errors.New("in none of the directories given with --source")

// open opens a regular file by its name in a profile, which may come from another machine or operating system. It tries
// the whole name in each directory, then the name without its first element, and so on, so that the longest match wins.
// It returns the path of the file. os.Root does not follow symbolic links out of the directory.
func (s *sources) open(name string) (f *os.File, path string, err error) {
	for rest := range suffixes(name) {
		for _, root := range s.roots {
			// Opening a file that is not regular, such as a named pipe, could block.
			if info, err := root.Stat(rest); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if f, err := root.Open(rest); err == nil {
				return f, filepath.Join(root.Name(), rest), nil
			}
		}
	}
	return nil, "", errNoSource
}

// suffixes yields the suffixes of a file name that may be a path below a directory, the longest first. It omits
// elements up to the last "..", because their meaning depends on directories of another machine.
func suffixes(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var elements []string
		for element := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
			switch element {
			case ".":
			case "..":
				elements = elements[:0]
			default:
				elements = append(elements, element)
			}
		}
		elements = elements[max(0, len(elements)-maxPathElements):]
		for i := range elements {
			if rest := filepath.Join(elements[i:]...); filepath.IsLocal(rest) && !yield(rest) {
				return
			}
		}
	}
}

// A sourceLine is a line of a source file.
type sourceLine struct {
	Number int64
	Text   string
}

// lines returns the wanted lines of a file, in order, and the path of the file. Long lines are truncated.
func (s *sources) lines(name string, wanted map[int64]bool) (lines []sourceLine, path string, err error) {
	f, path, err := s.open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxSourceFile), maxSourceLine)
	for number := int64(1); len(lines) < len(wanted); number++ {
		text, err := r.ReadSlice('\n')
		if wanted[number] && len(text) > 0 {
			text := strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD")
			lines = append(lines, sourceLine{number, text})
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = r.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, path, err
		}
	}
	return lines, path, nil
}
