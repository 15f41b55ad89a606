package folded

import (
	"cmp"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// syncTick is the time of all events in nanoseconds. It is not 0, because some readers treat 0 as unknown.
const syncTick = 1_000_000_000

// describe sets what all events share, as importers/pprof does for a profile with one sample type.
func (s *source) describe() {
	t := imported.ValueType{Type: cmp.Or(s.o.SampleType, "samples"), Unit: cmp.Or(s.o.Unit, "count")}
	o := imported.Origin{Columns: imported.Columns{Types: []imported.ValueType{t}}}
	s.typ = &ntconv.Type{
		Provider: clr.UniversalEvents, ID: 1, Name: "cpu", Fields: o.Fields(),
		Attrs: append(
			o.Attrs(),
			ntconv.Attr{Key: imported.AttrWeight, Value: t.Type},
			ntconv.Attr{Key: imported.AttrWeightUnit, Value: t.Unit},
		),
	}
	s.capture = &ntconv.Thread{Process: &ntconv.Process{PID: 0}}
	s.info = ntconv.Info{
		Format: "folded", PointerSize: 8, Aggregate: true,
		Clock: ntconv.Clock{Freq: 1e9, Tick: syncTick},
		Attrs: ntconv.Attrs{{Key: "HardwareThreadCount", Value: "1"}}, // all samples are on CPU 0
	}
}
