package formats

import (
	"bytes"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// sniffDepth is the maximum depth of the values that visitJSON visits.
const sniffDepth = 5

// visitJSON calls visit for each value of a JSON text that begins with head, in file order, until visit returns false
// or head ends. path joins the names of members with dots and has [] for the elements of a list: profiles[].type. text
// is the value of a string, "" for other kinds.
func visitJSON(head []byte, visit func(path, text string) bool) {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	dec := jsonio.NewDecoder(bytes.NewReader(head))
	var prefixes [sniffDepth + 1]string // paths of the values, by depth
	for {
		depth := dec.StackDepth()
		kind, length := dec.StackIndex(depth)
		if depth == sniffDepth && dec.PeekKind() != '}' && dec.PeekKind() != ']' {
			if dec.SkipValue() != nil {
				return
			}
			continue
		}
		t, err := dec.ReadToken()
		if err != nil {
			return
		}
		switch k := t.Kind(); {
		case k == '}' || k == ']':
			continue
		case kind == '{' && length%2 == 0: // a name
			prefixes[depth] = join(prefixes[depth-1], t.String())
			continue
		case kind == '[':
			prefixes[depth] = prefixes[depth-1] + "[]"
		}
		text := ""
		if t.Kind() == '"' {
			text = t.String()
		}
		if !visit(prefixes[depth], text) {
			return
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// isJSON reports whether head begins with one of the bytes of open, after a byte order mark and white space.
func isJSON(head []byte, open string) bool {
	t := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	return len(t) > 0 && strings.IndexByte(open, t[0]) >= 0
}

// hasPaths returns a test for a JSON object that has a value at each of the paths within head.
func hasPaths(paths ...string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		if !isJSON(head, "{") {
			return false
		}
		seen := map[string]bool{}
		visitJSON(head, func(path, _ string) bool {
			seen[path] = true
			return true
		})
		for _, p := range paths {
			if !seen[p] {
				return false
			}
		}
		return true
	}
}

// isSpeedscope reports whether an input that begins with head is a speedscope file: it states the schema, or has
// profiles or frames in the form of speedscope. Some writers put the schema last.
func isSpeedscope(head []byte) (is bool) {
	if !isJSON(head, "{") {
		return false
	}
	visitJSON(head, func(path, text string) bool {
		switch path {
		case "$schema":
			is = strings.Contains(text, "speedscope.app/file-format-schema")
			return false
		case "profiles[].type":
			is = text == "sampled" || text == "evented"
		case "shared.frames[].name":
			is = true
		}
		return !is
	})
	return is
}

// firefoxMeta are members of the member meta of Firefox profiles, processed or raw.
var firefoxMeta = map[string]bool{
	"meta.interval": true, "meta.startTime": true, "meta.processType": true, "meta.stackwalk": true, "meta.product": true,
	"meta.categories": true, "meta.version": true, "meta.markerSchema": true, "meta.sampleUnits": true,
	"meta.extensions": true, "meta.oscpu": true, "meta.abi": true, "meta.profilingStartTime": true,
	"meta.symbolicated": true, "meta.debug": true, "meta.logicalCPUs": true,
}

// isFirefox reports whether an input that begins with head is a Firefox profile, processed or raw: it states the
// version of processed profiles, has libraries or markers as only Firefox writes them, or at least 3 of firefoxMeta.
func isFirefox(head []byte) bool {
	if !isJSON(head, "{") {
		return false
	}
	known := 0
	visitJSON(head, func(path, _ string) bool {
		switch {
		case path == "meta.preprocessedProfileVersion", path == "libs[].breakpadId", path == "profile.libs[].breakpadId":
			known = 3
		case path == "markers[].isOffMainThread": // of the performance panel, which saves a profile after them
			known = 3
		case firefoxMeta[path]:
			known++
		}
		return known < 3
	})
	return known >= 3
}
