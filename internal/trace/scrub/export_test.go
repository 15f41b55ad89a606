package scrub

import "strings"

// Keeps reports whether the default policy keeps texts of a place as names.
// With hashed, the names of methods and modules are replaced.
func Keeps(provider, path string, hashed bool) bool {
	p, err := NewPolicy(nil, nil)
	if err != nil {
		panic(err)
	}
	if provider == "" {
		return !hashed && (path == "function" || path == "mapping file")
	}
	c := p.field(p.rulesFor(provider), path)
	if key, ok := strings.CutPrefix(path, "ActivityStart.Arguments.Value."); ok && p.key(contextArgument, []byte(key)) != nil {
		c = p.key(contextArgument, []byte(key))
	}
	if hashed && c != nil && (c.name == classMethod || c.name == classVersion || c.action == actionFile) {
		return false
	}
	return c != nil && (c.action == actionKeep || c.action == actionFile)
}
