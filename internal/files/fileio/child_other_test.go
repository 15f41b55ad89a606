//go:build !linux && !darwin

package fileio

func limitFileSize(uint64) {}
