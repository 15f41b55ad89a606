//go:build !linux && !darwin

package command

func limitFiles() {}
