package profile

// RoundMedian rounds the exact median of sorted lengths as intervals does.
func RoundMedian(exact uint64, lengths []uint64) uint64 {
	return min(max(middle(bucket(exact)), lengths[0]), lengths[len(lengths)-1])
}
