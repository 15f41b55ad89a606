package recording_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// FuzzRead reads arbitrary payloads of all types of counters.
func FuzzRead(f *testing.F) {
	var types []*ntconv.Type
	index := map[*ntconv.Type]int{}
	traces := []string{"counters"}
	files := []corpus.File{corpus.Trace(f, traces[0])}
	if _, err := corpus.Find("data"); err == nil {
		files = append(files, corpus.SharedTrace(f, "own/metrics"))
	}
	for _, file := range files {
		src, err := reader.NewBytes(file.Data, nil)
		if err != nil {
			f.Fatal(err)
		}
		for e := range ntconv.Events(src) {
			if e.Kind != ntconv.KindEvent || e.Type.Name != "EventCounters" && e.Type.Provider != "System.Diagnostics.Metrics" {
				continue
			}
			if _, known := index[e.Type]; !known {
				index[e.Type] = len(types)
				types = append(types, e.Type)
			}
			f.Add(byte(index[e.Type]), e.Payload)
		}
	}
	thread := &ntconv.Thread{Process: &ntconv.Process{}}
	f.Fuzz(func(t *testing.T, n byte, payload []byte) {
		r := recording.NewCounterReader()
		for i := range 2 {
			e := &ntconv.Event{Kind: ntconv.KindEvent, Type: types[(int(n)+i)%len(types)], Thread: thread, Payload: payload}
			values := 0
			r.Read(e, func(v *recording.CounterValue) {
				if values++; !v.OK && v.Value != 0 || v.Statistic == "" || v.Kind == "" {
					t.Errorf("%+v", v)
				}
			})
			if values > len(payload)+5 {
				t.Errorf("%d values in %d bytes", values, len(payload))
			}
		}
	})
}
