package tracker

import "fmt"

// CheckEmpty returns an error if the tracker still knows spans: memory follows open spans, so none may stay behind when
// all have ended.
func (t *Tracker) CheckEmpty() error {
	if n := len(t.byID) + len(t.activities) + len(t.pairs); t.count != 0 || t.byAge.first != nil || n != 0 || t.pairsOpen != 0 {
		return fmt.Errorf("%d spans are open, %d of pairs, and %d lists refer to some", t.count, t.pairsOpen, n)
	}
	for th, s := range t.threads {
		if s.open.first != nil {
			return fmt.Errorf("thread %d has open spans", th.TID)
		}
	}
	return nil
}

// Open returns how many spans are open.
func (t *Tracker) Open() int { return t.count }

// Threads returns how many threads are known.
func (t *Tracker) Threads() int { return len(t.threads) }

// Integer is integer.
var Integer = integer
