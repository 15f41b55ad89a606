package dotnet

import "strings"

// TypeName returns the display name of a type, which the runtime records in the notation of reflection, as in
// System.Collections.Generic.List`1[System.Int32][]. Its own name has the namespace: System.Collections.Generic.List<int>[],
// its type arguments do not. With short, it has neither: List[]. The result is the recorded name if the notation is
// unknown.
func TypeName(recorded string, short bool) string {
	p := printer{limit: 4*len(recorded) + 64, short: short, canons: strings.Count(recorded, canonName)}
	start := 0
	name, _, rest, ok := cutType(recorded)
	switch {
	case !ok || recorded[0] == '[' || recorded[0] == '!':
		return recorded
	case short || name+rest == recorded && keyword(name) != "":
		p.typ(recorded)
	default:
		start = p.declaring(recorded)
	}
	if name, ok := p.done(start); ok {
		return name
	}
	return recorded
}
