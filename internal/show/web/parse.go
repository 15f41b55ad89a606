package web

import "github.com/google/pprof/profile"

// Parse decodes an encoded profile for Top and Serve. Its memory is attributed to this package.
func Parse(data []byte) (*profile.Profile, error) { return profile.ParseData(data) }
