module github.com/ntconv/ntconv/e2e

go 1.26.0

require (
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe
	github.com/klauspost/compress v1.20.3
	github.com/ntconv/ntconv v0.0.0-00010101000000-000000000000
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/ntconv/ntconv => ../
