package callgrind

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// An encoder writes a graph as text. Errors of the writer appear in flush.
type encoder struct {
	w     *bufio.Writer
	g     *graph
	order []int // of sample types: the one to show first, then the others
	names []string
	units []string
	// compressed names: each is written once, with a number that represents it from then on.
	objects, files, functions map[string]int
	object                    string // of the latest function
	b                         []byte
}

func newEncoder(w io.Writer, g *graph, p *profile.Profile) *encoder {
	e := &encoder{
		w: bufio.NewWriterSize(w, 64<<10), g: g, objects: map[string]int{}, files: map[string]int{}, functions: map[string]int{},
		object: unknown, names: eventNames(imported.TypeNames(p.Types)),
	}
	for i, t := range p.Types {
		e.units = append(e.units, t.Unit)
		if i != p.Main {
			e.order = append(e.order, i)
		}
	}
	if p.Main < len(p.Types) {
		e.order = slices.Insert(e.order, 0, p.Main)
	}
	return e
}

// eventNames returns names that the format accepts, each only once: letters, digits and underscores.
func eventNames(types []string) (names []string) {
	for _, t := range types {
		name := strings.Map(func(r rune) rune {
			if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
				return r
			}
			return '_'
		}, t)
		if name == "" || name[0] >= '0' && name[0] <= '9' {
			name = "e_" + name
		}
		for slices.Contains(names, name) {
			name += "_"
		}
		names = append(names, name)
	}
	return names
}

// header writes what precedes the functions. Names of events have no unit, so comments state them.
func (e *encoder) header(comments []string) {
	e.text("# callgrind format\nversion: 1\ncreator: ntconv\n")
	for _, i := range e.order {
		e.text("desc: Unit: ", e.names[i], " in ", oneLine(e.units[i]), "\n")
	}
	for _, c := range comments {
		e.text("desc: Comment: ", oneLine(c), "\n")
	}
	e.text("positions: line\nevents:")
	for _, i := range e.order {
		e.text(" ", e.names[i])
	}
	if len(e.order) == 0 {
		e.text(" samples")
	}
	e.text("\nsummary:")
	e.numbers(e.g.totals)
	e.text("\n")
}

// footer repeats the totals at the end of the file, where readers compare them with the costs that they added up.
func (e *encoder) footer() {
	e.text("\ntotals:")
	e.numbers(e.g.totals)
	e.text("\n")
}

// function writes a function: its own costs by line, then its calls.
func (e *encoder) function(f *function) {
	e.text("\n")
	if f.object != e.object {
		e.name("ob=", e.objects, f.object)
		e.object = f.object
	}
	e.name("fl=", e.files, f.file)
	e.name("fn=", e.functions, f.name)
	slices.SortFunc(f.costs, func(a, b cost) int {
		return cmp.Or(cmp.Compare(min(a.callee, 1), min(b.callee, 1)), cmp.Compare(a.line, b.line), cmp.Compare(a.callee, b.callee))
	})
	for i := range f.costs {
		c := &f.costs[i]
		if c.callee > 0 {
			callee := &e.g.functions[c.callee-1]
			if callee.object != f.object {
				e.name("cob=", e.objects, callee.object)
			}
			if callee.file != f.file {
				e.name("cfi=", e.files, callee.file)
			}
			e.name("cfn=", e.functions, callee.name)
			// A count of 0 makes callgrind_annotate take the cost for one of the caller's own code.
			e.text("calls=1 0\n")
		}
		e.b = strconv.AppendInt(e.b[:0], int64(max(0, c.line)), 10)
		_, _ = e.w.Write(e.b)
		e.numbers(c.values)
		e.text("\n")
	}
}

// unknown is the name of an object or file that is not known, as callgrind writes it.
const unknown = "???"

// name writes a name with its number, or only the number if it was written before. So a name that looks like a number,
// such as "(12)", is not mistaken for one.
func (e *encoder) name(prefix string, numbers map[string]int, name string) {
	n, known := numbers[name]
	if !known {
		n = len(numbers) + 1
		numbers[name] = n
	}
	e.text(prefix, "(", strconv.Itoa(n), ")")
	if !known {
		e.text(" ", name)
	}
	e.text("\n")
}

// oneLine replaces characters that end a line, and removes spaces at both ends, which readers skip.
func oneLine(s string) string {
	if s = strings.TrimSpace(s); strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// numbers writes values in the order of the events.
func (e *encoder) numbers(values []int64) {
	for _, i := range e.order {
		e.b = strconv.AppendInt(append(e.b[:0], ' '), values[i], 10)
		_, _ = e.w.Write(e.b)
	}
	if len(e.order) == 0 {
		e.text(" 0")
	}
}

func (e *encoder) text(parts ...string) {
	for _, s := range parts {
		_, _ = e.w.WriteString(s)
	}
}

func (e *encoder) flush() error { return e.w.Flush() }
