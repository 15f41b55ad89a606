package ntconv

// Attr is an attribute of a trace, a type, a thread or a process.
type Attr struct{ Key, Value string }

// Attrs are attributes in the order of the input. A key may occur more than once.
type Attrs []Attr

// Get returns the last value of a key and whether the key exists. Later entries replace earlier ones in every format
// that ntconv reads.
func (a Attrs) Get(key string) (value string, ok bool) {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i].Key == key {
			return a[i].Value, true
		}
	}
	return "", false
}

// AttrPID is the attribute with the recorded ID of a process whose ID package merge has changed.
const AttrPID = "ntconv.pid"

// AttrOrigin is the attribute of a thread with the name of the source that it came from; see merge.Options.
const AttrOrigin = "ntconv.origin"
