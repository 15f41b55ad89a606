package clr

import "github.com/ntconv/ntconv"

// LayoutOf returns the layout of the events of a type with that version, or nil. It finds events of the native runtime
// and of Universal.System by ID. Other providers renumber some of their events in each process, so it finds these by
// name if they have one.
func LayoutOf(t *ntconv.Type, version uint8) *Layout {
	switch p := providerOf(t.Provider); {
	case p == nil:
		return nil
	case p.native || t.Provider == UniversalSystem:
		return p.lookup(t.ID, version)
	case t.Name != "":
		return p.lookupName(t.Name, version)
	case t.Provider != UniversalEvents:
		return p.lookup(t.ID, version)
	}
	return nil
}

// dynamicEvents is the provider of the layouts of GCDynamicEvent data, which are found by name.
const dynamicEvents = Runtime + "/GCDynamicEvent"

// DynamicLayout returns the layout of the data of a GCDynamicEvent with that name, or nil. It does not keep name.
func DynamicLayout(name []byte) *Layout {
	return providerOf(dynamicEvents).lookupName(string(name), 0)
}
