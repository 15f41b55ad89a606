// Package where implements the expressions that select events of a trace by their properties and field values:
//
//	Size >= 85000 && TypeName =~ "Buffer"
//	$provider == "System.Net.Http" && !(StatusCode in (200, 204))
//	has(Payload.Mean) && Payload.Mean > 0.5 && $time >= 1.5s
//
// # Operands
//
// A comparison has a field or a property on its left and a value on its right.
//
//	Size, Payload.Mean    a field of the payload; a dot leads into an object or is part of the field's name
//	"field with spaces"   a quoted name; an object without a name, as around counters, may be omitted
//	$time                 time since the start of the trace, compared with a duration, or with a date and time
//	$tid $pid $cpu        numbers; absent if they were not recorded
//	$provider $event      strings, as ntconv print shows them
//	$level $opcode $keywords $id $version
//	                      numbers, as ntconv print shows them
//	$size                 size of the payload in bytes
//	$activity_id $related_activity_id $trace_id $span_id
//	                      strings, as ntconv print shows them; case-insensitive
//	$label.KEY            a label, a string or a number; KEY may contain dots or be quoted
//	$process $thread      names; only ParseOperands accepts them, because events do not state them
//
// Values are numbers (15, 0xff, -1.5e3), strings in double or single quotes with the escapes of Go, durations for
// $time (1.5ms, 1m30s), true and false. A string can also be compared with an ID, with a date, and with a number for
// which the runtime's manifest has a name: Type == "Managed".
//
// # Operators
//
// In order of increasing precedence: ||, &&, !, and the comparisons. The comparisons are == != < <= > >=, =~ (a regular
// expression of Go that matches a part of the string) and in (a, b, c). has(field) tests whether there is a value.
// Parentheses group.
//
// A comparison is false, also with !=, if the event does not have the field or property. A list passes if one of its
// elements does. Integers and floating-point numbers are compared exactly, regardless of their sizes. Strings are
// compared byte by byte.
//
// # Mistakes
//
// [Parse] returns an [Error] with a position for every mistake that the text alone shows. Whether a field can be
// compared with a value depends on the type of the field. [Matcher] checks it once per event type. If the value does
// not fit, the comparison is false, because the expression may mean a field of that name in another event type.
// [Matcher.Notes] reports comparisons that fit no event type.
//
// # Patterns
//
// [Match] and [MatchEvent] match names of providers and events against patterns, as options other than --where take
// them.
package where
