package perfetto

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
)

// TestSize: the output has at most a fifth of the bytes of Chrome's JSON for the same trace. Small traces consist of
// names.
func TestSize(t *testing.T) {
	const small = 100_000
	traces(t, func(t *testing.T, file corpus.File) {
		src, names := source(t, file.Data)
		var json counter
		sink := chrome.New(&json, src.Info(), names, nil)
		if _, err := ntconv.Copy(sink, src); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		out, _ := convert(t, file.Data, nil)
		plain, _ := convert(t, file.Data, &Options{Plain: true})
		t.Logf("%d bytes of JSON, %.3f, plain %.3f", json, float64(len(out))/float64(json), float64(len(plain))/float64(json))
		if json > small && len(out) > int(json)/5 {
			t.Errorf("%d bytes, more than a fifth of %d", len(out), json)
		}
	})
}

// TestArgsDoNotAllocate encodes payloads whose names and strings are known.
func TestArgsDoNotAllocate(t *testing.T) {
	events := eventsOf(t, "jit")
	a := newArgEncoder(nil)
	var dst []byte
	encode := func() {
		for _, e := range events {
			dst = a.append(dst[:0], &timeline.Source{Event: e})
		}
	}
	for range 5 {
		encode() // until the strings that repeat have numbers
	}
	if n := testing.AllocsPerRun(3, encode); n > 1 {
		t.Errorf("%.0f allocations for %d events", n, len(events))
	}
}
