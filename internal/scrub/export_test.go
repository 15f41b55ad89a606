package scrub

import "strings"

// Keeps reports whether the default policy keeps texts of a place as names.
func Keeps(provider, path string) bool {
	p, err := NewPolicy(nil, nil)
	if err != nil {
		panic(err)
	}
	if provider == "" {
		return path == "function" || path == "mapping file"
	}
	c := p.field(p.rulesFor(provider), path)
	if key, ok := strings.CutPrefix(path, "ActivityStart.Arguments.Value."); ok && p.key(contextArgument, []byte(key)) != nil {
		c = p.key(contextArgument, []byte(key))
	}
	return c != nil && (c.action == actionKeep || c.action == actionFile)
}
