package symbol

import "github.com/ntconv/ntconv"

// SkipRegions makes a source of Synthesize go on as if so many bytes of made-up addresses were left.
func SkipRegions(s ntconv.Source, left uint64) {
	s.(*synthesizedSource).s.regions = (lastRegion + 1 - firstRegion - left) / regionSize
}
