package pprof

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

// The functions of this file write imported profiles. They restore the original contents, whereas other profiles get
// names for every frame, and system names only where they differ.

// importedMappings adds the mappings that no location refers to. It returns the number of the main program of the
// process with the greatest weight, or 0 if no mapping is marked as the main program.
func (t *tables) importedMappings(heaviest *ntconv.Process, all []*ntconv.Process, namer ntconv.Namer) (first uint32) {
	type list struct {
		first **ntconv.Mapping
		n     int
	}
	programs := map[list]uint32{} // the processes of a profile share one list
	for _, p := range all {
		mappings := p.Mappings
		if namer != nil {
			mappings = namer.Mappings(p)
		}
		if len(mappings) == 0 {
			continue
		}
		key := list{&mappings[0], len(mappings)}
		program, ok := programs[key]
		if !ok {
			program = t.addMappings(mappings)
			programs[key] = program
		}
		if program != 0 && (first == 0 || p == heaviest) {
			first = program
		}
	}
	return first
}

// addMappings adds all mappings of a process, and returns the number of the one marked as the main program, or 0.
func (t *tables) addMappings(list []*ntconv.Mapping) (program uint32) {
	for _, m := range list {
		if id := t.AddMapping(m); m.Flags&ntconv.MappingMain != 0 {
			program = id
		}
	}
	return program
}

// importedHeader appends the fields that occur once in a profile.
func (e *encoder) importedHeader(o *imported.Origin, t *tables) {
	e.out = appendNumber(e.out, fieldDropFrames, t.text(o.DropFrames))
	e.out = appendNumber(e.out, fieldKeepFrames, t.text(o.KeepFrames))
	e.out = appendNumber(e.out, fieldTimeNanos, uint64(o.Time))
	e.out = appendNumber(e.out, fieldDurationNanos, uint64(o.Duration))
	if o.PeriodType != (sample.Type{}) {
		e.valueType(fieldPeriodType, t.text(o.PeriodType.Type), t.text(o.PeriodType.Unit))
	}
	e.out = appendNumber(e.out, fieldPeriod, uint64(o.Period))
	e.out = appendNumber(e.out, fieldDefaultSampleType, t.text(o.Default))
	e.out = appendNumber(e.out, fieldDocURL, t.text(o.DocURL))
}
