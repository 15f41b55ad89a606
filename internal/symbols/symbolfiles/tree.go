package symbolfiles

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
)

// Bounds of the index of a directory.
const (
	maxEntries = 1 << 18
	maxDepth   = 32
)

// A tree is a directory with symbols, or a single file. Its index is built when a build ID is first looked up.
type tree struct {
	root   string
	single bool
	ids    map[string][]string // nil until the first use
}

func newTree(root string) *tree {
	info, err := os.Stat(root)
	return &tree{root: root, single: err == nil && !info.IsDir()}
}

// byID returns the ELF files with a build ID.
func (t *tree) byID(id string) (list []string) {
	if t.ids == nil {
		t.index()
	}
	for _, s := range spellings(id) {
		list = append(list, t.ids[s]...)
	}
	return list
}

// index reads the build IDs of all ELF files. Symbolic links to directories below the root are not followed, so that
// the walk ends.
func (t *tree) index() {
	t.ids = make(map[string][]string)
	n := 0
	_ = filepath.WalkDir(Walkable(t.root), func(name string, d fs.DirEntry, err error) error {
		if err != nil { // a directory that cannot be read
			return nil
		}
		if n++; n > maxEntries {
			return filepath.SkipAll
		}
		if d.IsDir() {
			if strings.Count(name[len(t.root):], string(filepath.Separator)) > maxDepth {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 {
			t.add(name)
		}
		return nil
	})
}

// Walkable returns the path with which filepath.WalkDir reads the directory root even if root is a symbolic link.
func Walkable(root string) string {
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		return strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)
	}
	return root
}

func (t *tree) add(name string) {
	r, err := openRegular(name)
	if err != nil {
		return
	}
	defer r.Close()
	f, err := elfsym.New(r, r.size)
	if err != nil {
		return
	}
	if id := f.BuildID(); id != "" {
		t.ids[id] = append(t.ids[id], name)
	}
}
