package fileio

import "sync"

// A budget counts the decompressed bytes of all members of a directory or an archive, so that Limits.Output bounds
// their total. A nil budget counts nothing.
type budget struct {
	mu    sync.Mutex
	total int64            // bytes
	most  map[string]int64 // bytes of the longest stream of each member: a second reading is not charged
}

// A meter charges one stream to a budget.
type meter struct {
	budget *budget
	member string
}

// meter returns the meter of a member, nil for a nil budget.
func (b *budget) meter(member string) *meter {
	if b == nil {
		return nil
	}
	return &meter{b, member}
}

// spend reports that a stream has delivered out bytes so far, and returns the total of all members.
func (m *meter) spend(out int64) int64 {
	b := m.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if more := out - b.most[m.member]; more > 0 {
		if b.most == nil {
			b.most = make(map[string]int64)
		}
		b.most[m.member] = out
		b.total += more
	}
	return b.total
}

// charge adds the last n bytes that the decoder delivered to the budget, and returns how many of them the budget
// allows.
func (d *decoder) charge(n int) int {
	total := d.meter.spend(d.out)
	if d.limits.Output <= 0 || total <= d.limits.Output || n == 0 {
		return n
	}
	over := int(min(total-d.limits.Output, int64(n)))
	d.out -= int64(over)
	d.err = d.failed(d.limits.exceeded(LimitOutput, d.basis(), total))
	return n - over
}
