package symbolfiles

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
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
	symbolText                // of kallsyms; the name of a function of a module includes the module
	modules    []kernelModule // sorted by start
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
	k := &kernelSymbols{symbolText: symbolText{path: path, err: err, text: text}}
	if modules, err := ReadRegular(filepath.Join(filepath.Dir(path), "modules"), maxKallsyms); err == nil {
		k.readModules(modules)
	}
	k.parse(kernelLine)
	k.check()
	f.held += k.bytes()
	return k
}

// check notes that a copy is of no use, and omits symbols that others of the same kind precede at their address.
func (k *kernelSymbols) check() {
	switch n := len(k.entries); {
	case k.err != nil:
	case n == 0:
		k.err = fmt.Errorf("%s: %w", k.path, errEmpty)
	case k.entries[n-1].start == 0:
		k.entries, k.err = nil, fmt.Errorf("%s: %w", k.path, errHidden)
	}
	k.entries = slices.CompactFunc(k.entries, func(a, b textEntry) bool { return a.start == b.start && a.code == b.code })
}

// kernelLine parses a line of address, type, name, and module in brackets.
func kernelLine(line []byte) (e textEntry, ok bool) {
	text := strings.TrimRight(string(line[:min(len(line), maxPerfName)]), "\r")
	addr, rest, ok1 := strings.Cut(text, " ")
	typ, name, ok2 := strings.Cut(rest, " ")
	start, err := strconv.ParseUint(addr, 16, 64)
	if !ok1 || !ok2 || err != nil || len(typ) != 1 || name == "" || strings.HasPrefix(name, "__pfx_") {
		return e, false
	}
	at := uint32(len(addr) + len(typ) + 2)
	return textEntry{start: start, name: at, size: uint32(len(name)), code: strings.Contains("tTwW", typ)}, true
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
	for i := k.after(pc) - 1; i >= 0; i-- {
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
		return strings.Replace(k.nameOf(e), "\t", " ", 1), true
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
