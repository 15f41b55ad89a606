package firefox

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// Firefox records profiles in a format of its own (Gecko profiles), which the Firefox Profiler processes when it loads
// them. It differs in this: a table is a schema and rows; a frame is a text (location) with name, file and position; a
// process that is not the parent has a profile of its own, whose times count from its own start.

// oldestGecko is the oldest version that the Firefox Profiler upgrades.
const oldestGecko = 3

// checkVersion rejects versions that cannot be read.
func (f *file) checkVersion(m *meta) error {
	if m.version > 0 {
		return nil
	}
	if m.gecko < oldestGecko {
		return &ntconv.AdviceError{
			Err: f.Fail(f.Place(), fmt.Errorf("%w: version %d of profiles that Firefox recorded; want %d or later, or a processed profile",
				ntconv.ErrUnsupported, m.gecko, oldestGecko)),
			Advice: "open it in profiler.firefox.com, and read the profile that it saves",
		}
	}
	return nil
}

// readRows reads the member data of a table of a Gecko profile. at has the index in columns of each cell of a row, or
// -1; a row may be shorter. It returns the number of rows and of bytes charged for them.
func (f *file) readRows(columns []column, at []int) (rows int, charged int64, err error) {
	err = f.Array(func(int) error {
		rows++
		err := f.Array(func(i int) error {
			if i >= len(at) || at[i] < 0 {
				return f.Skip()
			}
			n, err := f.readCell(&columns[at[i]])
			charged += n
			return f.charged(err, int(n))
		})
		for _, i := range at {
			if i < 0 || err != nil {
				continue
			}
			for c := &columns[i]; c.rows() < rows; {
				n := c.appendNull()
				charged += n
				err = f.charged(err, int(n))
			}
		}
		return err
	})
	return rows, charged, err
}

// readSchema reads the member schema of a table: the position of each column in a row.
func (f *file) readSchema(columns []column) ([]int, error) {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	var at []int
	err := f.Object(names, func(i int) error {
		position, err := f.Index(0, 63, -1)
		for err == nil && len(at) <= int(position) {
			at = append(at, -1)
		}
		if err == nil && position >= 0 {
			at[position] = i
		}
		return err
	})
	return at, err
}

// openString reads a string that contains JSON. f then reads this JSON, until the caller sets f.Reader to outer again.
func (f *file) openString() (outer *jsonio.Reader, err error) {
	text, err := f.String()
	if err != nil {
		return nil, err
	}
	outer = f.Reader
	f.Reader = jsonio.New(strings.NewReader(text), jsonio.Options{Format: "firefox", Value: f.limits.Value, Report: f.report})
	return outer, nil
}

// readEmbedded reads a subprocess or a thread that old profiles contain as a string.
func (f *file) readEmbedded() error {
	outer, err := f.openString()
	if err != nil {
		return err
	}
	err = f.readProcess()
	if err == nil {
		err = f.End()
	}
	f.Reader = outer
	if err != nil {
		return f.Fail(f.Place(), fmt.Errorf("the profile of a process in a string: %w", err))
	}
	return nil
}

// maxProcessDepth is the maximum nesting of processes. Firefox does not nest the processes of processes.
const maxProcessDepth = 8

// readProcess reads the profile of a process of a Gecko profile. Its times count from its own start. The parent's
// categories apply to all processes.
func (f *file) readProcess() error {
	if f.depth++; f.depth > maxProcessDepth {
		return f.Corrupt("processes are nested more than %d levels deep", maxProcessDepth)
	}
	root, libs, shift := f.meta, f.libs, f.shift
	f.libs, f.libIndex = nil, nil
	err := f.Object(fileMembers, func(i int) error {
		if fileMembers[i] == "meta" {
			m, err := f.parseMeta()
			if err == nil {
				f.shift = m.start - root.start
			}
			return err
		}
		return f.readMember(fileMembers[i])
	})
	f.libs, f.libIndex, f.shift = libs, nil, shift
	f.depth--
	return err
}

// move shifts the times of a thread by the difference of the starts of its process and of the recording.
func (f *file) move(t *thread) error {
	if f.shift == 0 {
		return nil
	}
	for _, list := range [...][]int64{t.samples.time, t.markers.start, t.markers.end, t.markers.time} {
		for i, at := range list {
			if at == noTime {
				continue
			}
			if sum := at + f.shift; (sum > at) == (f.shift > 0) {
				list[i] = sum
				continue
			}
			return f.Corrupt("the start of a process is out of range")
		}
	}
	t.markers.shift = f.shift
	return nil
}

// addLocations makes functions of the distinct locations of frames. The name of a function is the string of its location
// until function divides it. All members of the thread must have been read.
func (f *file) addLocations(t *tables) error {
	c := &t.frames
	if f.meta.version > 0 || c.location == nil {
		return nil
	}
	t.isGecko = true
	texts := f.stringsOf(t)
	index := map[int32]int32{}
	for i, n := range c.location {
		if n < 0 || int(n) >= len(texts) {
			return f.Fail(c.place, fmt.Errorf("%w: frame %d has the location %d; there are %d strings", ntconv.ErrCorrupt, i, n, len(texts)))
		}
		fn, ok := index[n]
		if !ok {
			fn = int32(len(index))
			index[n] = fn
			l := locationOf(texts[n])
			t.funcs.name = append(t.funcs.name, n)
			t.funcs.isJS = append(t.funcs.isJS, 0)
			if l.isScript {
				t.funcs.isJS[fn] = 1
			}
			t.mapped = append(t.mapped, f.names.mappingOf(f.libraryOf(&l)))
		}
		c.fn = append(c.fn, fn)
	}
	t.funcs.rows = len(index)
	return f.charged(nil, 4*len(c.fn)+32*len(index))
}

// A location is what the text of a frame states.
type location struct {
	name, file, library string
	line                int32 // where the function begins
	isScript            bool
}

// locationOf divides the location of a frame of a Gecko profile: "name (in library) + 12" for native code, "name
// (file:line:column)" or "file:line:column" for JavaScript, otherwise an address or a label. A file that another one
// loaded is "loader -> file".
func locationOf(text string) location {
	if name, rest, ok := strings.Cut(text, " (in "); ok {
		if library, offset, ok := strings.Cut(rest, ")"); ok && (offset == "" || strings.HasPrefix(offset, " + ")) {
			return location{name: name, library: library}
		}
	}
	name, position := "", text
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		name, position = text[:i], text[i+2:len(text)-1]
	}
	file, last := cutNumber(position)
	if last < 0 || file == "" || strings.HasPrefix(text, "0x") {
		if name == "" || !strings.Contains(position, "://") {
			return location{name: text}
		}
	}
	l := location{name: name, file: file, line: max(last, 0), isScript: true}
	if shorter, line := cutNumber(file); line >= 0 && shorter != "" {
		l.file, l.line = shorter, line
	}
	if i := strings.LastIndex(l.file, " -> "); i >= 0 {
		l.file = l.file[i+len(" -> "):]
	}
	if l.name == "" {
		l.name = l.file
	}
	return l
}

// cutNumber cuts ":123" from the end of a text. It returns -1 if there is none.
func cutNumber(text string) (rest string, n int32) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, -1
	}
	v, err := strconv.ParseUint(text[i+1:], 10, 31)
	if err != nil {
		return text, -1
	}
	return text[:i], int32(v)
}

// A libIndex finds the libraries of a process.
type libIndex struct {
	byStart []lib
	byName  map[string]lib
}

func newLibIndex(libs []lib) *libIndex {
	x := &libIndex{byStart: slices.Clone(libs), byName: map[string]lib{}}
	slices.SortStableFunc(x.byStart, func(a, b lib) int { return cmp.Compare(a.start, b.start) })
	for _, l := range libs {
		x.byName[l.name] = l
	}
	return x
}

// libraryOf returns the library of a location: the named one, or the one to which its address belongs.
func (f *file) libraryOf(l *location) lib {
	if f.libIndex == nil {
		f.libIndex = newLibIndex(f.libs)
	}
	if l.library != "" {
		if named, ok := f.libIndex.byName[l.library]; ok {
			return named.identity()
		}
		return lib{path: l.library}
	}
	digits, ok := strings.CutPrefix(l.name, "0x")
	if !ok {
		return lib{}
	}
	address, err := strconv.ParseUint(digits, 16, 64)
	all := f.libIndex.byStart
	after := sort.Search(len(all), func(i int) bool { return all[i].start > address })
	if err != nil || after == 0 || address >= all[after-1].end {
		return lib{}
	}
	return all[after-1].identity()
}

// identity returns what makes two libraries equal.
func (l lib) identity() lib { return lib{path: l.path, buildID: l.buildID} }

// address reads an address.
func (f *file) address() (uint64, error) {
	d, ok, err := f.Decimal()
	n, _, valid := d.Scale(0)
	if !ok || !valid || n < 0 {
		return math.MaxUint64, err
	}
	return uint64(n), err
}

// withCause replaces the stack that a marker of a Gecko profile contains as a profile of one sample by the member cause
// of processed profiles.
func withCause(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"stack"`)) {
		return data
	}
	samples := member(member(data, "stack"), "samples")
	at, err := strconv.Atoi(string(member(member(samples, "schema"), "stack")))
	if err != nil {
		return data
	}
	stack := element(element(member(samples, "data"), 0), at)
	out := []byte{'{'}
	for name, value := range jsonio.EachMember(data) {
		if string(name) == `"stack"` {
			if stack == nil {
				continue
			}
			name, value = []byte(`"cause"`), slices.Concat([]byte(`{"stack":`), stack, []byte{'}'})
		}
		out = appendMember(out, name, value)
	}
	return append(out, '}')
}

// element returns element i of a list, or nil if there is none.
func element(list []byte, i int) []byte {
	for v := range jsonio.EachElement(list) {
		if i == 0 {
			return v
		}
		i--
	}
	return nil
}
