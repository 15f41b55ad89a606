package symbolfiles

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// kernelSymbols are the functions of a kernel and its modules, from copies of /proc/kallsyms and /proc/modules.
type kernelSymbols struct {
	path    string // of kallsyms, empty if there is none
	err     error
	text    []byte
	entries []kernelEntry
	modules []kernelModule // sorted by start
	named   uint64
}

// A kernelEntry is a line of kallsyms. Its name, with the module, is a part of the text.
type kernelEntry struct {
	start      uint64
	name, size uint32
	code       bool // a function; other symbols end functions
}

// A kernelModule is a line of /proc/modules.
type kernelModule struct{ start, end uint64 }

// maxKallsyms is the limit of kernel files in bytes. A kernel with all modules has 20 MB.
const maxKallsyms = 1 << 28

// maxKernelFunction bounds the distance of an address from the symbol before it.
const maxKernelFunction = 1 << 20

var (
	// errHidden means that all addresses of kallsyms are 0.
	errHidden = errors.New("all addresses are 0; copy /proc/kallsyms as root")
	errEmpty  = errors.New("no line has the format of /proc/kallsyms")
)

// isMissing reports whether a file does not exist or is not one that is read.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular)
}

// appendKernel appends the function of the kernel at an address.
func (f *Finder) appendKernel(dst []symbol.NativeFrame, a *symbol.NativeAddress) []symbol.NativeFrame {
	if f.explicit == 0 {
		return dst
	}
	if f.kernel == nil {
		f.kernel = f.openKernel()
	}
	k := f.kernel
	name, ok := k.find(a.PC)
	if !ok {
		return dst
	}
	k.named++
	return append(dst, symbol.NativeFrame{Function: ntconv.Function{Name: name}})
}

// openKernel reads the first copy of kallsyms, and the copy of modules next to it.
func (f *Finder) openKernel() *kernelSymbols {
	named := func(base string) bool { return strings.Contains(base, "kallsyms") }
	path, text, err := f.readText(maxKallsyms, named, "kallsyms", filepath.Join("proc", "kallsyms"))
	if path == "" {
		return new(kernelSymbols)
	}
	k := &kernelSymbols{path: path, err: err, text: text}
	if modules, err := ReadRegular(filepath.Join(filepath.Dir(path), "modules"), maxKallsyms); err == nil {
		k.readModules(modules)
	}
	k.parse()
	f.held += int64(len(text)) + int64(len(k.entries))*24
	return k
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

// parse reads lines of address, type, name, and module in brackets.
func (k *kernelSymbols) parse() {
	rest, off, hidden := k.text, 0, true
	for len(rest) > 0 && len(k.entries) < maxLines {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i]
		}
		if e, ok := kernelLine(line); ok {
			hidden = hidden && e.start == 0
			e.name += uint32(off)
			k.entries = append(k.entries, e)
		}
		n := min(len(line)+1, len(rest))
		rest, off = rest[n:], off+n
	}
	if len(k.entries) == 0 && k.err == nil {
		k.err = fmt.Errorf("%s: %w", k.path, errEmpty)
	}
	if hidden && k.err == nil {
		k.entries, k.err = nil, fmt.Errorf("%s: %w", k.path, errHidden)
	}
	slices.SortStableFunc(k.entries, func(a, b kernelEntry) int { return cmp.Compare(a.start, b.start) })
	k.entries = slices.CompactFunc(k.entries, func(a, b kernelEntry) bool { return a.start == b.start && a.code == b.code })
}

func kernelLine(line []byte) (e kernelEntry, ok bool) {
	text := strings.TrimRight(string(line[:min(len(line), maxPerfName)]), "\r")
	addr, rest, ok1 := strings.Cut(text, " ")
	typ, name, ok2 := strings.Cut(rest, " ")
	start, err := strconv.ParseUint(addr, 16, 64)
	if !ok1 || !ok2 || err != nil || len(typ) != 1 || name == "" || strings.HasPrefix(name, "__pfx_") {
		return e, false
	}
	e = kernelEntry{start: start, name: uint32(len(addr) + len(typ) + 2), size: uint32(len(name))}
	e.code = strings.Contains("tTwW", typ)
	return e, true
}

// readModules reads lines of name, size, users, dependencies, state and address.
func (k *kernelSymbols) readModules(text []byte) {
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 6 {
			continue
		}
		size, err := strconv.ParseUint(f[1], 10, 64)
		start, err2 := strconv.ParseUint(strings.TrimPrefix(f[5], "0x"), 16, 64)
		if err == nil && err2 == nil && start > 0 && size < math.MaxUint64-start {
			k.modules = append(k.modules, kernelModule{start, start + size})
		}
	}
	slices.SortFunc(k.modules, func(a, b kernelModule) int { return cmp.Compare(a.start, b.start) })
}

// find returns the name of the function at an address.
func (k *kernelSymbols) find(pc uint64) (string, bool) {
	i := sort.Search(len(k.entries), func(i int) bool { return k.entries[i].start > pc })
	for i--; i >= 0; i-- {
		e := &k.entries[i]
		if !e.code {
			if i > 0 && k.entries[i-1].start == e.start { // data and a function have this address
				continue
			}
			return "", false
		}
		if pc-e.start >= maxKernelFunction || k.moduleAt(pc) != k.moduleAt(e.start) {
			return "", false
		}
		name := string(k.text[e.name : e.name+e.size])
		return strings.Replace(name, "\t", " ", 1), true
	}
	return "", false
}

// moduleAt returns the number of the module at an address, -1 if there is none.
func (k *kernelSymbols) moduleAt(addr uint64) int {
	i := sort.Search(len(k.modules), func(i int) bool { return k.modules[i].start > addr }) - 1
	if i >= 0 && addr < k.modules[i].end {
		return i
	}
	return -1
}
