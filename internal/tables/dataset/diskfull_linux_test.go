package dataset

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A trace that exceeds the disk space leaves nothing; traces added before are complete.
func TestDiskFull(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("needs permission to mount a small tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	d, err := Create(dir, plain)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]int{}
	for i := range 200 {
		outcome := add(d, i, 5)
		if strings.HasPrefix(outcome, "failed") && !strings.Contains(outcome, "no space left") {
			t.Error(outcome)
		}
		outcomes[strings.Fields(outcome)[0]]++
	}
	if outcomes["added"] == 0 || outcomes["failed"] == 0 {
		t.Errorf("%v", outcomes)
	}
	clean(t, d, outcomes["added"])
}
