package scrub

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/schema"
)

// A rule is a line of a policy or the value of a flag. Fields, keys and providers refer to rules by their index, so that
// a rule that matches nothing can be reported.
type rule struct {
	file string // name of the policy, or "" for a flag
	line int
	text string // the words of the line, or the value of the flag; "" for the default policy
	flag string // name of the flag, or ""

	class   string // assigned by the rule, or ""
	defines string // class that the rule defines, or ""
	context string // of the key, or ""
	own     bool   // not of the default policy
	selects bool   // has a pattern that may match nothing
}

// errorf returns an error at the line of a rule.
func (r *rule) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %w: %s", r.file, r.line, ErrPolicy, fmt.Sprintf(format, args...))
}

// addRule adds a rule and returns its index.
func (p *Policy) addRule(r rule) int {
	p.rules = append(p.rules, r)
	return len(p.rules) - 1
}

// mark records that a rule matched. A Policy outside of a Scrubber records nothing, because it is read-only.
func (p *Policy) mark(rule int) {
	if p.used != nil {
		p.used[rule] = true
	}
}

// check returns an error for a rule that refers to an unknown class, and for a class to which no rule refers.
func (p *Policy) check() error {
	for i := range p.rules {
		r := &p.rules[i]
		switch {
		case r.class != "" && p.classes[r.class] == nil:
			return r.errorf("no class %q%s", r.class, similar(where.Nearest(r.class, p.order, maxSimilar)))
		case r.context != "" && r.context != contextTrace && p.classes[r.context] == nil:
			return r.errorf("no context %q%s", r.context, similar(where.Nearest(r.context, p.order, maxSimilar)))
		case r.own && r.defines != "" && !p.refersTo(r.defines):
			var names []string
			for k := range p.rules {
				if d := p.rules[k].defines; d != "" && !p.rules[k].own {
					names = append(names, d)
				}
			}
			return r.errorf("class %q is not in the default policy, and no rule assigns it%s", r.defines,
				similar(where.Nearest(r.defines, names, maxSimilar)))
		}
	}
	return nil
}

// refersTo reports whether the default policy defines a class or a rule assigns it.
func (p *Policy) refersTo(class string) bool {
	return slices.ContainsFunc(p.rules, func(r rule) bool { return r.class == class || r.defines == class && !r.own })
}

// maxSimilar is the maximum number of similar names in a message.
const maxSimilar = 3

// similar returns a hint with similar names, or "" if there are none.
func similar(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; similar: " + strings.Join(names, ", ")
}

// names are the providers and fields of the events so far, in the form that patterns match. fields is nil if no flag
// selects a field.
type names struct {
	providers, fields map[string]bool
}

// ProviderName returns the name of a type's provider that patterns match. s is the schema of the type.
func ProviderName(t *ntconv.Type, s *schema.Schema) string {
	if _, ok := chromeevent.Of(t); ok {
		return "chrome:" + s.Provider
	}
	return s.Provider
}

// FieldNames returns the names EVENT.FIELD of the fields of a schema, also of nested ones, that patterns match.
func FieldNames(s *schema.Schema) []string { return appendFieldNames(nil, s.Name+".", s.Fields) }

func appendFieldNames(dst []string, prefix string, fields []ntconv.Field) []string {
	for i := range fields {
		path := prefix + fields[i].Name
		dst = append(dst, path)
		for t := &fields[i].Type; t != nil; t = t.Elem {
			dst = appendFieldNames(dst, path+".", t.Fields)
		}
	}
	return dst
}

// FieldPattern returns the pattern PROVIDER/EVENT.FIELD of a name that FieldNames returns.
func FieldPattern(provider, name string) string { return provider + "/" + name }

// maxFields bounds the names of fields, which serve for hints only.
const maxFields = 1 << 14

func newNames(fields bool) *names {
	n := &names{providers: make(map[string]bool)}
	if fields {
		n.fields = make(map[string]bool)
	}
	return n
}

// addField adds a field.
func (n *names) addField(provider, path string) {
	if n.fields != nil && len(n.fields) < maxFields {
		n.fields[FieldPattern(provider, path)] = true
	}
}

// near returns names that a pattern of a flag may mean.
func (n *names) near(r *rule) []string {
	if n.fields == nil || !strings.Contains(r.text, "/") {
		return where.Nearest(r.text, slices.Sorted(maps.Keys(n.providers)), maxSimilar)
	}
	type near struct {
		name     string
		distance int
	}
	var all []near
	want := fieldParts(r.text)
next:
	for _, name := range slices.Sorted(maps.Keys(n.fields)) {
		total := 0
		for i, part := range fieldParts(name) {
			d := distance(want[i], part)
			if d > max(1, len(want[i])/4) {
				continue next
			}
			total += d
		}
		all = append(all, near{name, total})
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var list []string
	for _, a := range all[:min(len(all), maxSimilar)] {
		list = append(list, a.name)
	}
	return list
}

// fieldParts returns the provider, the event and the field of PROVIDER/EVENT.FIELD.
func fieldParts(s string) (parts [3]string) {
	var rest string
	parts[0], rest, _ = strings.Cut(s, "/")
	parts[1], parts[2], _ = strings.Cut(rest, ".")
	return parts
}

// distance returns the number of edits between a pattern and a name, 0 if the pattern matches.
func distance(pattern, name string) int {
	if where.Match(pattern, name) {
		return 0
	}
	return where.Distance(strings.ToLower(pattern), strings.ToLower(name))
}

// An Unmatched is a rule that matched nothing in the trace.
type Unmatched struct {
	Flag  string // name of the flag, as field, or "" for a rule of a policy
	Value string // of the flag
	// Similar are names in the trace that the value may mean.
	Similar []string
}

// Unmatched returns the flags that matched nothing since New: patterns of Options.Fields, Options.Providers and
// Options.Drop. Call it after the last event.
func (s *Scrubber) Unmatched() (list []Unmatched) {
	for i := range s.policy.rules {
		if r := &s.policy.rules[i]; r.flag != "" && !s.policy.used[i] {
			list = append(list, Unmatched{r.flag, r.text, s.seen.near(r)})
		}
	}
	return list
}

// unmatched returns the rules of policy files that matched nothing.
func (s *Scrubber) unmatched() (list []string) {
	for i := range s.policy.rules {
		if r := &s.policy.rules[i]; r.own && r.selects && r.flag == "" && !s.policy.used[i] {
			list = append(list, fmt.Sprintf("%s: line %d: %s", r.file, r.line, r.text))
		}
	}
	return list
}
