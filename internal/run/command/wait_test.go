package command

import (
	"testing"
	"time"
)

// waitFor fails the test if a condition does not come true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain for ", what)
}
