package profile

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// An Origin is what a profile that was imported says about itself. It stands in the attributes of the type of the events that
// its samples became, so that it stays with them when traces are merged or cut. Of those events the first field is the weight that
// other tools go by, and field 1+i the value of Types[i], signed.
type Origin struct {
	Types      []ValueType
	Default    string // type to show first; empty for the last one
	PeriodType ValueType
	Period     int64
	Time       int64 // nanoseconds since 1970; 0 if unknown
	Duration   int64 // nanoseconds
	Comments   []string
	DropFrames string // regular expressions of functions that pprof hides,
	KeepFrames string // and of those of them that it does not
	DocURL     string
}

// Keys of attributes. Those that end in a dot are followed by a number from 0.
const (
	attrTypes      = "pprof.sample_types" // how many
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

// Attrs returns the attributes of the type. What is empty or zero is left out.
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

// OriginOf returns what the attributes of a type say, and nil if its events are no imported samples.
func OriginOf(t *ntconv.Type) *Origin {
	if len(t.Attrs) == 0 || len(t.Fields) == 0 {
		return nil
	}
	text, ok := t.Attrs.Get(attrTypes)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n != len(t.Fields)-1 {
		return nil
	}
	get := func(key string) string {
		s, _ := t.Attrs.Get(key)
		return s
	}
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(get(key), 10, 64) // 0 if it is not there
		return n
	}
	o := &Origin{
		Default: get(attrDefault), PeriodType: ValueType{get(attrPeriodType), get(attrPeriodUnit)}, Period: number(attrPeriod),
		Time: number(attrTime), Duration: number(attrDuration), DropFrames: get(attrDrop), KeepFrames: get(attrKeep), DocURL: get(attrDocURL),
	}
	for i := range n {
		k := strconv.Itoa(i)
		o.Types = append(o.Types, ValueType{get(attrType + k), get(attrUnit + k)})
	}
	for i := 0; ; i++ {
		c, ok := t.Attrs.Get(attrComment + strconv.Itoa(i))
		if !ok {
			return o
		}
		o.Comments = append(o.Comments, c)
	}
}

// MainType returns the index of the type to show first.
func (o *Origin) MainType() int {
	for i, t := range o.Types {
		if t.Type == o.Default && o.Default != "" {
			return i
		}
	}
	return max(0, len(o.Types)-1)
}
