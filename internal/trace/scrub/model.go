package scrub

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// A model replaces what events point to. Equal pointers become equal pointers, because readers compare them.
type model struct {
	words *rewriter
	tally *tally

	types     map[*ntconv.Type]*ntconv.Type
	threads   map[*ntconv.Thread]*ntconv.Thread
	processes map[*ntconv.Process]*ntconv.Process
	functions map[*ntconv.Function]*ntconv.Function
	mappings  map[*ntconv.Mapping]*ntconv.Mapping
	stacks    generations[*ntconv.Stack, *ntconv.Stack]
	lists     generations[*ntconv.Labels, *ntconv.Labels]
	sites     map[string]*site

	lastType, newType       *ntconv.Type
	lastThread, newThread   [2]*ntconv.Thread // two, because threads alternate with capture threads
	turn                    int
	lastLabels, newLastList *ntconv.Labels
}

// Bounds of the caches of a model: stacks are large, and lists of labels many.
const (
	maxStacks = 1 << 14
	maxLists  = 1 << 14
)

func newModel(words *rewriter, t *tally) *model {
	m := &model{
		words: words, tally: t,
		types:     make(map[*ntconv.Type]*ntconv.Type),
		threads:   make(map[*ntconv.Thread]*ntconv.Thread),
		processes: make(map[*ntconv.Process]*ntconv.Process),
		functions: make(map[*ntconv.Function]*ntconv.Function),
		mappings:  make(map[*ntconv.Mapping]*ntconv.Mapping),
		sites:     make(map[string]*site),
	}
	m.stacks.limit, m.lists.limit = maxStacks, maxLists
	return m
}

// string replaces a string of a class and counts it under the name of the property.
func (m *model) string(property, s, class string) string {
	return m.stringOf(property, s, m.words.policy.class(class))
}

func (m *model) stringOf(property, s string, c *class) string {
	if s == "" {
		return s
	}
	out := m.words.string(s, c)
	m.tally.str(m.site(property), c, s, out)
	return out
}

// site returns the site of a property.
func (m *model) site(property string) *site {
	at := m.sites[property]
	if at == nil {
		at = &site{Field: property}
		m.sites[property] = at
		m.tally.sites = append(m.tally.sites, at)
	}
	return at
}

// info returns the description of the trace. scrubbed is the value of AttrScrubbed.
func (m *model) info(info *ntconv.Info, scrubbed string) *ntconv.Info {
	out := *info
	out.Attrs = slices.DeleteFunc(m.attrs("attributes of the trace", info.Attrs), func(a ntconv.Attr) bool {
		return a.Key == AttrScrubbed
	})
	out.Attrs = append(out.Attrs, ntconv.Attr{Key: AttrScrubbed, Value: scrubbed})
	return &out
}

// attrs replaces the values of attributes.
func (m *model) attrs(property string, attrs ntconv.Attrs) ntconv.Attrs {
	if len(attrs) == 0 {
		return nil
	}
	out := slices.Clone(attrs)
	for i := range out {
		a := &out[i]
		c := m.words.policy.key(contextTrace, []byte(a.Key))
		if c == nil {
			c = m.words.policy.class(classText)
			a.Key = m.name(a.Key)
		}
		before := a.Value
		a.Value = m.stringOf(property, before, c)
		if c.name == classPattern && a.Value != before && !isPattern(a.Value) {
			a.Value = "" // pseudonyms of words after a backslash
		}
	}
	return out
}

// isPattern reports whether readers of profiles accept a regular expression.
func isPattern(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil
}

// name replaces a name that programs choose: of a provider, an event, a field or a key. A name with @ may be the address
// of a user, as a key that a program makes of data.
func (m *model) name(s string) string {
	const property = "names of providers, events, fields and keys"
	names := m.words.policy.class(className)
	switch {
	case names.action == actionKeep && strings.Contains(s, "@"):
		return m.string(property, s, classText)
	case names.action == actionKeep && !looksLikePath([]byte(s)):
		return s
	}
	return m.stringOf(property, s, names)
}

// typ replaces the texts of a type.
func (m *model) typ(t *ntconv.Type) *ntconv.Type {
	if t == m.lastType {
		return m.newType
	}
	out := m.types[t]
	if out == nil {
		out = m.createType(t)
		m.types[t] = out
	}
	m.lastType, m.newType = t, out
	return out
}

func (m *model) createType(t *ntconv.Type) *ntconv.Type {
	out := &ntconv.Type{
		Provider: t.Provider, GUID: t.GUID, ID: t.ID, Name: t.Name, Version: t.Version, Level: t.Level,
		Opcode: t.Opcode, HasOpcode: t.HasOpcode, Keywords: t.Keywords,
		Message:     m.template(t.Message),
		Description: m.template(t.Description),
		Attrs:       m.attrs("attributes of types", t.Attrs),
	}
	_, chrome := chromeevent.Of(t)
	rename := m.name
	switch {
	case chrome:
		rename = func(s string) string { return m.string("names of Chrome's events", s, classChrome) }
	case isKnownProvider(t.Provider):
		rename = func(s string) string { return s }
	}
	out.Fields = m.fields(t.Fields, rename)
	if out.Name = rename(t.Name); !chrome || t.Provider != "chrome" {
		out.Provider = rename(t.Provider)
	}
	if out.Provider != t.Provider {
		out.GUID = ntconv.GUID{} // derived from the name
	}
	if len(t.Extra)+len(t.OptionalExtra) > 0 {
		m.tally.count(m.site("unknown metadata of types"), m.words.policy.class(classUndecoded), true)
	}
	return out
}

// isKnownProvider reports whether readers need the names of a provider's events and fields.
func isKnownProvider(p string) bool {
	return clr.IsRuntime(p) || p == clr.EventPipe || p == clr.DiagnosticSource || p == clr.UniversalSystem ||
		p == clr.UniversalEvents || p == "ntconv" || p == "otlp"
}

// chromeFields are the fields of Chrome's events whose names are those of members with a meaning.
var chromeFields = []string{
	"dur_ns", "tdur_ns", "tts_ns", "ts_ns", "id", "id2_local", "id2_global", "bind_id", "scope", "s", "bp", "flow_in",
	"flow_out", "members", "parts", "part", "data", "ph", "cat", "name", "args",
}

// fields returns fields with new names and without unknown metadata.
func (m *model) fields(fields []ntconv.Field, rename func(string) string) []ntconv.Field {
	if fields == nil {
		return nil
	}
	out := make([]ntconv.Field, len(fields))
	for i := range fields {
		f := &fields[i]
		out[i] = ntconv.Field{Name: f.Name, Type: m.fieldType(&f.Type, rename)}
		if !slices.Contains(chromeFields, f.Name) {
			out[i].Name = rename(f.Name)
		}
		if len(f.Extra) > 0 {
			m.tally.count(m.site("unknown metadata of fields"), m.words.policy.class(classUndecoded), true)
		}
	}
	return out
}

func (m *model) fieldType(t *ntconv.FieldType, rename func(string) string) ntconv.FieldType {
	out := ntconv.FieldType{Code: t.Code, Count: t.Count, Fields: m.fields(t.Fields, rename)}
	if t.Elem != nil {
		elem := m.fieldType(t.Elem, rename)
		out.Elem = &elem
	}
	return out
}

// template replaces a message template, but not its references to fields such as {0} and %1.
func (m *model) template(s string) string {
	out := []byte(m.string("templates of messages", s, classTemplate))
	for i := 0; i < len(s); i++ {
		if s[i] != '{' && s[i] != '%' {
			continue
		}
		for i++; i < len(s) && isDigit(rune(s[i])); i++ {
			out[i] = s[i]
		}
		i--
	}
	return string(out)
}

// thread replaces the texts of a thread.
func (m *model) thread(t *ntconv.Thread) *ntconv.Thread {
	for i, last := range m.lastThread {
		if last == t {
			return m.newThread[i]
		}
	}
	out := m.threads[t]
	if out == nil {
		out = t
		if p := m.process(t.Process); t.Name != "" || len(t.Attrs) > 0 || p != t.Process {
			out = &ntconv.Thread{
				TID: t.TID, Name: m.string("names of threads", t.Name, classThread), Process: p,
				Attrs: m.attrs("attributes of threads", t.Attrs),
			}
			m.threads[t] = out
		}
	}
	m.lastThread[m.turn], m.newThread[m.turn] = t, out
	m.turn ^= 1
	return out
}

// process replaces the texts of a process, which may be nil.
func (m *model) process(p *ntconv.Process) *ntconv.Process {
	if p == nil || p.Host == "" && p.Name == "" && len(p.Attrs) == 0 && len(p.Mappings) == 0 {
		return p
	}
	out := m.processes[p]
	if out == nil {
		out = &ntconv.Process{
			PID: p.PID, PointerSize: p.PointerSize,
			Host:  m.string("names of hosts", p.Host, classHost),
			Name:  m.string("names of processes", p.Name, classProcess),
			Attrs: m.attrs("attributes of processes", p.Attrs),
		}
		for _, mapping := range p.Mappings {
			out.Mappings = append(out.Mappings, m.mapping(mapping))
		}
		m.processes[p] = out
	}
	return out
}

// mapping replaces the texts of a mapping, which may be nil.
func (m *model) mapping(p *ntconv.Mapping) *ntconv.Mapping {
	if p == nil {
		return nil
	}
	out := m.mappings[p]
	if out == nil {
		c := *p
		c.File = m.string("files of mappings", p.File, classMapped)
		c.BuildID = m.string("build IDs of mappings", p.BuildID, classBuildID)
		out = &c
		m.mappings[p] = out
	}
	return out
}

// function replaces the texts of a function. label means that it shows a label.
func (m *model) function(f *ntconv.Function, label bool) *ntconv.Function {
	if f == nil {
		return nil
	}
	out := m.functions[f]
	if out == nil {
		class := classMethod
		if label {
			class = classLabel
		}
		c := *f
		c.Name = m.string("names of functions", f.Name, class)
		c.SystemName = m.string("names of functions", f.SystemName, class)
		c.File = m.string("source files of functions", f.File, classSource)
		out = &c
		m.functions[f] = out
	}
	return out
}

// stack replaces the texts of a stack with frames.
func (m *model) stack(s *ntconv.Stack) *ntconv.Stack {
	if out, ok := m.stacks.get(s); ok {
		return out
	}
	out := &ntconv.Stack{PCs: s.PCs, Frames: slices.Clone(s.Frames)}
	for i := range out.Frames {
		f := &out.Frames[i]
		f.Func = m.function(f.Func, f.Flags&ntconv.FrameLabel != 0)
		f.Mapping = m.mapping(f.Mapping)
	}
	m.stacks.put(s, out)
	return out
}

// labels replaces the strings of labels, and IDs if requested.
func (m *model) labels(l *ntconv.Labels) *ntconv.Labels {
	if l == m.lastLabels {
		return m.newLastList
	}
	out, ok := m.lists.get(l)
	if !ok {
		out = m.createLabels(l)
		m.lists.put(l, out)
	}
	m.lastLabels, m.newLastList = l, out
	return out
}

// placeholderLabel is a label that one-collect gives to samples without labels. Profiles and print recognize it by its
// text and omit it, so it must stay.
var placeholderLabel = ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual values"}

func (m *model) createLabels(l *ntconv.Labels) *ntconv.Labels {
	list := slices.Clone(l.List())
	changed := false
	for i := range list {
		p := &list[i]
		before := *p
		switch p.Kind {
		case ntconv.LabelString:
			if *p == placeholderLabel {
				m.tally.str(m.site("labels"), m.words.policy.class(classLabel), p.Str, p.Str)
				continue
			}
			c := m.words.policy.key(contextAttribute, []byte(p.Key))
			if c == nil {
				c = m.words.policy.class(classLabel)
				p.Key = m.name(p.Key)
			}
			p.Str = m.stringOf("labels", p.Str, c)
		case ntconv.LabelInt:
			p.Key, p.Unit = m.name(p.Key), m.name(p.Unit)
		case ntconv.LabelTraceID:
			m.id(p, len(p.ID))
		case ntconv.LabelSpanID:
			m.id(p, 8)
		}
		changed = changed || *p != before
	}
	if !changed {
		return l
	}
	return ntconv.NewLabels(list)
}

// id replaces the ID of a label, which has n bytes, if requested.
func (m *model) id(p *ntconv.Label, n int) {
	if !m.words.hashIDs || len(bytes.Trim(p.ID[:n], "\x00")) == 0 {
		return
	}
	before := p.ID
	m.words.hashID(p.ID[:n], before[:n])
	m.tally.count(m.site("IDs of labels"), m.words.policy.class(classID), true)
}

// mark replaces the threads of a mark.
func (m *model) mark(k *ntconv.Mark) *ntconv.Mark {
	out := k
	for i := range k.Threads {
		t := k.Threads[i].Thread
		if t == nil {
			continue
		}
		replaced := m.thread(t)
		if replaced == t {
			continue
		}
		if out == k {
			out = &ntconv.Mark{Kind: k.Kind, Flags: k.Flags, Threads: slices.Clone(k.Threads)}
		}
		out.Threads[i].Thread = replaced
	}
	return out
}
