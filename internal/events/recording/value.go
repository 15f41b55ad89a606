package recording

import (
	"strconv"
	"strings"
	"time"
)

// Kinds of counters, in Value.Kind.
const (
	KindMean          = "mean"            // an EventCounter or PollingCounter
	KindSum           = "sum"             // an IncrementingEventCounter or IncrementingPollingCounter
	KindCounter       = "counter"         // an instrument that only grows
	KindUpDownCounter = "up_down_counter" // an instrument that grows and shrinks
	KindGauge         = "gauge"
	KindHistogram     = "histogram"
)

// Statistics, in Value.Statistic. A quantile of a histogram is p and the quantile in percent: p50, p99.9.
const (
	StatisticMean      = "mean"
	StatisticDeviation = "standard_deviation"
	StatisticMin       = "min"
	StatisticMax       = "max"
	StatisticCount     = "count" // number of measurements in the interval
	StatisticSum       = "sum"   // sum of the measurements in the interval, or of the increments
	StatisticRate      = "rate"  // increase of a counter in the interval
	StatisticTotal     = "total" // value of a counter since the start of the program
	StatisticLast      = "last"  // the last measurement of a gauge
)

// A Value is one number that an event states about a counter. Its strings and tags are immutable and may be retained;
// the Value itself is borrowed (see Reader.Read).
type CounterValue struct {
	Provider    string // event source of the counter, or meter of the instrument
	Name        string
	DisplayName string // "" if the event states none
	Unit        string
	Kind        string
	Statistic   string
	Value       float64
	OK          bool    // false if there was no measurement in the interval, or the number is invalid; Value is then 0
	Interval    float64 // seconds that the value covers; 0 if unknown
	// RateScale is the number of seconds for which viewers show the increments of a counter of KindSum, 0 if it states
	// none.
	RateScale float64
	// Tags are those of the time series, then those of the instrument and of the meter whose keys are not among them.
	// For event counters they are the metadata.
	Tags []CounterTag

	// The following members are those of instruments; event counters have none of them but Description.

	Description string       // "" if the event states none; the display name of event counters
	Version     string       // of the meter
	Series      []CounterTag // tags of the time series alone
	Instrument  []CounterTag // tags of the instrument
	Meter       []CounterTag // tags of the meter
	Begin, End  time.Time    // of the interval; zero if unknown
	Session     string       // ID of the session that the value was collected for
	Quantile    float64      // of a statistic that is a quantile
	Integer     bool         // the value is stated as an integer
	Exact       int64        // the value if Integer is set
}

// A Tag is a key with its value.
type CounterTag struct{ Key, Value string }

// splitTags splits k=v,k=v. .NET joins tags without escaping them, so an item without a separator continues the value
// before it.
func splitTags(text string, separator byte) (tags []CounterTag) {
	for text != "" {
		var item string
		item, text, _ = strings.Cut(text, ",")
		i := strings.IndexByte(item, separator)
		switch {
		case i >= 0:
			tags = append(tags, CounterTag{item[:i], item[i+1:]})
		case len(tags) > 0:
			tags[len(tags)-1].Value += "," + item
		default:
			tags = append(tags, CounterTag{Key: item})
		}
	}
	return tags
}

// mergeTags appends the tags in more whose keys are not in tags.
func mergeTags(tags, more []CounterTag) []CounterTag {
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

// percentile returns the statistic of a quantile, p95 for 0.95, and the quantile. It returns false if the string is not a
// number in 0..1.
func percentile(quantile string) (statistic string, q float64, ok bool) {
	q, err := strconv.ParseFloat(quantile, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return "", 0, false
	}
	return "p" + strconv.FormatFloat(q*100, 'g', 10, 64), q, true
}

// clockSeconds returns the seconds of a TimeSpan as .NET formats it: hh:mm:ss, with days and a fraction if it has any.
// It returns 0 if the string is not a TimeSpan.
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
