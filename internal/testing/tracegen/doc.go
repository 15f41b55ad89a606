// Package tracegen writes nettrace streams of any length for tests and benchmarks without holding them in memory:
// traces like those of recorders, see [Write] and [WriteSpans], and adversarial streams, see [Shapes].
//
// The command in the directory tracegen prints them:
//
//	go run ./internal/testing/tracegen/tracegen -version 4 -bytes 4.5G | ntconv to pprof - > /tmp/big.pb.gz
package tracegen
