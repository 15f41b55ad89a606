package pprofview

import "github.com/google/pprof/profile"

// Parse parses an encoded profile for Top and Serve. Memory that it takes is thus known to be that of this package.
func Parse(data []byte) (*profile.Profile, error) { return profile.ParseData(data) }
