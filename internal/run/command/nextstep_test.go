package command

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// storedTrace returns the bytes of a trace as stored in testdata: compressed with zstd.
func storedTrace(t *testing.T, name string) []byte {
	t.Helper()
	b := contentAt(t, trace(t, name))
	return b
}

// Whichever byte is corrupt: an error that ends the run has a next step, and an invalid value is reported with what it
// should be.
func TestDamagedAnywhere(t *testing.T) {
	failed, values := 0, 0
	for _, name := range []string{"cpu-env", "cpu-v6", "sources-netperf3"} {
		whole := unpacked(t, name)
		whole = whole[:min(len(whole), 3000)]
		dir := t.TempDir()
		for at := 0; at < 600; at += 5 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0xa5
			path := write(t, dir, "in", damaged)
			for _, flags := range [][]string{nil, {"--strict"}} {
				var errs bytes.Buffer
				if code := run(append([]string{"info", path}, flags...), io.Discard, &errs); code == exitInput {
					failed++
				} else if code != exitOK && code != exitIncomplete && code != exitLimit {
					t.Fatalf("%s, byte %d: code %d: %s", name, at, code, errs.String())
				} else if code != exitIncomplete {
					continue
				}
				text := errs.String()
				if !strings.Contains(text, "; ") {
					t.Errorf("%s, byte %d: no next step: %s", name, at, text)
				}
				if strings.Contains(text, "invalid value") || strings.Contains(text, "too long") {
					if values++; !strings.Contains(text, "want ") {
						t.Errorf("%s, byte %d: no expectation: %s", name, at, text)
					}
				}
			}
		}
	}
	if failed < 300 || values < 20 {
		t.Errorf("only %d failures and %d of values", failed, values)
	}
}
