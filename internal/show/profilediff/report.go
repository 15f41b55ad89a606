package profilediff

import (
	"fmt"
	"math"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/sample"
)

// A list is a part of the functions of a comparison under a heading, for a report.
type list struct {
	title     string
	detail    bool // nothing in it is significant
	functions []*Function
	more      int // functions beyond the limit
}

// verdicts are the headings of the functions that changed significantly.
var verdicts = [...]struct {
	verdict Verdict
	title   string
}{
	{More, "More, and a larger share of the total"},
	{MoreWithTotal, "More; the share of the total did not change significantly"},
	{LargerShare, "A larger share of the total; the value did not change significantly"},
	{Less, "Less, and a smaller share of the total"},
	{LessWithTotal, "Less; the share of the total did not change significantly"},
	{SmallerShare, "A smaller share of the total; the value did not change significantly"},
}

// lists returns the functions by verdict, then the largest changes that are not significant, at most count each; 0
// means all. Functions keep their order.
func (c *Comparison) lists(count int) (lists []*list) {
	add := func(title string, detail bool, belongs func(*Function) bool) {
		l := &list{title: title, detail: detail}
		for i := range c.Functions {
			switch f := &c.Functions[i]; {
			case !belongs(f):
			case count > 0 && len(l.functions) == count:
				l.more++
			default:
				l.functions = append(l.functions, f)
			}
		}
		if len(l.functions) > 0 {
			lists = append(lists, l)
		}
	}
	for _, v := range verdicts {
		add(v.title, false, func(f *Function) bool { return f.Verdict == v.verdict })
	}
	other := func(f *Function) bool { return f.Verdict == NotChanged || f.Verdict == NotTested }
	add("Not significant: functions in both", true, func(f *Function) bool {
		return other(f) && f.Status == statusCommon && (f.Self.Change != 0 || f.Total.Change != 0)
	})
	add("Not significant: new functions", true, func(f *Function) bool { return other(f) && f.Status == statusNew })
	add("Not significant: functions that are gone", true, func(f *Function) bool { return other(f) && f.Status == statusGone })
	return lists
}

// Headline says in one sentence what changed significantly.
func (c *Comparison) Headline() string {
	var parts []string
	if c.Total.Significant {
		parts = append(parts, "the total of "+shorten(c.Type, 30)+c.per()+" "+direction(&c.Total))
	}
	if c.Significant > 0 {
		parts = append(parts, message.Count(int64(c.Significant), "function"))
	}
	if rows := c.significantRows(); rows > 0 {
		parts = append(parts, message.Count(int64(rows), "other total"))
	}
	switch {
	case len(parts) > 0:
		return "Changed significantly: " + strings.Join(parts, ", ") + "."
	case c.Total.P == nil:
		return "The sampling error is unknown, so no change is called significant."
	}
	return "Nothing changed significantly."
}

// significantRows returns how many totals of the traces changed significantly.
func (c *Comparison) significantRows() (n int) {
	for _, s := range c.Sections {
		for i := range s.Rows {
			if s.Rows[i].Significant {
				n++
			}
		}
	}
	return n
}

// ifSameWork says what more would be significant with Options.SameWork, "" if nothing.
func (c *Comparison) ifSameWork() string {
	if c.same == nil {
		return ""
	}
	var parts []string
	if c.same.Total.Significant && !c.Total.Significant {
		parts = append(parts, "the total")
	}
	if n := c.same.Significant - c.Significant; n > 0 {
		parts = append(parts, message.Count(int64(n), "more function"))
	}
	if n := c.same.significantRows() - c.significantRows(); n > 0 {
		parts = append(parts, message.Count(int64(n), "more total"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "With --same-work, " + message.List(parts) + " would have changed significantly: use it if both recordings did the " +
		"same work, as a benchmark does."
}

// direction says by how much a value increased or decreased.
func direction(d *Change) string {
	word := "increased"
	if d.Change < 0 {
		word = "decreased"
	}
	if d.Percent == nil {
		return word
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s%s)", word, d.percent(), d.margin()))
}

// totalLine describes the total of all samples.
func (c *Comparison) totalLine() string {
	text := "Total" + c.per() + ": " + quantity(c.Total.Before, c.Unit) + " → " + quantity(c.Total.After, c.Unit)
	if p := c.Total.percent(); p != "" {
		text += ", " + p + c.Total.margin()
	}
	switch {
	case c.Total.Significant:
		return text + ": significant"
	case c.Total.P == nil:
		return text + ": the sampling error is unknown"
	}
	return text + ": not significant"
}

// remarks returns what a reader must know to judge the comparison.
func (c *Comparison) remarks() (list []string) {
	list = append(list, fmt.Sprintf("%s tested, %s with too few samples; a change must be at least %s of the total before.",
		message.Count(int64(c.Tested), "function"), message.Group(int64(c.Untested)), quantity(100*c.MinEffect, "percent")))
	if b, a := c.Before.Seconds, c.After.Seconds; c.Per == "" && b > 0 && a > 0 && (a > 1.05*b || b > 1.05*a) {
		list = append(list, "The recordings have different lengths; --per time compares values per second.")
	}
	if b, a := c.Before.Kind, c.After.Kind; b != a && b != sample.Imported.String() && a != sample.Imported.String() {
		list = append(list, "The inputs have different kinds of profiles, "+b+" and "+a+"; select one with --kind.")
	}
	if text := c.ifSameWork(); text != "" {
		list = append(list, text)
	}
	if c.mixed {
		list = append(list, "One input is a profile, which has no totals of a trace, so only functions are compared.")
	}
	if c.Total.P != nil && (c.Before.Error != "time" || c.After.Error != "time") {
		list = append(list, "Samples without times: their sampling error is an assumption, see docs/diff.md.")
	}
	if b, a := c.Before.Unresolved, c.After.Unresolved; math.Abs(b-a) > 0.01 {
		list = append(list, fmt.Sprintf("Functions without symbols have %s of the total before and %s after: some functions differ only "+
			"because one recording lacks their names.", quantity(100*b, "percent"), quantity(100*a, "percent")))
	}
	for _, s := range []Side{c.Before, c.After} {
		if s.Estimate != "" {
			list = append(list, s.Input+": "+s.Estimate+".")
		}
	}
	return list
}

// sideLine describes an input.
func (c *Comparison) sideLine(s *Side) string {
	text := quantity(s.Total, c.Unit)
	if s.Seconds > 0 {
		text += " in " + quantity(s.Seconds*1e9, "nanoseconds")
	}
	if s.Samples > 0 && c.Unit != "count" {
		text += ", " + message.Count(int64(s.Samples), "sample")
	}
	if s.Per > 0 && c.Per != "second" && (c.Per != "sample" || c.Unit == "count") {
		text += ", " + message.Count(int64(s.Per), c.Per)
		if s.PerOf != "" {
			text += " (" + s.PerOf + ")"
		}
	}
	return text
}

// Exceeds lists what increased significantly by more than a fraction: the total of all samples; values of functions, in
// relation to that total before; and quantiles of the durations of requests. Nothing is significant if the sampling
// error is unknown.
func (c *Comparison) Exceeds(limit float64) (reasons []string) {
	above := func(d *Change, of float64) bool {
		return d.Change > limit*of && d.Significant && d.Change > 0
	}
	if above(&c.Total, c.Total.Before) {
		reasons = append(reasons, "the total of "+shorten(c.Type, 30)+c.per()+" by "+c.Total.percent())
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		d := &f.Self
		if !above(d, c.Total.Before) {
			d = &f.Total
		}
		if above(d, c.Total.Before) {
			reasons = append(reasons, fmt.Sprintf("%s by %s of the total", f.Name, signed(100*d.Change/c.Total.Before, "percent")))
		}
	}
	for _, s := range c.Sections {
		for i := range s.Rows {
			if r := &s.Rows[i]; isDuration(s.Name) && r.Unit == "nanoseconds" && above(&r.Change, r.Before) {
				reasons = append(reasons, r.Name+" by "+r.percent())
			}
		}
	}
	return reasons
}

// isDuration reports whether a section has durations of requests.
func isDuration(section string) bool { return section == sectionRequests || section == sectionSpans }

// ErrorUnknown reports whether the sampling error of an input is unknown, so that nothing is called significant.
func (c *Comparison) ErrorUnknown() bool { return c.Total.P == nil }
