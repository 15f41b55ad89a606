package selection

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/select/where"
)

// kinds returns all kinds of intervals, the most frequent ones first.
func kinds() []intervalKind {
	return append([]intervalKind{spanKind(), requestKind()}, append(runtimeKinds(), pairKind())...)
}

// runtimeKinds returns the kinds that are operations.
func runtimeKinds() (list []intervalKind) {
	for i := range operation.All() {
		of := &operation.All()[i]
		if of.During == "" {
			continue
		}
		var own []property
		for _, f := range of.Fields {
			if f.Property != "" {
				own = append(own, propertyOf(f))
			}
		}
		list = append(list, intervalKind{
			noun: of.Noun, plural: of.Plural, record: of.Record, tallied: strings.Replace(own[0].Name, "id", "ID", 1),
			wants: func(o *operation.Operation) bool { return o == of },
		}.with(of.During, of.Example, own...))
	}
	return list
}

// pairKind returns the kind of all pairs. The pairs of event sources are spans.
func pairKind() intervalKind {
	k := intervalKind{
		noun: "interval", record: "record events that begin and end something", tallied: "name",
		wants: func(*operation.Operation) bool { return true },
	}.with("pair", `pair.name == "TypeLoad"`,
		property{where.Property{Name: "name"}, func(v *interval.Interval, _ string) ntconv.Value {
			return ntconv.StringValue(v.Pair.Name)
		}},
		property{where.Property{Name: "provider"}, func(v *interval.Interval, _ string) ntconv.Value {
			return ntconv.StringValue(v.Pair.Provider)
		}})
	k.isSpan, k.ofSpan = isSourcePair, sourcePairValue
	return k
}

// with completes a kind with its name, an example, its own properties and those that all intervals have. The first
// property of its own is the one whose values messages list.
func (k intervalKind) with(name, example string, own ...property) intervalKind {
	k.properties = append(own,
		property{where.Property{Name: "duration", Kind: where.PropertyDuration}, func(v *interval.Interval, _ string) ntconv.Value {
			return ntconv.IntValue(v.Duration().Nanoseconds())
		}},
		property{where.Property{Name: "start", Kind: where.PropertyTime}, func(v *interval.Interval, _ string) ntconv.Value {
			return ntconv.IntValue(v.Start())
		}},
		property{where.Property{Name: "fields", Kind: where.PropertyKeyed}, namedField})
	k.subject = &where.Subject{Name: name, Example: example}
	for _, p := range k.properties {
		k.subject.Properties = append(k.subject.Properties, p.Property)
	}
	return k
}

// propertyOf returns the property of an operation for one of its fields.
func propertyOf(f operation.Field) property {
	p := property{where.Property{Name: f.Property, Kind: where.PropertyNumber}, nil}
	switch f.Form {
	case operation.Text:
		p.Kind = 0
	case operation.Type:
		p.Kind, p.read = 0, func(v *interval.Interval, _ string) ntconv.Value {
			t := v.Field(f.Name)
			if t.Kind() != ntconv.ValueString {
				return t
			}
			return ntconv.StringValue(dotnet.TypeName(string(t.AppendString(nil)), false))
		}
		return p
	case operation.Method:
		p.Kind, p.read = 0, method
		return p
	case operation.Word:
		p.Kind, p.read = where.PropertyWord, func(v *interval.Interval, _ string) ntconv.Value { return word(v, f.Name) }
		return p
	case operation.Paused:
		p.Kind, p.read = where.PropertyDuration, func(v *interval.Interval, _ string) ntconv.Value {
			return ntconv.IntValue(v.Paused.Nanoseconds())
		}
		return p
	case operation.OfCollection:
		p.read = func(v *interval.Interval, _ string) ntconv.Value {
			if v.Collection == nil {
				return ntconv.Value{}
			}
			return v.EventField(v.Collection, f.Name)
		}
		return p
	}
	p.read = func(v *interval.Interval, _ string) ntconv.Value { return v.Field(f.Name) }
	return p
}

// word returns the name of a number in a field. A number without a name, as of a newer runtime, is its decimal form.
func word(v *interval.Interval, field string) ntconv.Value {
	n := v.Field(field)
	if s := v.ValueName(field); s != "" {
		return ntconv.StringValue(s)
	}
	if n.Kind() != ntconv.ValueUint {
		return ntconv.Value{}
	}
	return ntconv.StringValue(strconv.FormatUint(n.Uint(), 10))
}

// namedField returns a field of an interval. A number with a name in the runtime's manifest is a list of both, so that
// an expression can compare either.
func namedField(v *interval.Interval, key string) ntconv.Value {
	f := v.Field(key)
	if s := v.ValueName(key); s != "" {
		return ntconv.ListValue(f, ntconv.StringValue(s))
	}
	return f
}

// method returns the name of a method without its signature.
func method(v *interval.Interval, _ string) ntconv.Value {
	m := dotnet.Method{Namespace: v.Field("MethodNamespace").String(), Name: v.Field("MethodName").String()}
	return ntconv.StringValue(m.Pretty())
}
