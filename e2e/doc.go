// Package e2e tests ntconv from outside: the built command and the public packages against Microsoft's own reader, the
// tools that consume what ntconv writes, and programs that measured themselves while they were recorded.
//
// It is a module of its own, so that what only these tests need stays out of ntconv's go.mod. Tests on ../testdata
// always run. Those that need more traces, the reference output for them, Python, Node or the reference reader itself
// look in the folder that NTCONV_SHARED names, or in ../../shared, and skip with a message where it is absent.
package e2e
