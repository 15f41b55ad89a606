// Package tracegen writes nettrace streams of any length for tests and benchmarks, without holding them: traces in the
// shape of what recorders write, see [Write] and [WriteSpans], and shapes that are meant to hurt, see [Shapes].
//
// The command in the folder tracegen puts them out:
//
//	go run ./internal/testing/tracegen/tracegen -version 4 -bytes 4.5G | ntconv to pprof - > /tmp/big.pb.gz
package tracegen
