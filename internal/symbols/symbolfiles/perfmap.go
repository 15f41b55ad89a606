package symbolfiles

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// A perfKey identifies the perf map of a process.
type perfKey struct{ pid, namespace uint64 }

// A perfMap lists generated code of a process, as runtimes write it for perf: a line has the start and the size in
// hexadecimal, and a name (linux/tools/perf/Documentation/jit-interface.txt).
type perfMap struct{ symbolText }

// maxPerfEnclosing bounds the search for an entry around an address.
const maxPerfEnclosing = 64

// appendPerf appends the function of a perf map at an address. Only files below the directories of the user are read:
// a perf map does not state to which process it belongs, and process IDs are reused.
func (f *Finder) appendPerf(dst []symbol.NativeFrame, a *symbol.NativeAddress) []symbol.NativeFrame {
	if f.explicit == 0 || a.Host != "" {
		return dst
	}
	key := perfKey{a.PID, a.NamespacePID}
	p := f.perf[key]
	if p == nil {
		if len(f.perf) >= maxPerfMaps || f.held >= maxHeld {
			return dst
		}
		p = f.openPerf(key)
		f.perf[key] = p
	}
	name, ok := p.find(a.PC)
	if !ok {
		return dst
	}
	p.named++
	return append(dst, symbol.NativeFrame{Function: ntconv.Function{Name: name}, PerfMap: true})
}

// openPerf reads the perf map of a process: first by its ID, then by that in its own namespace.
func (f *Finder) openPerf(key perfKey) *perfMap {
	ids := []uint64{key.pid}
	if key.namespace != 0 && key.namespace != key.pid {
		ids = append(ids, key.namespace)
	}
	for _, id := range ids {
		name := fmt.Sprintf("perf-%d.map", id)
		named := func(base string) bool { return base == name }
		path, text, err := f.readText(maxPerfMap, named, name, filepath.Join("tmp", name))
		if path == "" {
			continue
		}
		p := &perfMap{symbolText{path: path, err: err, text: text}}
		p.parse(perfLine)
		f.held += p.bytes()
		return p
	}
	return new(perfMap)
}

// perfLine parses a line. The position of the name is relative to the line.
func perfLine(line []byte) (e textEntry, ok bool) {
	text := strings.TrimRight(string(line[:min(len(line), maxPerfName)]), "\r")
	start, rest, ok1 := strings.Cut(text, " ")
	size, name, ok2 := strings.Cut(rest, " ")
	from, err1 := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
	n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || name == "" || n == 0 || n > 1<<40 || from > ^uint64(0)-n {
		return e, false
	}
	return textEntry{start: from, end: from + n, name: uint32(len(start) + len(size) + 2), size: uint32(len(name))}, true
}

// maxPerfName bounds a line in bytes.
const maxPerfName = 1 << 14

// find returns the name of the code at an address. Among entries that contain it, the last line wins: the code before
// it was freed.
func (p *perfMap) find(pc uint64) (string, bool) {
	i := p.after(pc)
	var best *textEntry
	for tries := 0; i > 0 && tries < maxPerfEnclosing; tries++ {
		i--
		if e := &p.entries[i]; pc < e.end && (best == nil || e.line > best.line) {
			best = e
		}
	}
	if best == nil {
		return "", false
	}
	return p.nameOf(best), true
}
