package web

import (
	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A Ranking is the report of Top as numbers.
type Ranking struct {
	SampleType profile.ValueType // of all values; TopOptions selects it by its name
	// Total is the basis of percentages: the total of the absolute values of all samples before the filter, or of the
	// samples of the base if percentages are relative to it (see Difference).
	Total     int64
	Functions int   // number of functions in the selected samples
	Rows      []Row // at most TopOptions.Count, sorted as in the report
}

// A Row is a function of a Ranking.
type Row struct {
	Function  string
	Flat, Cum int64 // value of the function itself, and including its callees
}

// Rank returns the report of Top as numbers, with all functions regardless of their values. It does not escape names.
// unmatched and the errors are those of Top. Rank takes ownership of p. It is not safe for concurrent use, because the
// driver has global settings.
func Rank(p *profile.Profile, o *TopOptions) (ranking *Ranking, unmatched []string, err error) {
	nameTypes(p)
	index, err := sampleIndex(p, o.SampleType)
	if err != nil {
		return nil, nil, err
	}
	nameLocations(p)
	ranking = &Ranking{SampleType: *p.SampleType[index], Total: total(p, index)}
	all := *o
	all.Count = 0
	data, unmatched, err := all.run(p, "-topproto", "-unit="+ranking.SampleType.Unit)
	if err != nil {
		return nil, nil, err
	}
	top, err := profile.ParseData(data)
	if err != nil {
		return nil, nil, err
	}
	ranking.Functions = len(top.Sample)
	for i, s := range top.Sample {
		if o.Count > 0 && i == o.Count {
			break
		}
		// The sample types of this report are cum and flat, and each sample is a function.
		row := Row{Function: s.Location[0].Line[0].Function.Name, Flat: s.Value[1], Cum: s.Value[0]}
		ranking.Rows = append(ranking.Rows, row)
	}
	return ranking, unmatched, nil
}

// total returns the basis of pprof's percentages.
func total(p *profile.Profile, index int) int64 {
	var all, base int64
	for _, s := range p.Sample {
		v := abs(s.Value[index])
		all += v
		if s.DiffBaseSample() {
			base += v
		}
	}
	if base > 0 {
		return base
	}
	return all
}

func abs(v int64) int64 { return max(v, -v) }

// nameLocations assigns to locations without a function the name under which the report of Top lists them: the file of
// their mapping.
func nameLocations(p *profile.Profile) {
	byName := map[string]*profile.Function{}
	var last uint64
	for _, f := range p.Function {
		last = max(last, f.ID)
	}
	for _, l := range p.Location {
		module := ""
		if l.Mapping != nil {
			module = l.Mapping.File
		}
		name := message.Unnamed(module)
		if len(l.Line) == 0 {
			l.Line = make([]profile.Line, 1)
		}
		for i, line := range l.Line {
			if line.Function != nil && line.Function.Name != "" {
				continue
			}
			f := byName[name]
			if f == nil {
				last++
				f = &profile.Function{ID: last, Name: name}
				p.Function, byName[name] = append(p.Function, f), f
			}
			l.Line[i].Function = f
		}
	}
}
