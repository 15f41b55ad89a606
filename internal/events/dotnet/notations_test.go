package dotnet

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A model is a type as a compiler knows it. The test writes one model in the three existing notations and in C#. All of
// them must yield the same display name.
type model struct {
	form  string // "prim", "named", "tuple", "nullable", "canon", "array", "pointer", "var", "mvar"
	names [4]string
	outer []string // outer types, without type parameters
	args  []model
	n     int
}

// prims has the columns method events, perf maps, reflection, C#.
var prims = [][4]string{
	{"int32", "int32", "System.Int32", "int"}, {"unsigned int8", "uint8", "System.Byte", "byte"}, {"wchar", "char", "System.Char", "char"},
	{"int", "native int", "System.IntPtr", "nint"}, {"unsigned int", "native uint", "System.UIntPtr", "nuint"}, {"float32", "float32", "System.Single", "float"},
	{"class System.String", "string", "System.String", "string"}, {"class System.Object", "object", "System.Object", "object"},
	{"bool", "bool", "System.Boolean", "bool"}, {"unsigned int64", "uint64", "System.UInt64", "ulong"},
	{"value class System.Decimal", "valuetype [System.Runtime]System.Decimal", "System.Decimal", "decimal"},
}

var ident = rapid.SampledFrom([]string{"Foo", "Bar", "Node", "Entry", "Größe", "List", "_x", "T1", "classy"})
var space = rapid.SampledFrom([]string{"", "Shop.", "System.Linq.", "A.B.C."})

// drawModel draws a type. Only signatures may use type parameters: vars is their number, or -1 if they are not allowed.
func drawModel(t *rapid.T, depth, vars, mvars int) model {
	forms := []string{"prim", "named", "named"}
	if depth > 0 {
		forms = append(forms, "named", "tuple", "nullable", "array")
	}
	if vars < 0 {
		forms = append(forms, "canon")
	} else if depth > 0 {
		forms = append(forms, "pointer")
	}
	if vars > 0 {
		forms = append(forms, "var")
	}
	if mvars > 0 {
		forms = append(forms, "mvar")
	}
	m := model{form: rapid.SampledFrom(forms).Draw(t, "form")}
	arity := 0
	switch m.form {
	case "prim":
		m.names = rapid.SampledFrom(prims).Draw(t, "prim")
	case "named":
		m.names[0], m.names[1] = space.Draw(t, "namespace"), ident.Draw(t, "name")
		m.outer = rapid.SliceOfN(ident, 0, 2).Draw(t, "outer")
		arity = rapid.IntRange(0, min(depth, 3)).Draw(t, "arity")
	case "tuple":
		arity = rapid.IntRange(2, 3).Draw(t, "arity")
	case "nullable", "array", "pointer":
		arity = 1
	case "var":
		m.n = rapid.IntRange(0, vars-1).Draw(t, "var")
	case "mvar":
		m.n = rapid.IntRange(0, mvars-1).Draw(t, "mvar")
	}
	for range arity {
		m.args = append(m.args, drawModel(t, depth-1, vars, mvars))
	}
	return m
}

// written joins the arguments, each written by write.
func (m model) written(sep string, write func(model) string) string {
	var parts []string
	for _, a := range m.args {
		parts = append(parts, write(a))
	}
	return strings.Join(parts, sep)
}

func (m model) arity() string {
	if len(m.args) == 0 {
		return ""
	}
	return fmt.Sprintf("`%d", len(m.args))
}

// signature writes the notation of method events, or of perf maps if il is true.
func (m model) signature(il bool) string {
	angle := func(name string) string {
		if len(m.args) == 0 {
			return name
		}
		return name + "<" + m.written(",", func(a model) string { return a.signature(il) }) + ">"
	}
	value := map[bool]string{false: "value class ", true: "valuetype [System.Runtime]"}[il]
	switch m.form {
	case "prim":
		return m.names[map[bool]int{false: 0, true: 1}[il]]
	case "tuple":
		return angle(value + "System.ValueTuple" + m.arity())
	case "nullable":
		return angle(value + "System.Nullable`1")
	case "array":
		return m.args[0].signature(il) + "[]"
	case "pointer":
		return m.args[0].signature(il) + "*"
	case "var":
		return fmt.Sprintf("!%d", m.n)
	case "mvar":
		return fmt.Sprintf("!!%d", m.n)
	}
	if !il && len(m.outer) > 0 { // method events contain only the innermost name
		return angle("class " + m.names[1] + m.arity())
	}
	return angle("class " + m.names[0] + strings.Join(append(append([]string{}, m.outer...), m.names[1]), "/") + m.arity())
}

// reflection writes the notation of type arguments in the name of a type.
func (m model) reflection() string {
	bracket := func(name string) string {
		if len(m.args) == 0 {
			return name
		}
		return name + m.arity() + "[" + m.written(",", model.reflection) + "]"
	}
	switch m.form {
	case "prim":
		return m.names[2]
	case "canon":
		return "System.__Canon"
	case "tuple":
		return bracket("System.ValueTuple")
	case "nullable":
		return bracket("System.Nullable")
	case "array":
		return m.args[0].reflection() + "[]"
	}
	return bracket(m.names[0] + strings.Join(append(append([]string{}, m.outer...), m.names[1]), "+"))
}

// csharp writes the expected display name. In the name of a type, vars is nil and canon yields the letters; in a
// signature, vars are the arguments.
func (m model) csharp(vars, mvars []string, canon func() string) string {
	sub := func(a model) string { return a.csharp(vars, mvars, canon) }
	switch m.form {
	case "prim":
		return m.names[3]
	case "canon":
		return canon()
	case "tuple":
		return "(" + m.written(", ", sub) + ")"
	case "nullable":
		return sub(m.args[0]) + "?"
	case "array":
		return sub(m.args[0]) + "[]"
	case "pointer":
		return sub(m.args[0]) + "*"
	case "var":
		return vars[m.n]
	case "mvar":
		return mvars[m.n]
	}
	name := m.names[1]
	if canon != nil {
		name = strings.Join(append(append([]string{}, m.outer...), name), ".")
	}
	if len(m.args) > 0 {
		name += "<" + m.written(", ", sub) + ">"
	}
	return name
}

func (m model) canons() (n int) {
	if m.form == "canon" {
		n = 1
	}
	for _, a := range m.args {
		n += a.canons()
	}
	return n
}

// A random type and method have the same display name in every notation, and it is that of C#.
func TestAllNotationsReadTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, name, method := space.Draw(t, "namespace"), ident.Draw(t, "type"), ident.Draw(t, "method")
		outerArity, arity := rapid.IntRange(0, 2).Draw(t, "outer arity"), rapid.IntRange(0, 2).Draw(t, "arity")
		mvars := rapid.IntRange(0, 2).Draw(t, "method's arity")
		decl := model{form: "named"}
		for range outerArity + arity {
			decl.args = append(decl.args, drawModel(t, 2, -1, 0))
		}

		// the known part of the type's arguments
		total, letter := decl.canons(), 0
		var vars, letters []string
		for _, a := range decl.args {
			vars = append(vars, a.csharp(nil, nil, func() string {
				if letter++; total == 1 {
					return "T"
				}
				return fmt.Sprintf("T%d", letter)
			}))
		}
		for i := range mvars {
			c := "T"
			if total > 0 {
				c = "U"
			}
			if mvars > 1 {
				c += fmt.Sprint(i + 1)
			}
			letters = append(letters, c)
		}

		// the notations
		ticks := func(n int) string {
			if n == 0 {
				return ""
			}
			return fmt.Sprintf("`%d", n)
		}
		typ := space + "Outer" + ticks(outerArity) + "+" + name + ticks(arity)
		if len(decl.args) > 0 {
			typ += "[" + decl.written(",", model.reflection) + "]"
		}
		angle := func(args []string) string {
			if len(args) == 0 {
				return ""
			}
			return "<" + strings.Join(args, ", ") + ">"
		}
		want := space + "Outer" + angle(vars[:outerArity]) + "." + name + angle(vars[outerArity:]) + "." + method + angle(letters)
		var event, il, cs []string
		for range rapid.IntRange(0, 3).Draw(t, "parameters") {
			p := drawModel(t, 3, len(decl.args), mvars)
			amp, ref := "", ""
			if rapid.Bool().Draw(t, "ref") {
				amp, ref = "&", "ref "
			}
			event = append(event, p.signature(false)+amp)
			il = append(il, p.signature(true)+amp)
			cs = append(cs, ref+p.csharp(vars, letters, nil))
		}
		want += "(" + strings.Join(cs, ", ") + ")"
		ret, generic := "void", ""
		if mvars > 0 { // "generic" shows that there are type parameters
			ret, generic = fmt.Sprintf("!!%d", mvars-1), "generic "
		}

		sig := "instance " + generic + ret + "  (" + strings.Join(event, ",") + ")"
		if got := (Method{typ, method, sig}).Pretty(); got != want {
			t.Errorf("%s | %s | %s\n got %s\nwant %s", typ, method, sig, got, want)
		}
		sym := "instance " + ret + " [Asm] " + typ + "::" + method + "(" + strings.Join(il, ",") + ")[Optimized]"
		if got := prettySymbol(sym); got != want {
			t.Errorf("%s\n got %s\nwant %s", sym, got, want)
		}
	})
}
