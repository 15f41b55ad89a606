package command

// A claim is the right of a job to add the trace with a UID. The collection's mutex guards staged and waited.
type claim struct {
	ended  chan struct{} // closed when the trace is in the dataset, or the addition has failed
	staged bool          // the batch has the trace
	waited bool          // another job waits
}

// claim waits until no other job of this run adds the trace with this UID. Without it, two inputs with the same content would see
// each other as busy. A trace that another job waits for is published at once.
func (r *collecting) claim(uid string) *claim {
	for {
		r.mu.Lock()
		other := r.adding[uid]
		if other == nil {
			mine := &claim{ended: make(chan struct{})}
			r.adding[uid] = mine
			r.mu.Unlock()
			return mine
		}
		other.waited = true
		staged := other.staged
		r.mu.Unlock()
		if staged {
			r.adds.Flush()
		}
		<-other.ended
	}
}

// stage states that the batch has the trace.
func (r *collecting) stage(c *claim) {
	r.mu.Lock()
	c.staged = true
	waited := c.waited
	r.mu.Unlock()
	if waited {
		r.adds.Flush()
	}
}

// release ends the claim of a UID.
func (r *collecting) release(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.adding[uid]; c != nil {
		delete(r.adding, uid)
		close(c.ended)
	}
}
