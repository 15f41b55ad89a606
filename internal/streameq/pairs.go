package streameq

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// pairs is a one-to-one relation of the pointers of two streams.
type pairs[T any] struct {
	what  string
	equal func(a, b *T) *Difference
	other [2]map[*T]*T
	last  [2]*T
}

func newPairs[T any](what string, equal func(a, b *T) *Difference) pairs[T] {
	return pairs[T]{what: what, equal: equal, other: [2]map[*T]*T{{}, {}}}
}

// match relates a and b, and fails if their content differs or if one of them has another partner.
func (p *pairs[T]) match(a, b *T) *Difference {
	switch {
	case a == p.last[0] && b == p.last[1]:
		return nil
	case a == nil || b == nil:
		if a != b {
			return differf("only one has a %s", p.what)
		}
		return nil
	}
	x, y := p.other[0][a], p.other[1][b]
	switch {
	case x == nil && y == nil:
		if d := p.equal(a, b); d != nil {
			return d.in("%s", p.what)
		}
		p.other[0][a], p.other[1][b] = b, a
	case x != b || y != a:
		if x != nil {
			return differf("one %s of the first trace is several in the second: %s", p.what, show(*a))
		}
		return differf("several %ss of the first trace are one in the second: %s", p.what, show(*b))
	}
	p.last = [2]*T{a, b}
	return nil
}

// declared are the things that KindDefine events of each stream tell of.
type declared[T any] [2][]*T

// define remembers a declaration, to be looked at when it is known what is used.
func (c *comparer) define(e *ntconv.Event, side int) {
	if e.Type != nil {
		c.defTypes[side] = append(c.defTypes[side], e.Type)
	}
	if e.Thread != nil {
		c.defThreads[side] = append(c.defThreads[side], e.Thread)
	}
}

// definitions compares what was only declared: every such type or thread of one stream needs a partner of equal content.
func (c *comparer) definitions() *Difference {
	if c.opts.Definitions {
		return nil
	}
	if d := unused(&c.types, c.defTypes); d != nil {
		return d
	}
	return unused(&c.threads, c.defThreads)
}

func unused[T any](p *pairs[T], defs declared[T]) *Difference {
	var rest declared[T]
	for side := range defs {
		seen := map[*T]bool{}
		for _, d := range defs[side] {
			if p.other[side][d] == nil && !seen[d] {
				seen[d] = true
				rest[side] = append(rest[side], d)
			}
		}
	}
	for _, a := range rest[0] {
		i := slices.IndexFunc(rest[1], func(b *T) bool { return p.equal(a, b) == nil })
		if i < 0 {
			return differUnused(p.what, "first", *a)
		}
		rest[1] = slices.Delete(rest[1], i, i+1)
	}
	if len(rest[1]) > 0 {
		return differUnused(p.what, "second", *rest[1][0])
	}
	return nil
}
