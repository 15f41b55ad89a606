package diagsource_test

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
	"google.golang.org/protobuf/proto"
)

// A rule explains why a field differs between our spans and those of the SDK. why is written to the document.
type rule struct {
	name, why string
	explains  func(c *comparison, d *difference) bool
}

// rules are tried in order. A difference without a rule is an error.
var rules = []rule{
	{"not recorded", "The SDK does not export an Activity that its sampler dropped, for which no data was requested, or that has no source. The trace contains it, " +
		"and ntconv marks it.", func(c *comparison, d *difference) bool { return d.them == nil && d.us.NotRecorded }},
	{"no data requested", "The same, but the specification does not request `IsAllDataRequested`, so the trace does not show it.",
		func(c *comparison, d *difference) bool { return d.them == nil && d.us.Name == "no data requested" }},
	{"never stopped", "The trace contains only the Start event. The SDK exports an Activity when it stops.",
		func(c *comparison, d *difference) bool { return d.them == nil && d.us.Unfinished }},
	{"exporter", "These are requests of the SDK's own exporter and their connections. The SDK suppresses them, and `--omit-exporter` omits them.",
		func(c *comparison, d *difference) bool { return d.them == nil && c.omitted[d.us.Context.ID] }},
	{"suppressed", "The program instructed the SDK not to export these spans, or the SDK had been shut down. The trace does not show it.",
		func(c *comparison, d *difference) bool {
			return d.them == nil && (d.us.Name == "suppressed" || d.us.Name == "after shutdown")
		}},
	{"event too large", "EventPipe does not write an event of more than 64 KiB. The trace shows that one event is missing.",
		func(c *comparison, d *difference) bool {
			return d.us == nil && d.field == "span" && c.text.lost > 0 && proto.Size(d.them.Span) > 20_000
		}},
	{"type", "A trace contains the text of a value but not its type. A string \"42\" cannot be distinguished from a number. `--attributes convention` restores " +
		"the types that semantic conventions define.",
		func(c *comparison, d *difference) bool { return isValue(d) && isTextOf(d.ours, d.value) }},
	{"list", "The text of an array, of bytes or of a map is the name of its type.",
		func(c *comparison, d *difference) bool { return isValue(d) && isTypeNameOf(d.ours, d.value) }},
	{"separators", "The text of tags does not escape separators, so a key or value that contains them is split differently.",
		func(c *comparison, d *difference) bool {
			return d.field == "attributes as a list" && sameSplit(d.us.Attributes, d.them.Attributes)
		}},
	{"limits of the SDK", "The SDK keeps at most 128 attributes, events and links per span, and 128 attributes per event. The trace contains all of them.", isLimit},
	{"type names", "`Events.*Enumerate` and `Links.*Enumerate` record only the type of each event and link. ntconv counts them as dropped; " +
		"`Events` and `Links` without `.*Enumerate` record all of them.", isDropped},
	{"not in the specification", "The specification does not request this property. A specification without properties (`[AS]*`) records the properties " +
		"of the Activity, but not the version, schema URL and tags of its source.", isNotRequested},
	{"first version", "The SDK merges all sources with the same name into one scope, with the version of the first one. The trace contains the version for each span.",
		func(c *comparison, d *difference) bool {
			if d.field != "scope.version" || d.ours == "" {
				return false
			}
			for _, s := range c.text.spans {
				if s.Scope.Name == d.us.Scope.Name && s.Scope.Version == d.theirs {
					return true
				}
			}
			return false
		}},
	{"offset of an event's time", "The SDK treats the local time of an event as UTC. The trace contains the offset.",
		func(c *comparison, d *difference) bool {
			const quarter = 900_000_000_000
			return d.field == "event.time_unix_nano" && nanoDifference(d) != 0 && nanoDifference(d)%quarter == 0
		}},
	{"seconds", "`[AS]*` records the start in whole seconds. The start is the time of the Start event, which differs by at most 30 ms, or the whole second " +
		"if the program set the start itself. The duration is exact.", isWithinSecond},
	{"at once", "Spans that stop on two threads at the same time may be in a different order.", func(c *comparison, d *difference) bool { return d.field == "order" && d.ours != d.theirs }},
}

func isValue(d *difference) bool { return strings.HasSuffix(d.field, "attributes value") }

// isLimit reports whether the difference is data that the SDK has dropped because of its limits.
func isLimit(c *comparison, d *difference) bool {
	if d.us == nil || d.them == nil {
		return false
	}
	us, them := d.us, d.them
	switch d.field {
	case "attributes beyond the limit", "dropped_attributes_count":
		return len(us.Attributes) == len(them.Attributes)+int(them.DroppedAttributesCount)
	case "events beyond the limit", "dropped_events_count":
		return len(us.Events) == len(them.Events)+int(them.DroppedEventsCount)
	case "links beyond the limit", "dropped_links_count":
		return len(us.Links) == len(them.Links)+int(them.DroppedLinksCount)
	case "event.attributes beyond the limit", "event.dropped_attributes_count":
		for i, e := range them.Events {
			if n := int(e.DroppedAttributesCount); n > 0 && len(us.Events[i].Attributes) == len(e.Attributes)+n {
				return true
			}
		}
	}
	return false
}

// isDropped reports whether the Decoder counts events or links as dropped that the SDK has.
func isDropped(c *comparison, d *difference) bool {
	if d.us == nil || d.them == nil {
		return false
	}
	us, them := d.us, d.them
	switch d.field {
	case "events", "dropped_events_count":
		return len(us.Events) == 0 && us.DroppedEvents > 0 && int(us.DroppedEvents) == len(them.Events)+int(them.DroppedEventsCount)
	case "links", "dropped_links_count":
		return len(us.Links) == 0 && us.DroppedLinks > 0 && int(us.DroppedLinks) == len(them.Links)+int(them.DroppedLinksCount)
	}
	return false
}

// isNotRequested reports whether no span of the recording has the property.
func isNotRequested(c *comparison, d *difference) bool {
	if d.us == nil || d.them == nil {
		return false
	}
	has := func(f func(*span.Span) bool) bool {
		for _, s := range c.text.spans {
			if f(s) {
				return true
			}
		}
		return false
	}
	switch d.field {
	case "events", "dropped_events_count":
		return !has(func(s *span.Span) bool { return len(s.Events) > 0 || s.DroppedEvents > 0 })
	case "links", "dropped_links_count":
		return !has(func(s *span.Span) bool { return len(s.Links) > 0 || s.DroppedLinks > 0 })
	case "flags":
		const remote = span.FlagRemoteKnown | span.FlagRemote
		return d.us.Flags == d.them.Flags&^remote && !has(func(s *span.Span) bool { return s.Flags&remote != 0 })
	case "scope.version":
		return !has(func(s *span.Span) bool { return s.Scope.Version != "" })
	case "schema_url":
		return !has(func(s *span.Span) bool { return s.Scope.SchemaURL != "" })
	case "scope.attributes as a list":
		return !has(func(s *span.Span) bool { return len(s.Scope.Attributes) > 0 })
	}
	return false
}

// isWithinSecond reports whether the times differ by less than a second and the durations are equal.
func isWithinSecond(c *comparison, d *difference) bool {
	if d.field != "start_time_unix_nano" && d.field != "end_time_unix_nano" || c.recording != "otel-spans-implicit" {
		return false
	}
	start, theirs := int64(d.us.Start), int64(d.them.StartTimeUnixNano)
	const second, nearby = 1_000_000_000, 30_000_000
	inSecond := start%second == 0 && theirs-start > 0 && theirs-start < second
	isNear := theirs-start < nearby && start-theirs < nearby
	return (inSecond || isNear) && d.us.End-d.us.Start == d.them.EndTimeUnixNano-d.them.StartTimeUnixNano
}

func nanoDifference(d *difference) int64 {
	ours, _ := strconv.ParseInt(d.ours, 10, 64)
	theirs, _ := strconv.ParseInt(d.theirs, 10, 64)
	return ours - theirs
}
