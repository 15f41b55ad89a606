package tracecmp

import "github.com/ntconv/ntconv"

// TypeKey returns a string that two types share if and only if Streams considers their content equal.
func TypeKey(t *ntconv.Type) string { return string(appendType(nil, t)) }

// ThreadKey is TypeKey for threads. It covers the process, except for its mappings.
func ThreadKey(t *ntconv.Thread) string {
	return string(appendThread(appendProcess(nil, t.Process, 0), t))
}

// ProcessKey is TypeKey for processes, except for their mappings.
func ProcessKey(p *ntconv.Process) string { return string(appendProcess(nil, p, 0)) }
