package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestConcatenated: a second trace in an input is an error with the commands that split the input, the first one is
// converted, and the parts that these commands write are traces.
func TestConcatenated(t *testing.T) {
	for _, name := range []string{"activities", "cpu-v6", "sources-netperf3"} {
		t.Run(name, func(t *testing.T) {
			one := unpacked(t, name)
			two := append(append([]byte{}, one...), one...)
			whole := invoke(t, t.TempDir(), one, "print", "-")
			for _, args := range [][]string{{"info"}, {"print"}, {"to", "parquet", "-o", "x"}, {"to", "nettrace", "-o", "x"}} {
				dir := t.TempDir()
				r := invoke(t, dir, two, append(args, "-")...)
				split := fmt.Sprintf("with head -c %d and tail -c +%d and ", len(one), len(one)+1)
				if r.code != exitIncomplete || !strings.Contains(r.stderr, "another trace begins here") ||
					!strings.Contains(r.stderr, split) {
					t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
				}
				if args[0] == "print" && r.stdout != whole.stdout {
					t.Errorf("%d bytes of events, want %d", len(r.stdout), len(whole.stdout))
				}
			}
			junk := invoke(t, t.TempDir(), append(append([]byte{}, one...), "junk"...), "info", "-")
			if junk.code != exitIncomplete || !strings.Contains(junk.stdout, "4 bytes after the end of the trace") {
				t.Errorf("junk: code %d: %s%s", junk.code, junk.stdout, junk.stderr)
			}
			if zeros := invoke(t, t.TempDir(), append(append([]byte{}, one...), make([]byte, 512)...), "info", "-"); zeros.code != exitOK {
				t.Errorf("zeros: code %d: %s", zeros.code, zeros.stderr)
			}
		})
	}
}
