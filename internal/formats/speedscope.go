package formats

// speedscopeFormat returns the row of speedscope.
func speedscopeFormat() *Format {
	return &Format{
		Name: "speedscope",
		Exts: []string{".speedscope.json"},
		Doc:  "speedscope JSON of dotnet-trace, py-spy, rbspy and others: profiles of threads, sampled or as events",
		In:   speedscopeIn(),
	}
}
