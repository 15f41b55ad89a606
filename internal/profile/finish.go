package profile

import (
	"iter"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
)

// Finish ends the pending intervals and returns the profile. The Builder must not be used afterwards, except through
// the Profile. Finish notes in Options.Report samples without a stack, out of order or with an invalid payload, and
// time of threads without a sample.
func (b *Builder) Finish() *Profile {
	p := b.finish(b.results()[0], b.report)
	for _, other := range b.sets {
		if n := other.events + other.seen; other != p.s && n > 0 {
			p.Others = append(p.Others, sample.Other{Kind: other.kind, N: n})
		}
	}
	return p
}

// FinishEach is Finish for Options.Each: it returns an iterator over the profiles of all kinds with samples, in the
// order of sample.Preferred. Each profile is valid until the next one. The report gets the notes after the last one.
func (b *Builder) FinishEach() iter.Seq[*Profile] {
	return func(yield func(*Profile) bool) {
		var all notes
		for _, s := range b.results() {
			own := new(ntconv.Report)
			p := b.finish(s, own)
			p.common = b.report
			more := yield(p)
			all.add(own)
			if !more {
				break
			}
		}
		for _, e := range all {
			b.report.Note(e.Code, e.Count, e.Offset, e.Detail)
		}
	}
}

// notes are entries of reports about several kinds. A report keeps only the first detail per code, so they are joined.
type notes []ntconv.Entry

func (n *notes) add(r *ntconv.Report) {
	for _, e := range r.Entries() {
		i := slices.IndexFunc(*n, func(x ntconv.Entry) bool { return x.Code == e.Code })
		if i < 0 {
			*n = append(*n, e)
			continue
		}
		x := &(*n)[i]
		x.Count += e.Count
		if x.Detail != "" && e.Detail != "" {
			x.Detail += "; "
		}
		x.Detail += e.Detail
	}
}

// finish ends the pending intervals of a set and returns its profile. report receives the notes on it.
func (b *Builder) finish(s *set, report *ntconv.Report) *Profile {
	if s.imported == nil && s.declared != nil { // a profile without samples is also restored
		s.adopt(s.declared)
	}
	period := s.spec.Every
	if period == 0 {
		period = rounds.NominalPeriod(b.info)
	}
	s.finish(report)
	estimate := s.estimate()
	if s.meter != nil {
		s.sortRows()
	}
	p := &Profile{
		Kind: s.kind, Types: make([]sample.Type, len(s.columns)), Main: s.main, Estimate: estimate,
		PeriodType: s.spec.Period, Period: period,
		Events: s.events, Unseen: s.threads.Unseen(), Adopted: s.adopted, b: b, s: s, report: report,
	}
	if s.meter != nil && s.total(p.Main) == 0 {
		p.Main = s.firstUsed()
	}
	for i, c := range s.columns {
		p.Types[i] = c.Type
	}
	p.Start, p.End = b.recorded(s)
	if c := s.imported; c != nil {
		p.Main, p.PeriodType, p.Period = c.Main(), c.PeriodType, c.Period
	}
	return p
}

// Recorded returns the start of the recorded time range in nanoseconds since 1970, 0 if it is unknown, and its duration in
// nanoseconds.
func (p *Profile) Recorded(info *ntconv.Info) (start, duration uint64) {
	if at := info.Clock.Time(p.Start); !at.IsZero() && at.Unix() > 0 && at.Year() < 2262 {
		start = uint64(at.UnixNano())
	}
	return start, uint64(info.Clock.Since(p.Start, p.End))
}

// Comments returns the comments of the profile: those of Options, losses, what is estimated and unresolved, and the
// remarks. Call it once, after the last sample.
func (p *Profile) Comments() []string {
	list := slices.Clone(p.b.comments)
	for _, e := range p.notes() {
		if e.Code == ntconv.CodeUnseen || e.Code != ntconv.CodeUnresolved && e.Code.Severity() > ntconv.SeverityInfo {
			e.Offset = -1 // the same trace in another file gives the same profile
			list = append(list, e.String())
		}
	}
	for _, text := range []string{p.Estimate.String(), DescribeUnresolved(p.Summary())} {
		if text != "" {
			list = append(list, text)
		}
	}
	return append(list, p.Remarks()...)
}

// Remarks returns the comments of Options.Remarks, which also a restored profile gets. Comments includes them.
func (p *Profile) Remarks() []string {
	if p.b.remarks == nil {
		return nil
	}
	return p.b.remarks()
}

// notes returns the entries of the report that apply to the profile: all of Options.Report, but for Options.Each
// without those on other kinds. Call it after the last sample.
func (p *Profile) notes() []ntconv.Entry {
	if p.common == nil {
		return p.report.Entries()
	}
	r := new(ntconv.Report)
	for _, report := range []*ntconv.Report{p.common, p.report} {
		for _, e := range report.Entries() {
			r.Note(e.Code, e.Count, e.Offset, e.Detail)
		}
	}
	return r.Entries()
}
