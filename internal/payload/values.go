package payload

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsonio"
)

// memberNames caches the nodes of fields that the payloads themselves name.
type memberNames map[*ntconv.Field]*node

// appendValues is the slow path of Encoder.Append: it appends any payload as JSON.
func (p *program) appendValues(dst []byte, ev *ntconv.Event) []byte {
	start := len(dst)
	i := 0
	var dynamic []string
	for f, v := range p.schema.Values(ev) {
		var n *node
		if i < len(p.wide.members) {
			n = &p.wide.members[i]
		} else {
			n = p.names.node(f, p.wide.members, dynamic)
			dynamic = append(dynamic, n.name)
		}
		i++
		if n.op != opPad {
			dst = appendValue(append(dst, n.key...), n, v)
		}
	}
	return endObject(dst, start)
}

// node returns the node of a field that follows members and the fields named before.
func (m memberNames) node(f *ntconv.Field, members []node, before []string) *node {
	if n := m[f]; n != nil {
		return n
	}
	n := new(node)
	new(plan).node(n, &f.Type, 8)
	taken := make(Keys)
	for i := range members {
		taken.Take(members[i].name)
	}
	for _, name := range before {
		taken.Take(name)
	}
	n.name = taken.Add(f.Name, len(taken)+1)
	n.key = "," + n.name
	m[f] = n
	return n
}

// appendValue appends a decoded value as JSON.
func appendValue(dst []byte, n *node, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueBool:
		return strconv.AppendBool(dst, v.Bool())
	case ntconv.ValueInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case ntconv.ValueUint:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case ntconv.ValueFloat:
		bits := 64
		if n.op == opFloat && n.size == 4 {
			bits = 32
		}
		return jsonio.AppendFloat(dst, v.Float(), bits)
	case ntconv.ValueString:
		at := len(dst)
		dst = v.AppendString(dst)
		end := len(dst)
		dst, _ = jsonio.AppendString(dst, dst[at:end:end])
		return slices.Delete(dst, at, end)
	case ntconv.ValueBytes:
		return appendHex(dst, v.Bytes())
	case ntconv.ValueGUID:
		return append(v.GUID().Append(append(dst, '"')), '"')
	case ntconv.ValueTime:
		dst, _ = appendTime(dst, v.FileTime())
		return dst
	case ntconv.ValueList:
		return appendList(dst, n, v)
	case ntconv.ValueObject:
		return appendObject(dst, n, v)
	case ntconv.ValueError:
		dst, _ = jsonio.AppendString(append(dst, `{"error":`...), v.Err().Error())
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func appendList(dst []byte, n *node, v ntconv.Value) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for m := range v.Elems() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, n.elem, m)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, n *node, v ntconv.Value) []byte {
	start := len(dst)
	i := 0
	for _, m := range v.Fields() {
		member := &n.members[i]
		i++
		if member.op != opPad {
			dst = appendValue(append(dst, member.key...), member, m)
		}
	}
	return endObject(dst, start)
}
