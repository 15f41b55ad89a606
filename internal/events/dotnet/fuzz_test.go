package dotnet

import (
	"strings"
	"testing"
)

// A display name is the raw name or not much longer than its input, and deterministic. The short name is not longer.
func FuzzPretty(f *testing.F) {
	for _, m := range []Method{
		{"A.B`1+C`2[System.__Canon,System.Int32,System.ValueTuple`2[D,E]]", "M", "instance generic void  (!0,!!1&,class F`1<!2>[],fnptr void(int32)*)"},
		{"A+<>c__DisplayClass4_0`1+<<M>b__1>d[X]", "MoveNext", "instance void  ()"},
		{"A", "<A.I<T>.M>g__L|1_0[System.__Canon]", "generic void  (value class <>c__DisplayClass1_0<!!0>&)"},
		{"<F>F0A__T", "System.I<A.B<C>>.M", "required_modifier A pMT: 0x12<void>*  (native int,...)"},
		{"[[A, B]]", "x`2.y", "(method void *(int32) modreq([A]B))"},
	} {
		f.Add(m.Namespace, m.Name, m.Signature)
	}
	f.Fuzz(func(t *testing.T, typ, name, sig string) {
		m := Method{typ, name, sig}
		got := m.Pretty()
		if got != m.Raw() && len(got) > 4*(len(typ)+len(name)+len(sig))+64 {
			t.Errorf("%+v: %d bytes long", m, len(got))
		}
		if short := m.Short(); got != m.Raw() && len(short) > len(got) {
			t.Errorf("%+v: %q is longer than %q", m, short, got)
		}
		if again := m.Pretty(); again != got {
			t.Errorf("%+v: %q, then %q", m, got, again)
		}
		speller := NewSpeller()
		for range 2 { // types of parameters are known the second time
			if again := speller.Pretty(m); again != got {
				t.Errorf("%+v: %q, and %q of a Speller", m, got, again)
			}
		}
		if again := prettySymbol(got); again != got && !strings.Contains(m.Raw(), "::") {
			t.Errorf("%+v: %q mistaken for a symbol", m, got)
		}
	})
}

// Joining the parts of a symbol restores it, except for spaces. A name that is not a symbol remains unchanged.
func FuzzParseSymbol(f *testing.F) {
	f.Add("instance void [A] B.C`1[D]::M(class [E]F<!0>)[Tier]")
	f.Add("v8::f(int) [clone .part.0] [clone .cold]")
	f.Add("a [b] c::d[e]")
	f.Add("LazyCompile:~foo file.js:1")
	f.Fuzz(func(t *testing.T, in string) {
		s, ok := ParseSymbol(in)
		if !ok {
			if got := prettySymbol(in); got != in {
				t.Errorf("%q became %q", in, got)
			}
			return
		}
		if s.Module == "" || s.Type == "" || s.Method == "" || s.Tier == "" {
			t.Errorf("%q: empty part in %+v", in, s)
		}
		whole := s.Return + "[" + s.Module + "]" + s.Raw() + "[" + s.Tier + "]"
		blank := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if blank(whole) != blank(in) {
			t.Errorf("%q was split into %q", in, whole)
		}
		if got := s.Pretty(); got != s.Raw() && len(got) > 4*len(in)+64 {
			t.Errorf("%q: %d bytes long", in, len(got))
		}
	})
}

// Splitting a name never panics, and the parts are not longer than the names.
func FuzzSplit(f *testing.F) {
	f.Add("System.Collections.Generic.List<T>.Add(T)", "System.Collections.Generic.List`1[System.__Canon].Add(!0)")
	f.Add("App.Worker.FetchAsync [async]", "App.Worker+<FetchAsync>d__5.MoveNext()")
	f.Add("System.Single.IConvertible.ToChar(IFormatProvider)", "System.Single::System.IConvertible.ToChar(class X)")
	f.Fuzz(func(t *testing.T, name, raw string) {
		p := Split(name, raw)
		if n := len(p.Namespace) + len(p.Type) + len(p.Method); n > len(name)+len(raw) {
			t.Errorf("%q, %q: %d bytes in %+v", name, raw, n, p)
		}
	})
}

// A name of a type is the recorded one or not much longer, and deterministic.
func FuzzTypeName(f *testing.F) {
	for _, s := range []string{
		"System.Int32[,]", "A.B`1+C`2[System.__Canon,System.Int32,System.ValueTuple`2[D,E]][]", "[[A, B]]", "A`1[[B, C]]&", "!0", "A+<>c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, recorded string) {
		for _, short := range []bool{false, true} {
			got := TypeName(recorded, short)
			if got != recorded && len(got) > 4*len(recorded)+64 {
				t.Errorf("%q: %d bytes long", recorded, len(got))
			}
			if again := TypeName(recorded, short); again != got {
				t.Errorf("%q: %q, then %q", recorded, got, again)
			}
		}
	})
}
