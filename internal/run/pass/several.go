package pass

import "slices"

// Add adds what another run read, so that s describes runs over several inputs: their events and reports, and the notes
// that s lacks. It does not add outputs and results.
func (s *Summary) Add(other *Summary) {
	if s.Input == "" {
		s.Input, s.Format = other.Input, other.Format
	} else {
		if s.Inputs == nil {
			s.Inputs = []string{s.Input}
		}
		s.Inputs = append(s.Inputs, other.Input)
	}
	s.Events += other.Events
	s.Selected += other.Selected
	for _, note := range other.Notes {
		if !slices.Contains(s.Notes, note) {
			s.Notes = append(s.Notes, note)
		}
	}
	for _, e := range other.Report {
		i := slices.IndexFunc(s.Report, func(x Entry) bool { return x.code == e.code })
		if i < 0 {
			s.Report = append(s.Report, e)
			continue
		}
		s.Report[i].Count += e.Count
		s.Report[i].Offset = nil // an offset in the first input only
	}
}
