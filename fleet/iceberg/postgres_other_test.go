//go:build !linux

package iceberg

import "testing"

// startPostgres starts no server.
func startPostgres(*testing.T) string { return "" }
