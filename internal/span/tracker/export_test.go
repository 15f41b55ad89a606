package tracker

import "fmt"

// CheckEmpty returns an error if the tracker still refers to spans. Memory must be proportional to the open spans, so
// nothing may remain when all have ended.
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

// Open returns the number of open spans.
func (t *Tracker) Open() int { return t.count }

// Threads returns the number of threads with a state.
func (t *Tracker) Threads() int { return len(t.threads) }

// Integer is integer.
var Integer = integer
