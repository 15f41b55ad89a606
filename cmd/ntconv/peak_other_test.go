//go:build !linux

package main

func measurePeak() {}
