package elfsym

import "errors"

// An Object resolves addresses of one program or library, with its separate debug file if there is one. It is not safe
// for concurrent use.
type Object struct {
	symbols *Table
	gofuncs *goTable // nil if there is none
	debug   *File    // the file with debug information, nil if there is none
	dwarf   *dwarfData
	tried   bool // debug was read
	err     error
}

// NewObject reads the symbols of a program, and of its separate debug file unless debug is nil. The program may be nil
// if only the debug file was found. The Object keeps the files. An error means that some part could not be read; the
// Object serves the rest.
func NewObject(program, debug *File) (*Object, error) {
	o := &Object{symbols: new(Table)}
	var errs []error
	switch {
	case program != nil && program.hasDWARF():
		o.debug = program
	case debug != nil && debug.hasDWARF():
		o.debug = debug
	}
	if program != nil {
		var err error
		o.symbols, err = program.Symbols()
		errs = append(errs, err)
		if program.hasGoTable() {
			o.gofuncs, err = program.goFunctions()
			errs = append(errs, err)
		}
	}
	if debug != nil {
		errs = append(errs, o.symbols.Add(debug))
	}
	return o, errors.Join(errs...)
}

// Functions returns the number of functions that the symbol tables name.
func (o *Object) Functions() int {
	n := o.symbols.Len()
	if o.gofuncs != nil {
		n = max(n, o.gofuncs.count)
	}
	return n
}

// HasLines reports whether the files state source lines.
func (o *Object) HasLines() bool { return o.debug != nil || o.gofuncs != nil }

// Size returns the approximate memory that the Object occupies, in bytes.
func (o *Object) Size() int64 {
	n := o.symbols.Size()
	if o.gofuncs != nil {
		n += int64(len(o.gofuncs.data) + len(o.gofuncs.inlined))
	}
	if o.dwarf != nil {
		n += o.dwarf.size
	}
	return n
}

// Append appends the functions at an address of the file to dst: inlined functions first, last the function that
// contains them. With lines, it reads debug information, and the frames have files and lines; otherwise there is one
// frame, without them. It returns dst unchanged if no function is known.
func (o *Object) Append(dst []Frame, addr uint64, lines bool) []Frame {
	before := len(dst)
	name, _, found := o.symbols.Lookup(addr)
	if lines {
		if dst = o.appendLines(dst, addr); len(dst) > before {
			// The symbol is more exact for the outermost function: it distinguishes parts and clones.
			if outer := &dst[len(dst)-1]; found {
				outer.Name = name
			} else if outer.Name == "" {
				return dst[:before]
			}
			return dst
		}
	}
	if found {
		return append(dst, Frame{Name: name})
	}
	if o.gofuncs != nil {
		return o.gofuncs.append(dst, addr, lines)
	}
	return dst
}

// appendLines appends the frames that debug information has, or else those of the Go function table.
func (o *Object) appendLines(dst []Frame, addr uint64) []Frame {
	if !o.tried && o.debug != nil {
		o.tried = true
		o.dwarf, o.err = o.debug.openDWARF()
	}
	if o.dwarf != nil {
		if out := o.dwarf.append(dst, addr); len(out) > len(dst) {
			return out
		}
	}
	if o.gofuncs != nil {
		return o.gofuncs.append(dst, addr, true)
	}
	return dst
}

// Err returns the error of reading debug information, nil if it was not read or is valid.
func (o *Object) Err() error { return o.err }
