package reader_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
)

// TestForeignInput checks that the error for input of another format says so, and does not quote the numbers that the
// reader finds there.
func TestForeignInput(t *testing.T) {
	for name, head := range map[string]string{
		"PNG":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00",
		"JSON": `{"traceEvents": [{"ph": "X", "ts": 1}]}`,
		"text": "main;work 12\nmain;wait 3\n",
		"ELF":  "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		_, err := reader.New(strings.NewReader(head), nil)
		const want = "nettrace: byte 0: unknown format: not a nettrace or netperf stream"
		if !errors.Is(err, ntconv.ErrFormat) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if _, inMemory := reader.NewBytes([]byte(head), nil); inMemory == nil || inMemory.Error() != err.Error() {
			t.Errorf("%s: in memory %v, as a stream %v", name, inMemory, err)
		}
	}
	// Input that starts like a trace is corrupt or of an unknown version.
	corrupt := append([]byte("Nettrace"), bytes.Repeat([]byte{9}, 60)...)
	if _, err := reader.NewBytes(corrupt, nil); err == nil || strings.Contains(err.Error(), "not a nettrace") {
		t.Errorf("a corrupt header: %v", err)
	}
}
