package parquet

import (
	"hash/maphash"
	"strings"

	"github.com/ntconv/ntconv"
)

// callStacks builds stacks from frame names. It caches recent stacks, because rows repeat the same stacks.
type callStacks struct {
	o         *Options
	seed      maphash.Seed
	recent    map[uint64]*ntconv.Stack
	frames    int // frames of all stacks in recent
	functions map[string]*ntconv.Function
	memory    memory
	names     []string // scratch
}

// Limits of the cache: a stack may have thousands of frames.
const (
	maxRecentStacks = 1 << 16
	maxRecentFrames = 1 << 22
)

func newCallStacks(o *Options) callStacks {
	return callStacks{
		o: o, seed: maphash.MakeSeed(), recent: map[uint64]*ntconv.Stack{}, functions: map[string]*ntconv.Function{},
		memory: memory{limit: o.Limits.TableBytes},
	}
}

// folded returns the stack for a text in the form of folded stacks: outermost frame first, separated by semicolons.
func (c *callStacks) folded(text string) (*ntconv.Stack, error) {
	c.names = c.names[:0]
	for end := len(text); end > 0; {
		from := strings.LastIndexByte(text[:end], ';') + 1
		c.names = append(c.names, text[from:end])
		end = from - 1
	}
	return c.stack(c.names)
}

// stack returns the stack for names, innermost first, or nil if there are none. It does not keep names or their memory.
func (c *callStacks) stack(names []string) (*ntconv.Stack, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if n := c.o.Limits.Stack; len(names) > n {
		c.o.Report.Add(ntconv.CodeStackCut, 1, -1)
		names = names[:n]
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, name := range names {
		_, _ = h.WriteString(name) // never fails
		_ = h.WriteByte(0)
	}
	sum := h.Sum64()
	if st := c.recent[sum]; st != nil && sameNames(st, names) {
		return st, nil
	}
	st := &ntconv.Stack{Frames: make([]ntconv.Frame, 0, len(names))}
	for _, name := range names {
		fn := c.functions[name]
		if fn == nil {
			if err := c.memory.add(rowBytes + len(name)); err != nil {
				return nil, err
			}
			name = strings.Clone(strings.ToValidUTF8(name, "\uFFFD"))
			fn = &ntconv.Function{Name: name}
			c.functions[name] = fn
		}
		st.Frames = append(st.Frames, ntconv.Frame{Func: fn})
	}
	if len(c.recent) >= maxRecentStacks || c.frames+len(names) > maxRecentFrames {
		clear(c.recent)
		c.frames = 0
	}
	c.frames += len(names)
	c.recent[sum] = st
	return st, nil
}

// sameNames reports whether a cached stack has these names. The hash alone could collide.
func sameNames(st *ntconv.Stack, names []string) bool {
	if len(st.Frames) != len(names) {
		return false
	}
	for i := range names {
		if st.Frames[i].Func.Name != names[i] {
			return false
		}
	}
	return true
}
