package command

import (
	"strings"
	"testing"
)

// Times may be given as info prints them.
func TestTimes(t *testing.T) {
	cpu, dir := trace(t, "cpu-env"), t.TempDir()
	_, rest, _ := strings.Cut(invoke(t, dir, nil, "info", cpu).stdout, "recorded")
	recorded, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	for _, at := range []string{recorded, strings.TrimSuffix(recorded, " UTC")} {
		r := invoke(t, dir, nil, "print", "-q", "--from-time", at, cpu)
		if all := invoke(t, dir, nil, "print", "-q", "--from-time", "0s", cpu); r.code != exitOK || r.stdout != all.stdout || r.stdout == "" {
			t.Errorf("%s: code %d: %s", at, r.code, r.stderr)
		}
	}
}
