package profile

// RoundMedian rounds the exact median of sorted lengths as intervals does.
func RoundMedian(exact uint64, lengths []uint64) uint64 {
	return min(max(middle(bucket(exact)), lengths[0]), lengths[len(lengths)-1])
}

// Held returns the number of places that meters have neither passed on nor released.
func Held(b *Builder) (n int) {
	for _, s := range b.sets {
		if s.meter != nil {
			n += s.meter.slots - len(s.meter.free)
		}
	}
	return n
}
