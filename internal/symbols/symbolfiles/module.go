package symbolfiles

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
)

// A moduleKey identifies a mapped file.
type moduleKey struct{ file, buildID string }

// A module is a mapped file with what was found for it.
type module struct {
	moduleKey
	program, debug *elfFile
	object         *elfsym.Object // nil if nothing was found
	paths          []string       // of program and debug
	refused        []Refusal
	errs           []string // why files could not be read
	disagrees      bool     // program headers do not agree with the mapping
	outside        bool     // some address lies in no segment
	named          uint64   // addresses
}

// A Refusal is a file that was not used because it is of another build.
type Refusal struct {
	File     string `json:"file"`     // name of the file
	BuildID  string `json:"build_id"` // of the file, empty if it has none
	Want     string `json:"want"`     // build ID of the mapping, or of its program
	Mapping  string `json:"mapping"`  // name of the mapped file
	Explicit bool   `json:"explicit"` // the user named the directory
	Reason   string `json:"reason"`   // why it was refused
}

func (r Refusal) String() string {
	return fmt.Sprintf("%s: %s: build ID is %s, want %s of %s",
		r.File, r.Reason, cmp.Or(r.BuildID, "none"), cmp.Or(r.Want, "none"), r.Mapping)
}

// Short returns the refusal without what the mapping states.
func (r Refusal) Short() string {
	if r.BuildID == "" {
		return fmt.Sprintf("%s (%s)", r.File, r.Reason)
	}
	return fmt.Sprintf("%s (build %s)", r.File, r.BuildID)
}

// deleted is the suffix that the kernel appends to the path of a mapped file that was removed or replaced.
const deleted = " (deleted)"

// RecordedPath returns the path of a mapped file without that suffix.
func RecordedPath(file string) string { return strings.TrimSuffix(file, deleted) }

// search finds the files of a mapping.
func (f *Finder) search(key moduleKey) *module {
	m := &module{moduleKey: key}
	if f.held >= maxHeld {
		m.errs = append(m.errs, "too many symbols: those of other files occupy 4 GiB")
		return m
	}
	s := search{f: f, m: m, name: slashed(RecordedPath(key.file)), seen: make(map[string]bool)}
	s.paths()
	if !m.complete(f.set.Lines) {
		s.debugDirs()
	}
	if !m.complete(f.set.Lines) && f.set.Local {
		s.local()
	}
	if !m.complete(f.set.Lines) {
		s.links()
	}
	if !m.complete(f.set.Lines) {
		s.servers()
	}
	if m.program == nil && m.debug == nil {
		return m
	}
	object, err := elfsym.NewObject(m.program.elf(), m.debug.elf())
	if err != nil {
		m.errs = append(m.errs, err.Error())
	}
	if d := cmp.Or(m.debug, m.program); f.set.Lines && d.HasAlternateDebug() {
		m.errs = append(m.errs, "some names are in a file that several programs share (.gnu_debugaltlink), which is not supported")
	}
	m.object = object
	f.held += object.Size()
	if !f.set.Lines { // otherwise debug information is read on demand
		m.program.close()
		m.debug.close()
	}
	return m
}

// complete reports whether no further file could add anything.
func (m *module) complete(lines bool) bool {
	if m.program == nil {
		return false
	}
	has := func(test func(*elfsym.File) bool) bool {
		return test(m.program.File) || m.debug != nil && test(m.debug.File)
	}
	return has((*elfsym.File).HasSymbols) && (!lines || has((*elfsym.File).HasDebugInfo))
}

// A search is the search for the files of one mapping.
type search struct {
	f    *Finder
	m    *module
	name string          // path of the mapped file, with slashes
	seen map[string]bool // files that were tried
}

// slashed returns a path of any system with slashes.
func slashed(p string) string {
	if !strings.HasPrefix(p, "/") && strings.Contains(p, `\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// paths tries the directories and files that the user names.
func (s *search) paths() {
	for _, t := range s.f.trees[:s.f.explicit] {
		if t.single {
			s.single(t.root)
			continue
		}
		for _, p := range idPaths(t.root, s.m.buildID) {
			s.try(p, true)
		}
		base := path.Base(s.name)
		for _, p := range []string{s.name, base, s.name + ".debug", base + ".debug", base + ".dbg"} {
			s.try(below(t.root, p), true)
		}
		if name := vdsoName(base); name != "" {
			s.try(below(t.root, name), true)
		}
		if s.m.buildID == "" || s.m.complete(s.f.set.Lines) {
			continue
		}
		for _, p := range t.byID(s.m.buildID) {
			s.try(p, true)
		}
	}
}

// single tries a file that the user names. Without build IDs its name must be that of the mapping.
func (s *search) single(file string) {
	f, err := s.open(file)
	if err != nil {
		return
	}
	defer f.close()
	id, base := f.BuildID(), filepath.Base(file)
	same := base == path.Base(s.name) || strings.TrimSuffix(base, filepath.Ext(base)) == path.Base(s.name)
	if same || s.m.buildID != "" && sameID(s.m.buildID, id) {
		s.try(file, true)
	}
}

// vdsoName returns the name of the file from which the kernel maps [vdso].
func vdsoName(base string) string {
	if base == "[vdso]" {
		return "vdso64.so"
	}
	return ""
}

// idPaths returns the places of a build ID in a directory: those of gdb and of debuginfod's cache.
func idPaths(dir, id string) (list []string) {
	for _, id := range spellings(id) {
		if len(id) < 4 {
			continue
		}
		in := filepath.Join(dir, ".build-id", id[:2], id[2:])
		list = append(list, in, in+".debug", filepath.Join(dir, id, "executable"), filepath.Join(dir, id, "debuginfo"))
	}
	return list
}

// below returns the path of name below a directory. Elements such as .. cannot leave the directory.
func below(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(path.Clean("/"+name)))
}

// debugDirs tries the directories of separate debug files.
func (s *search) debugDirs() {
	if s.m.buildID == "" {
		return
	}
	for _, t := range s.f.trees[s.f.explicit:] {
		for _, p := range idPaths(t.root, s.m.buildID) {
			s.try(p, false)
		}
		s.try(below(t.root, s.name+".debug"), false)
	}
}

// local tries the path of the trace on this machine.
func (s *search) local() {
	if s.m.buildID != "" && IsLocal(s.name) {
		s.try(s.name, false)
	}
}

// links follows the debug link of the program: next to it, in .debug, and in the directories of debug files.
func (s *search) links() {
	if s.m.program == nil || len(s.m.paths) == 0 {
		return
	}
	name, crc := s.m.program.DebugLink()
	if name == "" {
		return
	}
	dir := filepath.Dir(s.m.paths[0])
	s.link(filepath.Join(dir, name), crc, s.m.program.explicit)
	s.link(filepath.Join(dir, ".debug", name), crc, s.m.program.explicit)
	for i, t := range s.f.trees {
		if !t.single {
			s.link(below(t.root, path.Join(path.Dir(s.name), name)), crc, i < s.f.explicit)
			s.link(below(t.root, name), crc, i < s.f.explicit)
		}
	}
}

// link tries a file to which the debug link of the program may refer.
func (s *search) link(file string, crc uint32, explicit bool) {
	if s.seen[file] || s.m.debug != nil {
		return
	}
	f, err := s.open(file)
	if err != nil {
		return
	}
	id := f.BuildID()
	if id != "" && s.m.program.BuildID() != "" {
		f.close()
		s.try(file, explicit)
		return
	}
	if got, err := f.CRC(); err != nil || got != crc { // older programs have only the checksum
		f.close()
		s.refuse(file, id, s.m.program.BuildID(), "checksum differs from that of the debug link", explicit)
		return
	}
	s.accept(f, file, explicit)
}

// servers asks the debuginfod servers.
func (s *search) servers() {
	if s.f.server == nil || s.m.buildID == "" {
		return
	}
	for _, kind := range []string{"executable", "debuginfo"} {
		if s.m.complete(s.f.set.Lines) {
			return
		}
		if kind == "executable" && s.m.program != nil {
			continue
		}
		for _, id := range spellings(s.m.buildID) {
			file, err := s.f.server.fetch(id, kind)
			if err != nil {
				if !errors.Is(err, errNotOnServer) {
					s.m.errs = append(s.m.errs, err.Error())
				}
				continue
			}
			refused := len(s.m.refused)
			if s.try(file, true); len(s.m.refused) > refused || s.m.program == nil && s.m.debug == nil {
				os.Remove(file) // it would be refused again by every further run
			}
			break
		}
	}
}

// An elfFile is an open ELF file. A nil *elfFile is none.
type elfFile struct {
	*elfsym.File
	content  *file
	explicit bool // the user named the place
}

// elf returns the file's symbols, or nil.
func (f *elfFile) elf() *elfsym.File {
	if f == nil {
		return nil
	}
	return f.File
}

// close closes the file. Its headers remain valid.
func (f *elfFile) close() {
	if f != nil {
		f.content.Close()
	}
}

// open opens an ELF file.
func (s *search) open(file string) (*elfFile, error) {
	r, err := openRegular(file)
	if err != nil {
		return nil, err
	}
	f, err := elfsym.New(r, r.size)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &elfFile{File: f, content: r}, nil
}

// try uses a file if it has the build ID of the mapping, or else that of the file found before. explicit says that the
// user named the place, so that a file of another build is worth a message.
func (s *search) try(file string, explicit bool) {
	if s.seen[file] || s.m.program != nil && s.m.debug != nil {
		return
	}
	s.seen[file] = true
	f, err := s.open(file)
	if err != nil {
		if explicit && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNotRegular) && !errors.Is(err, elfsym.ErrFormat) {
			s.m.errs = append(s.m.errs, fmt.Sprintf("%s: %v", file, err))
		}
		return
	}
	id, want := f.BuildID(), s.m.buildID
	if other := cmp.Or(s.m.program, s.m.debug); want == "" && other != nil {
		if want = other.BuildID(); want == "" || id == "" { // the debug link decides
			delete(s.seen, file)
			f.close()
			return
		}
	}
	switch {
	case want == "": // explicit places only; the program headers are compared per mapping
	case sameID(want, id), want == f.GoBuildID():
	default:
		f.close()
		s.refuse(file, id, want, "of another build", explicit)
		return
	}
	s.accept(f, file, explicit)
}

// refuse notes that a file with a build ID is not the wanted one.
func (s *search) refuse(file, id, want, reason string, explicit bool) {
	s.seen[file] = true
	s.m.refused = append(s.m.refused, Refusal{
		File: file, BuildID: id, Want: want, Mapping: s.m.file, Explicit: explicit, Reason: reason,
	})
}

// accept uses a file as the program, or as its debug file. The program before it was stripped also serves as the debug
// file of the stripped one.
func (s *search) accept(f *elfFile, file string, explicit bool) {
	f.explicit = explicit
	switch {
	case !f.DebugOnly() && s.m.program == nil:
		s.m.program = f
		s.m.paths = append([]string{file}, s.m.paths...)
	case s.m.debug == nil && (f.DebugOnly() || s.m.adds(f)):
		s.m.debug = f
		s.m.paths = append(s.m.paths, file)
	default:
		f.close()
	}
}

// adds reports whether a file has symbols or debug information that the program lacks.
func (m *module) adds(f *elfFile) bool {
	return f.HasSymbols() && !m.program.HasSymbols() || f.HasDebugInfo() && !m.program.HasDebugInfo()
}

// fullID is the number of digits of the build IDs that one-collect writes: it pads shorter ones with zeros.
const fullID = 40

// minID is the number of digits of the shortest build IDs that linkers write.
const minID = 16

// sameID reports whether a build ID of a trace is that of a file.
func sameID(trace, file string) bool {
	if file == "" {
		return false
	}
	trace = strings.ToLower(trace)
	return trace == file ||
		len(trace) == fullID && len(file) >= minID && len(file) < fullID && trace == file+strings.Repeat("0", fullID-len(file))
}

// spellings returns the build IDs that a recorded one may mean: itself, and without padding.
func spellings(id string) []string {
	id = strings.ToLower(id)
	if id == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return nil
	}
	list := []string{id}
	if len(id) == fullID {
		for _, n := range []int{16, 32} {
			if strings.Trim(id[n:], "0") == "" {
				list = append(list, id[:n])
			}
		}
	}
	return list
}
