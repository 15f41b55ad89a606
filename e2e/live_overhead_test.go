//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var overhead = flag.Int("overhead", 0, "`runs` of each recording of which TestLiveOverhead prints what they cost the process")

// TestLiveOverhead prints the CPU time that a fixed amount of work takes a process while it is recorded, in runs that alternate.
// It fails only if a recording does.
func TestLiveOverhead(t *testing.T) {
	if *overhead == 0 {
		t.Skip("-overhead prints the table; other programs disturb it")
	}
	recordings := []string{"", "--profile dotnet-common,dotnet-sampled-thread-time", "--kind wall", "--kind alloc", "--kind contention", "--every 10s --kind wall"}
	cpu := make([][]time.Duration, len(recordings))
	wall := make([][]time.Duration, len(recordings))
	for range *overhead {
		for i, flags := range recordings {
			l := startLive(t, "alloc", "8000")
			var own *started
			if flags != "" {
				out := filepath.Join(l.dir, "o.nettrace")
				args := []string{"collect", "-q", "-p", strconv.Itoa(l.pid()), "-o", out, "--to", "nettrace"}
				if strings.Contains(flags, "--every") {
					args[5] = l.dir + "/windows/"
				}
				own = launch(t, liveEnv(t, l.dir), command, append(args, strings.Fields(flags)...)...)
			}
			l.wait(t)
			if own != nil {
				if code := own.wait(t); code != complete {
					t.Fatalf("%s: exit code %d: %s", flags, code, own.msg.String())
				}
			}
			var truth struct{ MainStartQpc, MainEndQpc int64 }
			readTruth(t, l.truth, &truth)
			state := l.cmd.ProcessState
			cpu[i] = append(cpu[i], state.UserTime()+state.SystemTime())
			wall[i] = append(wall[i], time.Duration(truth.MainEndQpc-truth.MainStartQpc))
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return list[len(list)/2].Seconds()
	}
	for i, flags := range recordings {
		fmt.Fprintf(os.Stderr, "%-60s CPU %6.2f s (%+5.1f%%), %.2f to %.2f s; elapsed %6.2f s\n", "collect "+flags, median(cpu[i]),
			100*(median(cpu[i])/median(cpu[0])-1), cpu[i][0].Seconds(), cpu[i][len(cpu[i])-1].Seconds(), median(wall[i]))
	}
}
