package profile

import (
	"encoding/binary"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// The number of kinds is not limited: each set of a builder counts the samples of its kind, and events that state
// weights remain recognized. A set of bits would lose kinds beyond its width or confuse them with the bit of weights.
func TestManyKinds(t *testing.T) {
	const kinds, weight, samples = 70, 12345, 3
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}
	b := New(info, nil, &Options{Kind: sample.Wall})
	for len(b.sets) < kinds {
		b.sets = append(b.sets, newSet(b, sample.Wall, new(meters.Settings)))
	}
	typ := &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler"}
	weightType := &ntconv.Type{
		Provider: recording.Provider, Name: recording.SampleWeight, Fields: []ntconv.Field{{Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}},
	}
	th := &ntconv.Thread{Process: &ntconv.Process{PID: 2}}
	stack := &ntconv.Stack{PCs: []uint64{1}}
	for i := range samples {
		b.Add(&ntconv.Event{
			Type: typ, Thread: th, Stack: stack, Time: ntconv.Ticks(i * 100), Payload: binary.LittleEndian.AppendUint32(nil, 2),
		})
	}
	b.Add(&ntconv.Event{
		Type: weightType, Thread: th, Time: samples * 100, Payload: binary.AppendUvarint(nil, weight),
	})
	for i, s := range b.sets {
		if s.events != samples {
			t.Errorf("kind %d has %d samples, want %d", i, s.events, samples)
		}
		if got, want := s.values[s.spec.Interval], int64((samples-1)*100+weight); got != want {
			t.Errorf("samples of kind %d weigh %d ticks, want %d", i, got, want)
		}
	}
}
