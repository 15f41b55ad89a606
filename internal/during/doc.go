// Package during selects the events that were recorded while an interval was open for which an expression is true:
//
//	span.name =~ "GET /cart" && span.duration > 100ms
//	gc.generation == 2
//	pause
//	request.status >= 500
//	contention.duration > 10ms
//	pair.name == "TypeLoad" && pair.fields.LoadLevel == 3
//
// An expression describes one kind of interval, which its first word names. The name alone means any interval of the
// kind. Several expressions about one kind must be true for the same interval; an event must be during an interval of
// each kind.
//
// The kinds are those of kinds. Spans, requests and the pairs of event sources cover the events that package
// span/active links to them; all other intervals cover those of package interval. The kind pair comprises every
// schema.Pair.
package during
