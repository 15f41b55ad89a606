package formats

// firefoxFormat returns the row of profiles of the Firefox Profiler.
func firefoxFormat() *Format {
	return &Format{
		Name: "firefox",
		Exts: []string{".firefox.json"},
		Doc:  "processed profile of the Firefox Profiler, as profiler.firefox.com, samply and others save it",
		In:   firefoxIn(),
	}
}
