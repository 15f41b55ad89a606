package prometheus

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
)

// write writes all families, and what is known about the programs (OpenMetrics 1.0, "Text Format").
func (s *Sink) write() error {
	w := bufio.NewWriter(s.w) // keeps the first error
	programs := map[string]*program{}
	for _, name := range slices.Sorted(maps.Keys(s.families)) {
		f := s.families[name]
		s.head(w, f)
		for _, one := range s.labeled(f, programs) {
			s.lines(w, f, one)
		}
	}
	target(w, programs)
	_, _ = w.WriteString("# EOF\n")
	if err := w.Flush(); err != nil {
		return fmt.Errorf("prometheus: write: %w", err)
	}
	return nil
}

// head writes the metadata of a family.
func (s *Sink) head(w *bufio.Writer, f *family) {
	s.summary.Metrics++
	fmt.Fprintf(w, "# TYPE %s %s\n", f.name, f.typ)
	if f.unit != "" {
		fmt.Fprintf(w, "# UNIT %s %s\n", f.name, f.unit)
	}
	if f.help != "" {
		fmt.Fprintf(w, "# HELP %s %s\n", f.name, escape(f.help))
	}
}

// A labeledSeries is a series with the text of its labels.
type labeledSeries struct {
	*series
	text string
}

// labeled returns the series of a family in the order of their labels. A series whose owner has the labels of another one
// is omitted.
func (s *Sink) labeled(f *family, programs map[string]*program) []labeledSeries {
	var list []labeledSeries
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		one := f.series[key]
		if len(one.points) == 0 {
			continue
		}
		identity, about := s.identity(one.owner)
		text := labelText(append(identity, one.labels...))
		p := programs[labelText(identity)]
		if p == nil {
			p = &program{about: about, first: one.points[0].time}
			programs[labelText(identity)] = p
		}
		p.first = min(p.first, one.points[0].time)
		list = append(list, labeledSeries{one, text})
	}
	slices.SortStableFunc(list, func(a, b labeledSeries) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(list, func(a, b labeledSeries) bool {
		if a.text == b.text {
			s.skipped["time series of programs with the same name and number"] += uint64(len(b.points))
		}
		return a.text == b.text
	})
}

// lines writes the points of a series.
func (s *Sink) lines(w *bufio.Writer, f *family, one labeledSeries) {
	s.summary.Series++
	var b []byte
	for _, p := range one.points {
		s.summary.Points++
		if !s.dated && one.owner.resource == nil {
			s.summary.Undated++
		}
		for i, r := range p.layout.rows {
			b = append(append(b[:0], f.name...), r.suffix...)
			if text := one.text; text != "" || r.label.key != "" {
				b = append(append(b, '{'), text...)
				if r.label.key != "" {
					b = appendLabel(b, r.label, text != "")
				}
				b = append(b, '}')
			}
			b = append(append(b, ' '), number(one.values[p.first+i])...)
			b = appendTime(append(b, ' '), p.time)
			_, _ = w.Write(append(b, '\n'))
		}
	}
}

// A program is what target_info states about an owner.
type program struct {
	about []label
	first int64 // time of its first point
}

// target writes the family target_info, whose labels describe the programs. Its times are those of their first points.
func target(w *bufio.Writer, programs map[string]*program) {
	head := "# TYPE target info\n"
	for _, identity := range slices.Sorted(maps.Keys(programs)) {
		p := programs[identity]
		if len(p.about) == 0 {
			continue
		}
		text := labelText(p.about)
		if identity != "" {
			text = identity + "," + text
		}
		fmt.Fprintf(w, "%starget_info{%s} 1 %s\n", head, text, appendTime(nil, p.first))
		head = ""
	}
}

// identity returns the labels that identify a program, and those that describe it.
func (s *Sink) identity(o owner) (identity, about []label) {
	var info recording.Process
	instance := ""
	if p := o.process; p != nil && o.resource == nil {
		info = s.processes.Of(p)
		if instance = strconv.FormatUint(p.PID, 10); p.Host != "" {
			instance = p.Host + ":" + instance
		}
	}
	job := s.o.ServiceName
	switch {
	case o.resource != nil:
		identity = resourceLabels(o.resource.Attributes, &about)
		if job != "" {
			identity = slices.DeleteFunc(identity, func(l label) bool { return l.key == "job" })
			identity = append(identity, label{"job", job})
		}
		return sorted(identity), sorted(about)
	case job == "" && o.process != nil && info.Service() != recording.UnknownService:
		job = info.Service()
	}
	for _, l := range []label{{"instance", instance}, {"job", job}} {
		if l.value != "" {
			identity = append(identity, l)
		}
	}
	for _, l := range []label{
		{"host_arch", info.Arch}, {"os_type", info.OS}, {"process_command_line", info.Command}, {"process_runtime_name", info.Runtime}, {"process_runtime_version", info.Version},
	} {
		if l.value != "" {
			about = append(about, l)
		}
	}
	return identity, about
}

// resourceLabels returns the labels job and instance of a resource, and appends its other attributes to about, if it is not
// nil.
func resourceLabels(attributes []span.Attribute, about *[]label) (identity []label) {
	var name, namespace, instance string
	var rest []span.Attribute
	for i := range attributes {
		value := string(attributes[i].Value.AppendText(nil))
		switch attributes[i].Key {
		case "service.name":
			name = value
		case "service.namespace":
			namespace = value + "/"
		case "service.instance.id":
			instance = value
		case "process.pid":
			instance = cmp.Or(instance, value)
			rest = append(rest, attributes[i])
		default:
			rest = append(rest, attributes[i])
		}
	}
	if instance != "" {
		identity = append(identity, label{"instance", instance})
	}
	if name != "" {
		identity = append(identity, label{"job", namespace + name})
	}
	if about != nil {
		*about = appendLabels(nil, rest)
	}
	return identity
}

// labelText returns labels as text, without braces.
func labelText(list []label) string {
	var b []byte
	for i, l := range list {
		b = appendLabel(b, l, i > 0)
	}
	return string(b)
}

func appendLabel(b []byte, l label, comma bool) []byte {
	if comma {
		b = append(b, ',')
	}
	return append(append(append(append(b, l.key...), `="`...), escape(l.value)...), '"')
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// escape returns a text in the form of values of labels and of help.
func escape(s string) string { return escaper.Replace(strings.ToValidUTF8(s, "\uFFFD")) }

// number returns a number in text.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// bound returns a number in a label, which always shows that it is not an integer ("Considerations: Canonical Numbers").
func bound(f float64) string {
	s := number(f)
	if strings.IndexFunc(s, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) < 0 {
		s += ".0"
	}
	return s
}

// appendTime appends milliseconds as seconds.
func appendTime(b []byte, ms int64) []byte {
	return strconv.AppendFloat(b, float64(ms)/1000, 'f', 3, 64)
}
