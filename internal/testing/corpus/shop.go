package corpus

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Dotnet returns the variable of the environment that states where the programs of the reference data find their .NET runtime:
// its directory has the directory bundle. The test is skipped if there is none.
func Dotnet(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short mode: starts a .NET program")
	}
	unpacked, err := exec.Command(Shared(tb, "oracle", "traceevent"), "unpack").Output()
	if err != nil {
		tb.Skipf("the .NET runtime cannot be unpacked: %v", err)
	}
	return "TRACEEVENT_CACHE=" + strings.TrimSpace(string(unpacked))
}

// Shop returns a command that runs a scenario of the test program of the reference data, which states in the file truth what it
// did. The test is skipped if there is no such program.
func Shop(tb testing.TB, truth string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.Command(Shared(tb, "oracle", "shop"), args...)
	cmd.Env = append(os.Environ(), Dotnet(tb), "SHOP_TRUTH="+truth)
	return cmd
}
