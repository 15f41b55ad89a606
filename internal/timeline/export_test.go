package timeline

// Accounted returns the number of events that became items, or parts of items, or were omitted on request.
func (t *Timeline) Accounted() int64 {
	p, c := &t.parts, &t.counts
	return p.bounds + p.counters + p.samples + p.omitted + c.Instants - p.inner + c.Raw + c.Rundown
}

// SampleEvents returns the number of events that were samples.
func (t *Timeline) SampleEvents() int64 { return t.parts.samples }
