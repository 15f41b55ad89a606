// Package e2e tests ntconv as a whole: it compares the built command and the public packages with Microsoft's
// TraceEvent library, with the programs that read ntconv's output, and with programs that measured themselves while
// they were recorded.
//
// It is a separate module, so that its dependencies are not in ntconv's go.mod. Tests of ../testdata always run. Tests
// that need more traces, reference output, Python, Node or the program that runs TraceEvent look in the directory
// NTCONV_SHARED or ../../shared, and skip with a message if it is absent.
package e2e
