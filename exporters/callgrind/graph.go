package callgrind

import (
	"cmp"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A graph is the costs of functions and of their calls.
type graph struct {
	types     int // values per cost
	functions []function
	ids       map[functionKey]uint32
	known     map[frameKey]uint32 // function of a frame, because frames share pointers
	samples   uint64
	totals    []int64
	negative  uint64
}

// A functionKey is what makes functions equal for readers of the format: names as the file has them. Two functions that
// only differ before would have one node in the reader, and a call between them would count twice. file is the object if
// the source file is unknown: callgrind_annotate does not distinguish functions by object.
type functionKey struct{ file, name string }

// keyOf returns the key of a function.
func keyOf(file, name string) functionKey {
	return functionKey{cmp.Or(oneLine(file), unknown), cmp.Or(oneLine(name), imported.NoName)}
}

type frameKey struct {
	fn      *ntconv.Function
	mapping *ntconv.Mapping
}

// A function is the node of a graph.
type function struct {
	functionKey
	object string // of the first frame
	seen   uint64 // the latest sample with the function
	costs  []cost
	index  map[site]int // into costs
}

// A site is a line of a function, and the function that it calls: 0 for its own code, otherwise the index plus 1.
type site struct {
	line   int32
	callee uint32
}

// A cost is the values of the samples at a site.
type cost struct {
	site
	values []int64
}

const (
	// rootName is the function that calls the outermost functions. Readers take the calls of a function for all of its
	// cost as soon as there is one, so every function must have a caller in every sample.
	rootName = "(root)"
	rootID   = 0
)

func newGraph(types int) *graph {
	g := &graph{types: types, ids: map[functionKey]uint32{}, known: map[frameKey]uint32{}, totals: make([]int64, types)}
	g.id(keyOf("", rootName), unknown)
	return g
}

// count returns the number of functions, without the root.
func (g *graph) count() int { return len(g.functions) - 1 }

// add adds a sample with the frames of its stack, leaf first. Of a function that is in the stack several times, only the
// outermost call counts: the cost of a function is that of the calls to it, and would exceed that of the sample otherwise.
func (g *graph) add(frames []ntconv.Frame, values []int64) {
	g.samples++
	for i, v := range values {
		if v < 0 {
			g.negative++
			continue
		}
		g.totals[i] = bin.AddClamped(g.totals[i], v)
	}
	caller, line := uint32(rootID), int32(0)
	g.functions[rootID].seen = g.samples
	for i := len(frames) - 1; i >= 0; i-- {
		id := g.functionOf(&frames[i])
		g.call(caller, line, id, values)
		caller, line = id, frames[i].Line
	}
	if len(frames) == 0 {
		id := g.id(keyOf("", imported.NoStackName), unknown)
		g.call(caller, line, id, values)
		caller = id
	}
	g.charge(caller, site{line: line}, values)
}

// call adds values to a call, unless the sample has another one to the same function.
func (g *graph) call(caller uint32, line int32, callee uint32, values []int64) {
	if f := &g.functions[callee]; f.seen != g.samples {
		f.seen = g.samples
		g.charge(caller, site{line, callee + 1}, values)
	}
}

// charge adds values to a site.
func (g *graph) charge(id uint32, at site, values []int64) {
	f := &g.functions[id]
	i, ok := f.index[at]
	if !ok {
		i = len(f.costs)
		f.index[at] = i
		f.costs = append(f.costs, cost{at, make([]int64, g.types)})
	}
	sums := f.costs[i].values
	for k, v := range values {
		if v > 0 {
			sums[k] = bin.AddClamped(sums[k], v)
		}
	}
}

// functionOf returns the index of the function of a frame.
func (g *graph) functionOf(f *ntconv.Frame) uint32 {
	key := frameKey{f.Func, f.Mapping}
	id, ok := g.known[key]
	if !ok {
		file, name, object := "", "", ""
		if f.Mapping != nil {
			object = f.Mapping.File
		}
		if f.Func != nil {
			file, name = f.Func.File, f.Func.Name
		}
		id = g.id(keyOf(cmp.Or(file, object), name), cmp.Or(oneLine(object), unknown))
		g.known[key] = id
	}
	return id
}

// id returns the index of a function, and adds it if necessary.
func (g *graph) id(k functionKey, object string) uint32 {
	id, ok := g.ids[k]
	if !ok {
		id = uint32(len(g.functions))
		g.ids[k] = id
		g.functions = append(g.functions, function{functionKey: k, object: object, index: map[site]int{}})
	}
	return id
}
