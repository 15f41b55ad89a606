// Package where is the language in which a user says which events of a trace are wanted, by what stands in them:
//
//	Size >= 85000 && TypeName =~ "Buffer"
//	$provider == "System.Net.Http" && !(StatusCode in (200, 204))
//	has(Payload.Mean) && Payload.Mean > 0.5 && $time >= 1.5s
//
// # Operands
//
// A comparison has a field or a property on its left and a value on its right.
//
//	Size, Payload.Mean        a field of the payload; a dot leads into an object, or stands in the field's own name
//	"field with spaces"       the same, quoted; an object without a name, as around counters, need not be named
//	$time                     since the start of the trace: a duration, or a date and time in RFC 3339 as text
//	$tid $pid $cpu            numbers; missing where they were not recorded
//	$provider $event          text, as ntconv print shows it
//	$level $opcode $keywords $id $version $size    numbers, as ntconv print shows them; $size is that of the payload in bytes
//	$activity_id $related_activity_id $trace_id $span_id    text, as ntconv print shows it; case does not count
//	$label.KEY                a label, a text or a number; KEY may hold dots, or be quoted
//
// Values are numbers (15, 0xff, -1.5e3), texts in double or single quotes with the escapes of Go, durations (1.5ms,
// 1m30s) for $time, true and false. Text is compared with ids and dates too, and with the names that the runtime's
// manifest has for numbers: Type == "Managed".
//
// # Operators
//
// From the loosest: ||, &&, !, and the comparisons == != < <= > >=, =~ (a regular expression of Go that fits some part
// of the text) and in (a, b, c). has(field) asks whether there is a value. Parentheses group.
//
// A comparison with something that an event does not have is false, != too. Of a list, one element must fit. Integers
// and floating-point numbers are compared exactly, whatever their sizes; texts byte by byte.
//
// # Mistakes
//
// What can be told from the text alone is an [Error] of [Parse], with the place. Whether a comparison fits a field
// depends on the field's type, which only events tell: it is looked up once for each of their types. A comparison that
// does not fit is false, as for one type of event another field of that name may be meant; one that fitted no event at
// all is a mistake of the user's, and [Matcher.Notes] says so.
package where
