package managedcode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/dotnet"
)

const (
	maxFileSize = 512 << 20
	maxTree     = 200_000 // files of all directories
)

// A tree finds files by name in directories that the user named. It lists them when it is first needed.
type tree struct {
	dirs   []string
	listed bool
	byName map[string][]string // paths by lower-case name
}

// find returns the paths of the files with a name, in the order of the directories.
func (t *tree) find(name string) []string {
	if !t.listed {
		t.listed, t.byName = true, make(map[string][]string)
		left := maxTree
		for _, dir := range t.dirs {
			t.list(dir, &left)
		}
	}
	return t.byName[strings.ToLower(name)]
}

// list adds the assemblies and PDBs below dir. Directories that cannot be read are skipped.
func (t *tree) list(dir string, left *int) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if *left--; *left < 0 {
			return fs.SkipAll
		}
		switch name := strings.ToLower(d.Name()); filepath.Ext(name) {
		case ".dll", ".exe", ".pdb":
			t.byName[name] = append(t.byName[name], path)
		}
		return nil
	})
}

// base returns the name of the last element of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// siblings returns the path of a file next to another one, in the notation of its system.
func sibling(path, name string) string { return path[:strings.LastIndexAny(path, `/\`)+1] + name }

// pdbName returns the usual name of the PDB of an assembly.
func pdbName(assembly string) string { return dotnet.ShortModule(assembly) + ".pdb" }

// readFile returns the contents of a regular file of limited size.
func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // before it is opened: opening a pipe waits for its writer
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileSize {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, int64(maxFileSize))
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}
