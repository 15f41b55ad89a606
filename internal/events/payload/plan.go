package payload

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// A plan states how the values of a payload are converted, a node how those of a type are.
type (
	plan = layout.Layout[jsonName]
	node = layout.Node[jsonName]
)

// A jsonName is the name of a member in JSON.
type jsonName struct {
	name string // quoted, with its colon
	key  string // name preceded by the comma, or by the brace of the object
}

func newPlan(fields []ntconv.Field, pointerSize int) *plan {
	p := layout.Compile[jsonName](fields, pointerSize)
	nameMembers(p.Members, fields)
	return p
}

// nameMembers sets the names of the members of an object, and of the objects in it.
func nameMembers(members []node, fields []ntconv.Field) {
	taken := make(Keys, len(members))
	before, position := byte('{'), 1
	for i := range members {
		for n := &members[i]; n != nil; n = n.Elem {
			nameMembers(n.Members, n.Type.Fields)
		}
		if members[i].Op == layout.Pad {
			continue
		}
		name := taken.Add(fields[i].Name, position)
		members[i].Info = jsonName{name, string(before) + name}
		before, position = ',', position+1
	}
}
