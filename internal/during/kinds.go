package during

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/dotnet"
	"github.com/ntconv/ntconv/internal/interval"
	"github.com/ntconv/ntconv/internal/where"
	"github.com/ntconv/ntconv/schema"
)

const tplProvider = "System.Threading.Tasks.TplEventSource"

// kinds returns all kinds of intervals, the most frequent ones first.
func kinds() []kind {
	return append([]kind{spanKind(), requestKind()}, append(runtimeKinds(), pairKind())...)
}

// runtimeKinds returns the kinds that are intervals of one pair.
func runtimeKinds() []kind {
	return []kind{
		kind{
			noun: "collection", record: "dotnet-trace collect --clrevents gc records them", tallied: "generation",
			wants: isPair(clr.Runtime, interval.PairCollection),
		}.with("gc", "gc.generation == 2",
			number("generation", "Depth"), named("reason", "Reason"), named("type", "Type"), number("number", "Count"),
			property{where.Property{Name: "pause", Kind: where.PropertyDuration}, func(v *interval.Interval, _ string) ntconv.Value {
				return ntconv.IntValue(v.Paused.Nanoseconds())
			}}),
		kind{
			noun: "pause", record: "dotnet-trace collect --clrevents gc records them", tallied: "reason",
			wants: isPair(clr.Runtime, interval.PairSuspension), is: (*interval.Interval).IsPause,
		}.with("pause", "pause.duration > 10ms",
			named("reason", "Reason"), ofCollection("generation", "Depth"), ofCollection("number", "Count")),
		kind{
			noun: "wait for a lock", plural: "waits for locks", tallied: "kind",
			record: "dotnet-trace collect --clrevents contention records them",
			wants:  isPair(clr.Runtime, "Contention"),
		}.with("contention", "contention.duration > 10ms",
			named("kind", "ContentionFlags"), number("lock_id", "LockID"), number("owner_thread_id", "LockOwnerThreadID")),
		kind{
			noun: "wait", record: "dotnet-trace collect --clrevents waithandle --clreventlevel verbose records them (.NET 9)",
			tallied: "source", wants: isPair(clr.Runtime, "WaitHandleWait"),
		}.with("wait", "wait.duration > 10ms", named("source", "WaitSource"), number("object_id", "AssociatedObjectID")),
		kind{
			noun: "compilation", record: "dotnet-trace collect --clrevents jit --clreventlevel verbose records them",
			tallied: "method", wants: isPair(clr.Runtime, "MethodJitting"),
		}.with("jit", `jit.method =~ "Cart"`,
			property{where.Property{Name: "method"}, method}, number("il_size", "MethodILSize"), number("code_size", "MethodSize")),
		kind{
			noun: "exception", record: "dotnet-trace collect --clrevents exception records them",
			tallied: "type", wants: isPair(clr.Runtime, "Exception"),
		}.with("exception", `exception.type == "System.IO.IOException"`,
			typeName("ExceptionType"), text("message", "ExceptionMessage")),
		kind{
			noun: "load of a type", plural: "loads of types", tallied: "type",
			record: "dotnet-trace collect --clrevents typediagnostic records them",
			wants:  isPair(clr.Runtime, "TypeLoad"),
		}.with("typeload", `typeload.type =~ "Cart"`, typeName("TypeName"), number("level", "LoadLevel")),
		kind{
			noun: "task", record: "dotnet-trace collect --providers " + tplProvider + ":0x3:4 records them", tallied: "ID",
			wants: isPair(tplProvider, "Task"),
		}.with("task", "task.duration > 10ms", number("id", "TaskID")),
	}
}

// pairKind returns the kind of all pairs. The pairs of event sources are spans.
func pairKind() kind {
	k := kind{
		noun: "interval", record: "record events that begin and end something", tallied: "name",
		wants: func(*schema.Pair) bool { return true },
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
func (k kind) with(name, example string, own ...property) kind {
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

// isPair returns the function that recognizes a pair.
func isPair(provider, name string) func(*schema.Pair) bool {
	return func(p *schema.Pair) bool { return p.Provider == provider && p.Name == name }
}

// number returns a property that is a number in a field.
func number(name, field string) property {
	return property{where.Property{Name: name, Kind: where.PropertyNumber}, func(v *interval.Interval, _ string) ntconv.Value {
		return v.Field(field)
	}}
}

// text returns a property that is a string in a field.
func text(name, field string) property {
	return property{where.Property{Name: name}, func(v *interval.Interval, _ string) ntconv.Value { return v.Field(field) }}
}

// typeName returns the property that is the type in a field, spelled as everywhere but in payloads.
func typeName(field string) property {
	return property{where.Property{Name: "type"}, func(v *interval.Interval, _ string) ntconv.Value {
		f := v.Field(field)
		if f.Kind() != ntconv.ValueString {
			return f
		}
		return ntconv.StringValue(dotnet.TypeName(string(f.AppendString(nil)), false))
	}}
}

// named returns a property that is the name of a number in a field. A number without a name, as of a newer runtime, is
// its decimal form.
func named(name, field string) property {
	return property{where.Property{Name: name, Kind: where.PropertyWord}, func(v *interval.Interval, _ string) ntconv.Value {
		n := v.Field(field)
		if s := v.ValueName(field); s != "" {
			return ntconv.StringValue(s)
		}
		if n.Kind() != ntconv.ValueUint {
			return ntconv.Value{}
		}
		return ntconv.StringValue(strconv.FormatUint(n.Uint(), 10))
	}}
}

// ofCollection returns a property of a pause that is a number in the event that begins its collection.
func ofCollection(name, field string) property {
	return property{where.Property{Name: name, Kind: where.PropertyNumber}, func(v *interval.Interval, _ string) ntconv.Value {
		if v.Collection == nil {
			return ntconv.Value{}
		}
		return v.EventField(v.Collection, field)
	}}
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
