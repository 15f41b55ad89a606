package payload

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// memberNames caches the nodes of fields that the payloads themselves name.
type memberNames map[*ntconv.Field]*node

// appendValues is the slow path of Encoder.Append: it appends any payload as JSON. It stops when dst has more than
// limit bytes; the JSON is then incomplete.
func (p *program) appendValues(dst []byte, ev *ntconv.Event, limit int) []byte {
	start := len(dst)
	i := 0
	var dynamic []string
	for f, v := range p.schema.Values(ev) {
		var n *node
		if i < len(p.wide.Members) {
			n = &p.wide.Members[i]
		} else {
			n = p.names.node(f, p.wide.Members, dynamic)
			dynamic = append(dynamic, n.Info.name)
		}
		i++
		if len(dst) > limit {
			break
		}
		if n.Op != layout.Pad {
			dst = appendValue(append(dst, n.Info.key...), n, v, limit)
		}
	}
	return endObject(dst, start)
}

// node returns the node of a field that follows members and the fields named before.
func (m memberNames) node(f *ntconv.Field, members []node, before []string) *node {
	if n := m[f]; n != nil {
		return n
	}
	n := layout.CompileType[jsonName](&f.Type)
	for e := n; e != nil; e = e.Elem {
		nameMembers(e.Members, e.Type.Fields)
	}
	taken := make(Keys)
	for i := range members {
		taken.Take(members[i].Info.name)
	}
	for _, name := range before {
		taken.Take(name)
	}
	n.Info.name = taken.Add(f.Name, len(taken)+1)
	n.Info.key = "," + n.Info.name
	m[f] = n
	return n
}

// appendValue appends a decoded value as JSON. It stops in a list or object when dst has more than limit bytes.
func appendValue(dst []byte, n *node, v ntconv.Value, limit int) []byte {
	switch v.Kind() {
	case ntconv.ValueList:
		return appendList(dst, n, v, limit)
	case ntconv.ValueObject:
		return appendObject(dst, n, v, limit)
	}
	bits := 64
	if n.Op == layout.Float && n.Size == 4 {
		bits = 32
	}
	return AppendScalar(dst, v, bits)
}

// AppendScalar appends a value that is neither a list nor an object as JSON, as the Encoder does. bits is the size of a
// floating-point number, 32 or 64.
func AppendScalar(dst []byte, v ntconv.Value, bits int) []byte {
	switch v.Kind() {
	case ntconv.ValueBool:
		return strconv.AppendBool(dst, v.Bool())
	case ntconv.ValueInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case ntconv.ValueUint:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case ntconv.ValueFloat:
		return jsonio.AppendFloat(dst, v.Float(), bits)
	case ntconv.ValueString:
		at := len(dst)
		dst = v.AppendString(dst)
		end := len(dst)
		dst = jsonio.AppendQuoted(dst, dst[at:end:end])
		return slices.Delete(dst, at, end)
	case ntconv.ValueBytes:
		return appendHex(dst, v.Bytes())
	case ntconv.ValueGUID:
		return append(v.GUID().Append(append(dst, '"')), '"')
	case ntconv.ValueTime:
		dst, _ = appendTime(dst, v.FileTime())
		return dst
	case ntconv.ValueError:
		return append(jsonio.AppendQuoted(append(dst, `{"error":`...), v.Err().Error()), '}')
	}
	return append(dst, "null"...)
}

func appendList(dst []byte, n *node, v ntconv.Value, limit int) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for m := range v.Elems() {
		if len(dst) > limit {
			break
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, n.Elem, m, limit)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, n *node, v ntconv.Value, limit int) []byte {
	start := len(dst)
	i := 0
	for _, m := range v.Fields() {
		member := &n.Members[i]
		i++
		if len(dst) > limit {
			break
		}
		if member.Op != layout.Pad {
			dst = appendValue(append(dst, member.Info.key...), member, m, limit)
		}
	}
	return endObject(dst, start)
}
