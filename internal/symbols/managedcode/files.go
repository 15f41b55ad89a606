package managedcode

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
)

const (
	maxFileSize = 512 << 20
	maxEntries  = 1 << 18 // files of all directories
)

// A tree finds files by name in directories that the user names. It lists them when it is first needed.
type tree struct {
	roots  []string
	byName map[string][]string // paths by lower-case name; nil until the first use
}

// find returns the paths of the files with a name, in the order of the directories.
func (t *tree) find(name string) []string {
	if t.byName == nil {
		t.byName = make(map[string][]string)
		left := maxEntries
		for _, root := range t.roots {
			t.list(root, &left)
		}
	}
	return t.byName[strings.ToLower(name)]
}

// list adds the assemblies and PDBs below root, which may also be a file. Directories that cannot be read are skipped.
func (t *tree) list(root string, left *int) {
	_ = filepath.WalkDir(symbolfiles.Walkable(root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if *left--; *left < 0 {
			return fs.SkipAll
		}
		switch name := strings.ToLower(d.Name()); filepath.Ext(name) {
		case ".dll", ".exe", ".pdb":
			if d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 {
				t.byName[name] = append(t.byName[name], path)
			}
		}
		return nil
	})
}

// base returns the name of the last element of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// sibling returns the path of a file next to another one, in the notation of its system.
func sibling(path, name string) string { return path[:strings.LastIndexAny(path, `/\`)+1] + name }

// pdbName returns the usual name of the PDB of an assembly.
func pdbName(assembly string) string { return dotnet.ShortModule(assembly) + ".pdb" }
