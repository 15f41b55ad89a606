package tracker_test

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// describe returns a span as text, with all its members except pointers.
func describe(s *span.Span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v/%v<%v %q kind=%d %d..%d flags=%x state=%q dropped=%d,%d,%d status=%d,%q scope=%q", s.TraceID, s.ID, s.ParentID, s.Name, s.Kind,
		s.Start, s.End, s.Flags, s.TraceState, s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks, s.Status, s.StatusMessage, s.Scope.Name)
	if s.Process != nil {
		fmt.Fprintf(&b, " pid=%d@%s", s.Process.PID, s.Process.Host)
	}
	if s.Thread != nil && s.EndThread != nil {
		fmt.Fprintf(&b, " tid=%d..%d", s.Thread.TID, s.EndThread.TID)
	}
	fmt.Fprintf(&b, " activity=%v evidence=%d made=%t unfinished=%t", s.Activity, s.Evidence, s.MadeID, s.Unfinished)
	fmt.Fprintf(&b, " %s", describeAttributes(s.Attributes))
	for _, e := range s.Events {
		fmt.Fprintf(&b, "\n\tevent %d %q %s", e.Time, e.Name, describeAttributes(e.Attributes))
	}
	for _, l := range s.Links {
		fmt.Fprintf(&b, "\n\tlink %v/%v", l.TraceID, l.ID)
	}
	return b.String()
}

func describeAll(spans []*span.Span) string {
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintln(&b, describe(s))
	}
	return b.String()
}

func describeAttributes(list []span.Attribute) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s=%s ", a.Key, describeValue(a.Value))
	}
	return strings.TrimSpace(b.String())
}

func describeValue(v span.Value) string {
	switch v.Kind() {
	case span.ValueString:
		return fmt.Sprintf("%q", v.Str())
	case span.ValueBytes:
		return fmt.Sprintf("x%x", v.Str())
	case span.ValueInt:
		return fmt.Sprint(v.Int())
	case span.ValueBool:
		return fmt.Sprint(v.Bool())
	case span.ValueFloat:
		return fmt.Sprint(v.Float())
	case span.ValueArray:
		var parts []string
		for _, e := range v.Elems() {
			parts = append(parts, describeValue(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case span.ValueMap:
		return "{" + describeAttributes(v.Members()) + "}"
	case span.ValueEmpty:
		return "null"
	}
	return "absent"
}

// attribute returns the value of an attribute.
func attribute(s *span.Span, key string) (span.Value, bool) {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value, true
		}
	}
	return span.Value{}, false
}
