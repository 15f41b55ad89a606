//go:build !linux

package web

// limitMemory does nothing: there is no way to limit another process. The size of its input bounds the memory of dot.
func limitMemory(int, uint64) error { return nil }
