//go:build !linux && !darwin

package iox

func limitFileSize(uint64) {}
