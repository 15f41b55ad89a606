package symbol

import "github.com/ntconv/ntconv"

// SkipRegions makes a source of Synthesize continue as if so many bytes of synthetic addresses were left.
func SkipRegions(s ntconv.Source, left uint64) {
	s.(*synthesizedSource).s.regions = (lastRegion + 1 - firstRegion - left) / regionSize
}
