package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type provider struct {
	name, guid string
	native     bool
	keywords   []keyword
	maps       []valueMap
	events     []event
}

type keyword struct {
	name string
	mask uint64
}

type valueMap struct {
	name   string
	bits   bool
	values string // name=number pairs as in the text file, without spaces
}

type event struct {
	id            uint16
	version       uint8
	opcode, level uint8
	keywords      uint64
	symbol, task  string
	fields        string // compact form, see fieldList
}

// parse parses a text file: blank lines, comments, and the four kinds of lines that its header describes.
func parse(text string) ([]*provider, error) {
	var all []*provider
	for i, line := range strings.Split(text, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		if line == "" || kind == "#" {
			continue
		}
		if kind == "provider" {
			name, guid, _ := strings.Cut(rest, " ")
			all = append(all, &provider{name: name, guid: guid})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d: no provider yet", i+1)
		}
		if err := all[len(all)-1].line(kind, rest); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, p := range all {
		slices.SortStableFunc(p.events, func(a, b event) int {
			return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.version, b.version))
		})
		for i := 1; i < len(p.events); i++ {
			if a, b := p.events[i-1], p.events[i]; a.id == b.id && a.version == b.version {
				return nil, fmt.Errorf("%s: duplicate event %d/%d", p.name, a.id, a.version)
			}
		}
	}
	return all, nil
}

func (p *provider) line(kind, rest string) error {
	switch kind {
	case "keyword":
		name, value, _ := strings.Cut(rest, " ")
		mask, err := strconv.ParseUint(value, 0, 64)
		p.keywords = append(p.keywords, keyword{name, mask})
		return err
	case "map":
		w := strings.SplitN(rest, " ", 3)
		if len(w) != 3 || w[1] != "bits" && w[1] != "values" {
			return fmt.Errorf("map %q", rest)
		}
		p.maps = append(p.maps, valueMap{w[0], w[1] == "bits", strings.ReplaceAll(w[2], "; ", ";")})
		return nil
	case "event":
		e, err := p.event(rest)
		p.events = append(p.events, e)
		return err
	}
	return fmt.Errorf("unknown kind of line %q", kind)
}

var eventLine = regexp.MustCompile(
	`^(\d+)/(\d+) (\S+) task=(\S*)\((\d+)\) opcode=(\d+) level=(\d+) keywords=(\S*) : (.*)$`,
)

func (p *provider) event(s string) (e event, err error) {
	m := eventLine.FindStringSubmatch(s)
	if m == nil {
		return e, fmt.Errorf("event %q", s)
	}
	number := func(text string, bits int) uint64 {
		n, bad := strconv.ParseUint(text, 10, bits)
		err = cmp.Or(err, bad)
		return n
	}
	e = event{
		id: uint16(number(m[1], 16)), version: uint8(number(m[2], 8)), symbol: m[3], task: m[4],
		opcode: uint8(number(m[6], 8)), level: uint8(number(m[7], 8)),
	}
	if err != nil {
		return e, err
	}
	if m[8] != "" {
		for name := range strings.SplitSeq(m[8], "|") {
			i := slices.IndexFunc(p.keywords, func(k keyword) bool { return k.name == name })
			if i < 0 {
				return e, fmt.Errorf("keyword %q is not defined", name)
			}
			e.keywords |= p.keywords[i].mask
		}
	}
	e.fields, err = p.fieldList(m[9], " ")
	return e, err
}

// scalars maps the names of scalar types to the letters of the compact form.
var scalars = map[string]string{
	"Boolean": "?", "Int32": "i", "UInt8": "B", "UInt16": "H", "UInt32": "I", "Int64": "l", "UInt64": "L", "Double": "d",
	"Pointer": "P", "UnicodeString": "S", "AnsiString": "A", "GUID": "G", "FILETIME": "T", "VarUInt": "v", "UTF8String": "s",
}

// fieldList converts fields to the compact form that package clr parses, see its layoutParser: name:type, separated by
// spaces.
func (p *provider) fieldList(s, separator string) (string, error) {
	var out, names []string
	for _, f := range split(s, separator) {
		name, typ, ok := strings.Cut(f, ":")
		if !ok {
			return "", fmt.Errorf("field %q has no type", f)
		}
		code, err := p.fieldType(name, typ, names)
		if err != nil {
			return "", fmt.Errorf("field %q: %w", f, err)
		}
		out, names = append(out, name+":"+code), append(names, name)
	}
	return strings.Join(out, " "), nil
}

var arrayType = regexp.MustCompile(`^(.*)\[(\w*)\]$`)

func (p *provider) fieldType(name, typ string, before []string) (string, error) {
	typ, mapping, err := p.mapSuffix(typ)
	if err != nil {
		return "", err
	}
	if name == "Padding64" {
		return "_", nil
	}
	if size, ok := strings.CutPrefix(typ, "Binary{"); ok {
		typ = "UInt8[" + strings.TrimSuffix(size, "}") + "]"
	}
	prefix := ""
	if m := arrayType.FindStringSubmatch(typ); m != nil {
		typ = m[1]
		if prefix, err = arrayPrefix(m[2], before); err != nil {
			return "", err
		}
	}
	if list, ok := strings.CutPrefix(typ, "struct("); ok {
		fields, err := p.fieldList(strings.TrimSuffix(list, ")"), ", ")
		return prefix + "(" + fields + ")", err
	}
	code, ok := scalars[typ]
	if !ok {
		return "", fmt.Errorf("unknown type %q", typ)
	}
	return prefix + code + mapping, nil
}

// mapSuffix separates the name of a map from a type. It drops maps that the text file does not define.
func (p *provider) mapSuffix(typ string) (rest, suffix string, err error) {
	rest, name, ok := strings.Cut(typ, "<")
	if !ok || strings.HasPrefix(typ, "struct(") {
		return typ, "", nil
	}
	name, tail, ok := strings.Cut(name, ">")
	if !ok || tail != "" {
		return "", "", fmt.Errorf("map in %q does not end", typ)
	}
	i := slices.IndexFunc(p.maps, func(m valueMap) bool { return m.name == name })
	if i < 0 {
		return rest, "", nil
	}
	return rest, "<" + strconv.Itoa(i) + ">", nil
}

func arrayPrefix(count string, before []string) (string, error) {
	if count == "" {
		return "@", nil
	}
	if _, err := strconv.ParseUint(count, 10, 16); err == nil {
		return "#" + count, nil
	}
	i := slices.Index(before, count)
	if i < 0 {
		return "", fmt.Errorf("count %q is not an earlier field", count)
	}
	return "*" + strconv.Itoa(i), nil
}

// split splits a string at separators outside parentheses.
func split(s, separator string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], separator):
			if i > start {
				out = append(out, s[start:i])
			}
			i += len(separator) - 1
			start = i + 1
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
