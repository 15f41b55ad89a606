package firefox

import (
	"sort"
	"strings"

	"github.com/ntconv/ntconv"
)

// frame returns the frame with number n. checkNames has validated all references.
func (f *file) frame(n uint32) ntconv.Frame {
	list := f.names.list
	t := list[sort.Search(len(list), func(i int) bool { return list[i].frameBase > n })-1]
	i := int(n - t.frameBase)
	fn := int(t.frames.fn[i])
	out := ntconv.Frame{Func: f.function(t, fn), Mapping: f.mapping(t, i, fn)}
	flags := cell(t.frames.flags, i)
	has := func(bit int32) bool { return flags == none || flags&bit != 0 }
	if line := cell(t.frames.line, i); line > 0 && has(frameLine) {
		out.Line = line
	}
	if column := cell(t.frames.column, i); column > 0 && has(frameColumn) {
		out.Column = column
	}
	if cell(t.frames.depth, i) > 0 || flags != none && flags&frameInlined != 0 {
		out.Flags |= ntconv.FrameInlined
	}
	if c := cell(t.frames.category, i); c >= 0 && int(c) < len(f.meta.categories) && has(frameCategory) {
		out.Flags |= flagsOf(f.meta.categories[c])
	}
	if t.funcs.isScript(fn) {
		out.Flags |= ntconv.FrameManaged
	}
	return out
}

// flagsOf returns the frame flags that the name of a category implies.
func flagsOf(category string) ntconv.FrameFlags {
	switch strings.ToLower(category) {
	case "kernel":
		return ntconv.FrameKernel
	case "managed", "javascript", "java", ".net", "dotnet":
		return ntconv.FrameManaged
	}
	return 0
}

func (t *funcTable) isScript(i int) bool {
	flags := cell(t.flags, i)
	return cell(t.isJS, i) == 1 || flags != none && flags&funcIsJS != 0
}

// has reports whether the cell is valid whose column has this bit in the column flags.
func (t *funcTable) has(i int, bit int32) bool {
	flags := cell(t.flags, i)
	return flags == none || flags&bit != 0
}

// function returns function i of t. Equal functions share one pointer.
func (f *file) function(t *tables, i int) *ntconv.Function {
	if t.functions == nil {
		t.functions = make([]*ntconv.Function, t.funcs.rows)
	}
	if t.functions[i] != nil {
		return t.functions[i]
	}
	stringArray := f.stringsOf(t)
	key := function{name: stringArray[t.funcs.name[i]]}
	if t.isGecko {
		l := locationOf(key.name)
		key = function{l.name, l.file, l.line}
	}
	file := cell(t.funcs.file, i)
	if s := cell(t.funcs.source, i); s >= 0 && t.funcs.has(i, funcSource) && int(s) < len(f.sourcesOf(t)) {
		file = f.sourcesOf(t)[s]
	}
	if file >= 0 {
		key.file = stringArray[file]
	}
	if line := cell(t.funcs.line, i); line > 0 && t.funcs.has(i, funcLine) {
		key.line = line
	}
	fn := f.names.functions[key]
	if fn == nil {
		fn = &ntconv.Function{Name: key.name, File: key.file, StartLine: key.line}
		f.names.functions[key] = fn
	}
	t.functions[i] = fn
	return fn
}

// mapping returns the library of a frame, or nil if it is unknown.
func (f *file) mapping(t *tables, frame, fn int) *ntconv.Mapping {
	if t.isGecko {
		return t.mapped[fn]
	}
	libs := f.libs
	if t.libs != nil {
		libs = t.libs
	}
	r := int(cell(t.funcs.resource, fn))
	library := cell(t.frames.lib, frame)
	var l lib
	if r >= 0 && r < t.resources.rows && t.funcs.has(fn, funcResource) {
		kind := cell(t.resources.kind, r)
		if n := cell(t.resources.name, r); n >= 0 && (kind == none || kind == kindLibrary) {
			l.path = f.stringsOf(t)[n]
		}
		if n := cell(t.resources.lib, r); n >= 0 {
			library = n
		}
	}
	if library >= 0 && int(library) < len(libs) && (l.path != "" || cell(t.frames.flags, frame) == none) {
		l = libs[library].identity()
	}
	return f.names.mappingOf(l)
}

// mappingOf returns the mapping for a library, or nil if it has no path. Equal libraries share one pointer.
func (n *names) mappingOf(l lib) *ntconv.Mapping {
	if l.path == "" {
		return nil
	}
	m := n.mappings[l]
	if m == nil {
		m = &ntconv.Mapping{File: l.path, BuildID: l.buildID}
		n.mappings[l] = m
	}
	return m
}
