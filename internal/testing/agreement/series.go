package agreement

import (
	"regexp"
	"slices"
	"strings"
)

// series returns the name of a time series of a counter. A mean, the growth of a counter and the last value of a gauge
// are the series of the counter itself.
func series(provider, name, tags, kind, statistic string) string {
	s := provider + "/" + name
	if tags != "" {
		s = sortTags(s + "{" + tags + "}")
	}
	if statistic == "" || statistic == "mean" || statistic == "last" || statistic == "sum" && kind != "histogram" {
		return s
	}
	return s + " " + statistic
}

var unitSuffix = regexp.MustCompile(` \([^()]*\)$`)

// withoutUnit removes the unit from the name of a counter in a timeline.
func withoutUnit(name string) string { return unitSuffix.ReplaceAllString(name, "") }

// counters collects the values of time series in time order.
type counters map[string][]float64

// state adds the facts about all series. The sum is that of the sorted values, so that it depends on no order.
func (c counters) state(a *Answer) {
	for _, name := range []string{"counter values", "first counter value", "last counter value", "sum of counter values"} {
		a.stated[name+" by series"] = true
	}
	for name, values := range c {
		a.set(Fact{"counter values", "series", name}, Value{N: int64(len(values))})
		a.set(Fact{"first counter value", "series", name}, float(values[0]))
		a.set(Fact{"last counter value", "series", name}, float(values[len(values)-1]))
		sorted, sum := slices.Sorted(slices.Values(values)), 0.0
		for _, v := range sorted {
			sum += v
		}
		a.set(Fact{"sum of counter values", "series", name}, float(sum))
	}
}

var tagsPart = regexp.MustCompile(`\{(.*)\}`)

// sortTags sorts the tags in the name of a series.
func sortTags(name string) string {
	return tagsPart.ReplaceAllStringFunc(name, func(s string) string {
		list := strings.Split(s[1:len(s)-1], ",")
		slices.Sort(list)
		return "{" + strings.Join(list, ",") + "}"
	})
}

// A seriesKey identifies the values of one event.
type seriesKey struct {
	event                int64
	provider, name, tags string
}

// onlyMean reports whether all statistics of an event counter are those of one measurement. Timelines show its mean
// only.
func onlyMean(kind string, count float64) bool { return kind == "mean" && count <= 1 }

// isUpDownRate reports whether a series is the rate of an instrument that may shrink. Timelines show its total only.
func isUpDownRate(kind, statistic string) bool {
	return kind == "up_down_counter" && statistic == "rate"
}

// tagsText returns tags as timelines spell them.
func tagsText(tags map[string]string) string {
	var list []string
	for k, v := range tags {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}
