package counter

import (
	"strconv"
	"strings"
)

// Kinds of counters.
const (
	KindMean          = "mean"            // an EventCounter or PollingCounter
	KindSum           = "sum"             // an IncrementingEventCounter or IncrementingPollingCounter
	KindCounter       = "counter"         // an instrument that only grows
	KindUpDownCounter = "up_down_counter" // an instrument that grows and shrinks
	KindGauge         = "gauge"
	KindHistogram     = "histogram"
)

// Statistics. A quantile of a histogram is p and the quantile in percent: p50, p99.9.
const (
	StatisticMean      = "mean"
	StatisticDeviation = "standard_deviation"
	StatisticMin       = "min"
	StatisticMax       = "max"
	StatisticCount     = "count" // of measurements in the interval
	StatisticSum       = "sum"   // of measurements in the interval
	StatisticRate      = "rate"  // by how much a counter has grown in the interval
	StatisticTotal     = "total" // what a counter has counted since the start of the program
	StatisticLast      = "last"  // the last measurement of a gauge
)

// A Value is one number that an event states about a counter. Its strings and tags are immutable.
type Value struct {
	Provider    string // of the counter, or the meter of the instrument
	Name        string
	DisplayName string // "" if the event states none
	Unit        string
	Kind        string
	Statistic   string
	Value       float64
	OK          bool    // false: there was no measurement in the interval, or the event does not hold a number
	Interval    float64 // seconds that the value covers, 0 if unknown
	// RateScale is the number of seconds for which viewers show the increments of a counter of KindSum, 0 if it states
	// none.
	RateScale float64
	// Tags are those of the time series, then those of the instrument and of the meter whose keys are not among them.
	// For event counters they are the metadata.
	Tags []Tag
}

// A Tag is a key and its value.
type Tag struct{ Key, Value string }

// splitTags splits k=v,k=v, as .NET joins tags without escaping them: what follows a comma and has no separator
// continues the value.
func splitTags(text string, separator byte) (tags []Tag) {
	for text != "" {
		var item string
		item, text, _ = strings.Cut(text, ",")
		i := strings.IndexByte(item, separator)
		switch {
		case i >= 0:
			tags = append(tags, Tag{item[:i], item[i+1:]})
		case len(tags) > 0:
			tags[len(tags)-1].Value += "," + item
		default:
			tags = append(tags, Tag{Key: item})
		}
	}
	return tags
}

// mergeTags appends the tags of more whose keys tags does not have.
func mergeTags(tags, more []Tag) []Tag {
	n := len(tags)
next:
	for _, tag := range more {
		for i := range n {
			if tags[i].Key == tag.Key {
				continue next
			}
		}
		tags = append(tags, tag)
	}
	return tags
}

// percentile returns the statistic of a quantile: p95 for 0.95. It returns false for a text that is not a quantile.
func percentile(quantile string) (string, bool) {
	q, err := strconv.ParseFloat(quantile, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return "", false
	}
	return "p" + strconv.FormatFloat(q*100, 'g', 10, 64), true
}

// clockSeconds returns the seconds of hh:mm:ss, as .NET writes a TimeSpan, with days and fractions if it has any; 0 for
// other texts.
func clockSeconds(text string) float64 {
	days := 0.0
	if day, rest, ok := strings.Cut(text, "."); ok && strings.Contains(rest, ":") {
		days, _ = strconv.ParseFloat(day, 64)
		text = rest
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0
	}
	var n [3]float64
	for i, part := range parts {
		var err error
		if n[i], err = strconv.ParseFloat(part, 64); err != nil {
			return 0
		}
	}
	return ((days*24+n[0])*60+n[1])*60 + n[2]
}
