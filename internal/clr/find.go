package clr

import "github.com/ntconv/ntconv"

// LayoutOf returns what the tables say about the events of a type with that version, or nil. Events of the native
// runtime and of Universal.System are found by ID. Other providers renumber part of their events in each process: their
// events are found by name if they have one.
func LayoutOf(t *ntconv.Type, version uint8) *Layout {
	switch p := providerIndex(t.Provider); {
	case p < 0:
		return nil
	case providers[p].native || t.Provider == UniversalSystem:
		return lookup(p, t.ID, version)
	case t.Name != "":
		return lookupName(p, t.Name, version)
	case t.Provider != UniversalEvents:
		return lookup(p, t.ID, version)
	}
	return nil
}

// dynamicEvents is the provider of the tables that has the layouts of the data of GCDynamicEvents, by name.
const dynamicEvents = Runtime + "/GCDynamicEvent"

// DynamicLayout returns the layout of the data of a GCDynamicEvent with that name, or nil. It does not keep name.
func DynamicLayout(name []byte) *Layout {
	return lookupName(providerIndex(dynamicEvents), string(name), 0)
}
