package split

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/schema"
)

// Limits of openBegins. Beyond them, the oldest group is released although its interval has not ended.
const (
	maxBegins     = 1 << 14 // intervals
	maxNested     = 1 << 4  // intervals with one key; of those beyond it, the ends were lost
	maxGroup      = 1 << 6  // events of a group
	maxEndless    = 1 << 6  // begins of a pair that has had no end
	maxEarlyEnds  = 1 << 12 // see openBegins.ended
	keepEarlyEnds = windowSlack
)

// openBegins holds the events that begin intervals until the events that end them, so that both are in one window: that of
// the end. Events are borrowed; those that are held are copies.
//
// One event may begin several intervals, and end one that another event began: a suspension of the runtime begins with the
// same event as its pause, and a task ends its time in the queue. Events that are related so form a group, which is released
// when all of its intervals have ended.
//
// An interval in another one of the same pair and thread joins its group, because it has a part of the other one's time.
//
// The end of an exception or of its handler may be missing, so their begins are not held. A recording may have only the begins
// of pairs that a naming rule relates. So most of them are held only once an end was seen.
type openBegins struct {
	schemas schema.Table
	roles   map[*schema.Schema]*pairRole
	open    interval.Open[schema.PairKey, *beginGroup]
	depth   map[schema.PairKey]int // number of open intervals with a key
	// ended has ends that came before their begins: threads write their events independently. Only intervals that may end on
	// another thread are there.
	ended   map[schema.PairKey]ntconv.Ticks
	slack   ntconv.Ticks // how much later a begin may be written
	hasEnds map[*schema.Pair]bool
	endless map[*schema.Pair]int // begins that were held before the first end
}

// A pairRole states which intervals the events of a schema begin and end.
type pairRole struct {
	begins, ends []pairBound
}

// A pairBound is the begin or the end of intervals of a pair.
type pairBound struct {
	*schema.Pair
	key   *schema.Projection // of Pair.Field, nil if there is none
	named bool               // the table of operations has the pair
}

// A beginGroup is events that are held together.
type beginGroup struct {
	events []ntconv.Event // in the order in which they were written
	open   []*interval.Begun[schema.PairKey, *beginGroup]
}

func newOpenBegins(slack ntconv.Ticks) *openBegins {
	return &openBegins{
		roles: map[*schema.Schema]*pairRole{}, open: interval.NewOpen[schema.PairKey, *beginGroup](),
		depth: map[schema.PairKey]int{}, ended: map[schema.PairKey]ntconv.Ticks{}, slack: slack, hasEnds: map[*schema.Pair]bool{}, endless: map[*schema.Pair]int{},
	}
}

// roleOf returns the role of an event, nil if it neither begins nor ends an interval.
func (b *openBegins) roleOf(e *ntconv.Event) *pairRole {
	s := b.schemas.Of(e)
	r, known := b.roles[s]
	if !known {
		if r = (&pairRole{boundsOf(s, s.EndedBy()), boundsOf(s, s.Ends())}); r.begins == nil && r.ends == nil {
			r = nil
		}
		b.roles[s] = r
	}
	return r
}

// boundsOf returns the bounds for pairs whose events belong into one window.
func boundsOf(s *schema.Schema, pairs []*schema.Pair) (list []pairBound) {
	for _, p := range pairs {
		of := operation.Of(p.Provider, p.Name)
		if of != nil && (of.Encloses == operation.EnclosesHandlers || of.Encloses == operation.IsHandler) {
			continue
		}
		bound := pairBound{Pair: p, named: of != nil}
		if p.Field != "" {
			bound.key, _ = s.Project(p.Field)
		}
		list = append(list, bound)
	}
	return list
}

// keyOf returns the key of an interval that an event begins or ends. An activity ID suffices: the events may have names that no
// rule relates.
func (b *pairBound) keyOf(e *ntconv.Event) (schema.PairKey, bool) {
	var v [1]ntconv.Value
	if b.key != nil {
		b.key.Read(e, v[:])
	}
	key, ok := b.Pair.KeyOf(e, v[0])
	if !b.named && key.Activity != (ntconv.GUID{}) {
		key.Pair = nil
	}
	return key, ok
}

// add processes an event, which it borrows. held means that the event is kept. Otherwise due, if not nil, is a group to write
// before it, into the window of until. until is the time of e, or that of the end of its interval if this came before. Groups
// in lost belong into the windows of their own times.
func (b *openBegins) add(e *ntconv.Event) (due *beginGroup, until ntconv.Ticks, held bool, lost []*beginGroup) {
	r := b.roleOf(e)
	if r == nil {
		return nil, e.Time, false, nil
	}
	group, until := b.endsOf(e, r), e.Time
	var keys []schema.PairKey
	for i := range r.begins {
		bound := &r.begins[i]
		key, ok := bound.keyOf(e)
		if !ok || !b.mayEnd(bound, &key) {
			continue
		}
		if end, found := b.ended[key]; found && end >= e.Time {
			delete(b.ended, key)
			until = max(until, end)
			continue
		}
		if old := b.open.Latest(key); b.isFull(&key) && old.Data != group {
			lost = append(lost, b.release(old.Data))
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 && (group == nil || len(group.open) == 0) {
		if group = b.nest(e, r, group); group == nil || len(group.open) == 0 {
			return group, until, false, lost
		}
	}
	if group == nil {
		group = new(beginGroup)
	}
	group.events = append(group.events, copyOf(e))
	for _, key := range keys {
		b.depth[key]++
		group.open = append(group.open, b.open.Begin(key, key.Thread, group))
	}
	if len(group.events) > maxGroup {
		lost = append(lost, b.release(group))
	}
	for b.open.Len() > maxBegins {
		lost = append(lost, b.release(b.open.Oldest().Data))
	}
	return nil, until, true, lost
}

// isFull reports whether no more intervals with a key can be open: a process has one of a kind at a time.
func (b *openBegins) isFull(key *schema.PairKey) bool {
	if key.Pair != nil && key.Pair.Key == schema.KeyProcess {
		return b.depth[*key] > 0
	}
	return b.depth[*key] >= maxNested
}

// remove removes an interval.
func (b *openBegins) remove(i *interval.Begun[schema.PairKey, *beginGroup]) {
	if b.depth[i.Key]--; b.depth[i.Key] == 0 {
		delete(b.depth, i.Key)
	}
	b.open.Remove(i)
}

// mayEnd reports whether an end of an interval that begins is to be expected. The runtime gives activity IDs to sources that
// have ends.
func (b *openBegins) mayEnd(bound *pairBound, key *schema.PairKey) bool {
	if bound.named || b.hasEnds[bound.Pair] {
		return true
	}
	if key.Activity == (ntconv.GUID{}) || b.endless[bound.Pair] == maxEndless {
		return false
	}
	b.endless[bound.Pair]++
	return true
}

// nest moves a group whose last interval has ended into that of an interval that encloses it, and returns this group, or
// else the group itself.
func (b *openBegins) nest(e *ntconv.Event, r *pairRole, group *beginGroup) *beginGroup {
	outer := b.open.OnThread(e.Thread)
	if group == nil || e.Thread == nil || outer == nil || len(outer.Data.events)+len(group.events) >= maxGroup {
		return group
	}
	for i := range r.ends {
		if r.ends[i].Pair == outer.Key.Pair {
			outer.Data.events = append(outer.Data.events, group.events...)
			return outer.Data
		}
	}
	return group
}

// endsOf ends the intervals that an event ends, and returns their group, nil if none has begun. An event that ends intervals
// of several groups makes them one.
func (b *openBegins) endsOf(e *ntconv.Event, r *pairRole) (group *beginGroup) {
	for i := range r.ends {
		bound := &r.ends[i]
		key, ok := bound.keyOf(e)
		if !ok {
			continue
		}
		b.hasEnds[bound.Pair] = true
		begun := b.open.Latest(key)
		if begun == nil {
			if key.Thread == nil {
				b.endsEarly(key, e.Time)
			}
			continue
		}
		of := begun.Data
		of.open = slices.DeleteFunc(of.open, func(o *interval.Begun[schema.PairKey, *beginGroup]) bool { return o == begun })
		b.remove(begun)
		if group == nil || group == of {
			group = of
			continue
		}
		for _, o := range of.open {
			o.Data = group
		}
		group.events, group.open = append(group.events, of.events...), append(group.open, of.open...)
	}
	return group
}

// endsEarly notes an end whose begin may be written later.
func (b *openBegins) endsEarly(key schema.PairKey, at ntconv.Ticks) {
	if len(b.ended) == maxEarlyEnds {
		for key, end := range b.ended {
			if end < at-b.slack {
				delete(b.ended, key)
			}
		}
		if len(b.ended) == maxEarlyEnds {
			clear(b.ended)
		}
	}
	b.ended[key] = at
}

// release removes a group whose intervals have not ended.
func (b *openBegins) release(g *beginGroup) *beginGroup {
	for _, o := range g.open {
		b.remove(o)
	}
	g.open = nil
	return g
}

// releaseThread removes the groups whose intervals end on a thread.
func (b *openBegins) releaseThread(t *ntconv.Thread) (list []*beginGroup) {
	for i := b.open.OnThread(t); t != nil && i != nil; i = b.open.OnThread(t) {
		list = append(list, b.release(i.Data))
	}
	return list
}

// releaseAll removes all groups.
func (b *openBegins) releaseAll() (list []*beginGroup) {
	for b.open.Oldest() != nil {
		list = append(list, b.release(b.open.Oldest().Data))
	}
	return list
}

// copyOf returns an event that the caller may keep.
func copyOf(e *ntconv.Event) ntconv.Event {
	kept := *e
	kept.Payload = slices.Clone(e.Payload)
	if e.Stack != nil { // a stack of a reader keeps the memory of its block
		kept.Stack = &ntconv.Stack{PCs: slices.Clone(e.Stack.PCs), Frames: e.Stack.Frames}
	}
	return kept
}
