//go:build !linux

package command

const asMeter = "NTCONV_TEST_MEASURE_INTO"

func meter(string) { panic("memory is measured on linux only") }
