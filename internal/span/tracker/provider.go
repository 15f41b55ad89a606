package tracker

// HasPairs reports whether Start and Stop events of a provider can be spans of Pairs.
func HasPairs(provider string) bool { return !isInfrastructure(provider) }
