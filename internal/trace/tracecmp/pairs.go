package tracecmp

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
)

// A pairs is a one-to-one relation of the pointers of two streams.
type pairs[T any] struct {
	what  string
	equal func(a, b *T) *Difference
	other [2]map[*T]*T
	last  [2]*T
}

func newPairs[T any](what string, equal func(a, b *T) *Difference) pairs[T] {
	return pairs[T]{what: what, equal: equal, other: [2]map[*T]*T{{}, {}}}
}

// match relates a and b. It returns a difference if their content differs or if one of them has another partner.
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

// declared lists the types or threads of the KindDefine events of each stream.
type declared[T any] [2][]*T

// define records a declaration. definitions compares it at the end, when all used types and threads are known.
func (c *comparer) define(e *ntconv.Event, side int) {
	if e.Type != nil {
		c.defTypes[side] = append(c.defTypes[side], e.Type)
	}
	if e.Thread != nil {
		c.defThreads[side] = append(c.defThreads[side], e.Thread)
	}
}

// definitions compares the types and threads that are only declared: each needs a partner of equal content in the other
// stream.
func (c *comparer) definitions() *Difference {
	if c.opts.Definitions {
		return nil
	}
	types := unrelated(&c.types, c.defTypes)
	if d := matchAll("type", types, func(t *ntconv.Type, _ int) string { return string(appendType(nil, t)) }, nil); d != nil {
		return d
	}
	threads := unrelated(&c.threads, c.defThreads)
	identity := c.processIdentity(threads)
	content := func(t *ntconv.Thread, side int) string {
		return string(appendString(appendThread(nil, t), identity(t.Process, side)))
	}
	return matchAll("thread", threads, content, nil)
}

// unrelated returns the declared values without a partner, each once.
func unrelated[T any](p *pairs[T], defs declared[T]) (rest declared[T]) {
	for side := range defs {
		seen := map[*T]bool{}
		for _, d := range defs[side] {
			if p.other[side][d] == nil && !seen[d] {
				seen[d] = true
				rest[side] = append(rest[side], d)
			}
		}
	}
	return rest
}

// matchAll pairs each value of one stream with a value of equal content in the other, and calls found, which may be
// nil, for each pair. It returns the first value without a partner as the difference.
func matchAll[T any](what string, all declared[T], content func(*T, int) string, found func(a, b *T)) *Difference {
	free := map[string][]*T{}
	for _, b := range all[1] {
		key := content(b, 1)
		free[key] = append(free[key], b)
	}
	taken := map[*T]bool{}
	var d *Difference
	for _, a := range all[0] {
		key := content(a, 0)
		if len(free[key]) == 0 {
			if d == nil {
				d = differUnused(what, "first", *a)
			}
			continue
		}
		b := free[key][0]
		free[key], taken[b] = free[key][1:], true
		if found != nil {
			found(a, b)
		}
	}
	for _, b := range all[1] {
		if d == nil && !taken[b] {
			d = differUnused(what, "second", *b)
		}
	}
	return d
}

// processIdentity returns a function that returns the same string for a process and its partner in the other stream,
// and different strings for all others. It first relates the processes of unused threads by content.
func (c *comparer) processIdentity(threads declared[ntconv.Thread]) func(p *ntconv.Process, side int) string {
	content := func(p *ntconv.Process, side int) string {
		b := appendProcess(nil, p, c.machine[side])
		if p != nil && !c.opts.Frames {
			b = binary.AppendUvarint(b, uint64(c.mappingsNumber(p.Mappings)))
		} else {
			b = append(b, 0)
		}
		return string(b)
	}
	var all declared[ntconv.Process]
	for side, list := range threads {
		for _, t := range list {
			if t.Process != nil {
				all[side] = append(all[side], t.Process)
			}
		}
	}
	matchAll("process", unrelated(&c.procs, all), content,
		func(a, b *ntconv.Process) { c.procs.other[0][a], c.procs.other[1][b] = b, a })
	number := map[*ntconv.Process]int{} // numbers of processes of the second stream
	return func(p *ntconv.Process, side int) string {
		if nothing := content(nil, side); p == nil || content(p, side) == nothing {
			return nothing
		}
		second := p
		if side == 0 {
			second = c.procs.other[0][p]
		}
		if second == nil || c.procs.other[1][second] == nil {
			return "only in " + strconv.Itoa(side) + ": " + content(p, side) // unique, because no partner has it
		}
		if number[second] == 0 {
			number[second] = len(number) + 1
		}
		return fmt.Sprint("number ", number[second])
	}
}
