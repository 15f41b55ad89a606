package imported

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// An Origin holds the properties of an imported profile. Formats without comments, times or expressions leave these
// members zero.
type Origin struct {
	Columns
	Time       int64    // start of the recording in nanoseconds since 1970; 0 if unknown
	Duration   int64    // nanoseconds; 0 if unknown
	Comments   []string // in their order
	DropFrames string   // regular expression of functions whose frames pprof hides
	KeepFrames string   // regular expression of functions that DropFrames does not hide
	DocURL     string   // address of a page about the profile
}

// Keys of attributes. A number, starting at 0, follows keys that end in a dot. The keys are part of the file format
// (docs/pprof.md lists them) for all formats of profiles.
const (
	attrTypes      = "pprof.sample_types" // number of columns
	attrType       = "pprof.sample_type."
	attrUnit       = "pprof.sample_unit."
	attrDefault    = "pprof.default_sample_type"
	attrPeriodType = "pprof.period_type"
	attrPeriodUnit = "pprof.period_unit"
	attrPeriod     = "pprof.period"
	attrTime       = "pprof.time_nanos"
	attrDuration   = "pprof.duration_nanos"
	attrComment    = "pprof.comment."
	attrDrop       = "pprof.drop_frames"
	attrKeep       = "pprof.keep_frames"
	attrDocURL     = "pprof.doc_url"
)

// Attrs returns the attributes for the type of the samples. It omits empty and zero fields, but not the number of
// columns and empty comments. The attributes of comments come last.
func (o *Origin) Attrs() ntconv.Attrs {
	list := ntconv.Attrs{{Key: attrTypes, Value: strconv.Itoa(len(o.Types))}}
	add := func(key, value string) {
		if value != "" {
			list = append(list, ntconv.Attr{Key: key, Value: value})
		}
	}
	number := func(key string, n int64) {
		if n != 0 {
			add(key, strconv.FormatInt(n, 10))
		}
	}
	for i, t := range o.Types {
		add(attrType+strconv.Itoa(i), t.Type)
		add(attrUnit+strconv.Itoa(i), t.Unit)
	}
	add(attrDefault, o.Default)
	add(attrPeriodType, o.PeriodType.Type)
	add(attrPeriodUnit, o.PeriodType.Unit)
	number(attrPeriod, o.Period)
	number(attrTime, o.Time)
	number(attrDuration, o.Duration)
	add(attrDrop, o.DropFrames)
	add(attrKeep, o.KeepFrames)
	add(attrDocURL, o.DocURL)
	for i, c := range o.Comments {
		list = append(list, ntconv.Attr{Key: attrComment + strconv.Itoa(i), Value: c})
	}
	return list
}

// Of returns the origin that the attributes of t describe, or nil if events of t are not imported samples. It
// allocates: call it once per type.
func Of(t *ntconv.Type) *Origin {
	c := ColumnsOf(t)
	if c == nil {
		return nil
	}
	o := &Origin{
		Columns: *c, Time: number(t, attrTime), Duration: number(t, attrDuration),
		DropFrames: get(t, attrDrop), KeepFrames: get(t, attrKeep), DocURL: get(t, attrDocURL),
	}
	o.Comments = comments(t.Attrs)
	return o
}

// comments returns the comments among attributes, up to the first number that is missing. Attrs.Get would search all
// attributes for each.
func comments(attrs ntconv.Attrs) (list []string) {
	values := make(map[string]string)
	for _, a := range attrs {
		if number, ok := strings.CutPrefix(a.Key, attrComment); ok {
			values[number] = a.Value
		}
	}
	for i := range len(values) {
		c, ok := values[strconv.Itoa(i)]
		if !ok {
			break
		}
		list = append(list, c)
	}
	return list
}

// Merge returns the origin of the aggregated samples of the given types, as pprof's own merge computes it: durations
// add up, the earliest start and the longest period win, and each comment appears once. Columns are merged by
// [Columns.Merge]; durations of profiles without a common column do not add up, because they are usually of one recording.
// The types must be those of imported samples. Without types the result is nil.
func Merge(types []*ntconv.Type) *Origin {
	var m *Origin
	commented := make(map[string]bool)
	for _, t := range types {
		o := Of(t)
		if m == nil {
			m = o
			for _, c := range m.Comments {
				commented[c] = true
			}
			continue
		}
		m.add(o, commented)
	}
	return m
}

// add merges o into m. commented are the comments of m.
func (m *Origin) add(o *Origin, commented map[string]bool) {
	shared := slices.ContainsFunc(m.Indices(&o.Columns), func(i int) bool { return i >= 0 })
	m.Columns = m.Columns.Merge(&o.Columns)
	if shared {
		m.Duration += o.Duration
	} else {
		m.Duration = max(m.Duration, o.Duration)
	}
	if m.Time == 0 || o.Time != 0 && o.Time < m.Time {
		m.Time = o.Time
	}
	for _, c := range o.Comments {
		if !commented[c] {
			commented[c] = true
			m.Comments = append(m.Comments, c)
		}
	}
	if m.DocURL == "" {
		m.DocURL = o.DocURL
	}
}
