package prometheus

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// Names follow "Prometheus and OpenMetrics Compatibility" of the OpenTelemetry specification.

// units are the words for units of UCUM, and for those of event counters.
var units = map[string]string{
	"d": "days", "h": "hours", "min": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds",
	"sec": "seconds", "msec": "milliseconds",
	"By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes", "KBy": "kilobytes", "kBy": "kilobytes", "MBy": "megabytes",
	"GBy": "gigabytes", "B": "bytes", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes",
	"m": "meters", "V": "volts", "A": "amperes", "J": "joules", "W": "watts", "g": "grams", "Cel": "celsius", "Hz": "hertz", "%": "percent",
}

// unitWord returns the word for a unit, "" if it has none. A ratio (unit 1) is one only for gauges.
func unitWord(unit, typ string) string {
	if i := strings.IndexByte(unit, '{'); i >= 0 { // an annotation
		if j := strings.IndexByte(unit[i:], '}'); j >= 0 {
			unit = unit[:i] + unit[i+j+1:]
		}
	}
	if unit == "1" {
		if typ == typeGauge {
			return "ratio"
		}
		return ""
	}
	of, per, isRate := strings.Cut(unit, "/")
	if word, ok := units[of]; ok {
		of = word
	}
	if !isRate {
		return metricName(of)
	}
	if word, ok := units[per]; ok {
		per = strings.TrimSuffix(word, "s")
	}
	return metricName(strings.Trim(of+"_per_"+per, "_"))
}

// familyName returns the name of the family of a metric, which ends with its unit, and the unit.
func familyName(name, unit, typ string) (string, string) {
	name, unit = metricName(name), unitWord(unit, typ)
	if typ == typeCounter {
		name = strings.TrimSuffix(name, "_total") // a suffix of its samples
	}
	if unit != "" && name != unit && !strings.HasSuffix(name, "_"+unit) {
		name += "_" + unit
	}
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		name = "_" + name
	}
	return name, unit
}

// metricName replaces what a name cannot have by single underscores.
func metricName(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if !isWord(c) && c != ':' {
			c = '_'
		}
		if c != '_' || len(b) == 0 || b[len(b)-1] != '_' {
			b = append(b, c)
		}
	}
	return strings.Trim(string(b), "_")
}

// labelKey replaces what a key of a label cannot have by underscores.
func labelKey(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !isWord(c) {
			b[i] = '_'
		}
	}
	switch {
	case len(b) == 0 || '0' <= b[0] && b[0] <= '9':
		return "key_" + string(b)
	case strings.HasPrefix(s, "__"): // reserved
		return "key" + string(b)
	}
	return string(b)
}

func isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// own are the keys that labels of a point cannot have, because they mean something else.
var own = []string{"job", "instance", "le", "quantile", "otel_scope_name", "otel_scope_version"}

// labelsOf returns the labels of a point but for job and instance, in the order of their keys. Keys that become equal have
// both values.
func labelsOf(p *metrics.Point) []label {
	var list []label
	if p.Scope.Name != "" {
		list = append(list, label{"otel_scope_name", p.Scope.Name})
	}
	if p.Scope.Version != "" {
		list = append(list, label{"otel_scope_version", p.Scope.Version})
	}
	return sorted(appendLabels(list, p.Attributes))
}

// appendLabels appends attributes as labels.
func appendLabels(list []label, attributes []span.Attribute) []label {
	for i := range attributes {
		key := labelKey(attributes[i].Key)
		if slices.Contains(own, key) {
			key = "exported_" + key
		}
		value := string(attributes[i].Value.AppendText(nil))
		if at := slices.IndexFunc(list, func(l label) bool { return l.key == key }); at >= 0 {
			list[at].value += ";" + value
			continue
		}
		list = append(list, label{key, value})
	}
	return list
}

// sorted sorts labels by key.
func sorted(list []label) []label {
	slices.SortFunc(list, func(a, b label) int { return strings.Compare(a.key, b.key) })
	return list
}
