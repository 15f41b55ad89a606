package dotnet

import "testing"

func TestSymbolParts(t *testing.T) {
	got, ok := ParseSymbol("instance !0[] [Asm] N.L`1[System.Int32[]]::.ctor(!0[], int32)[PreJIT]")
	want := Symbol{Return: "instance !0[]", Module: "Asm", Type: "N.L`1[System.Int32[]]", Method: ".ctor", Args: "(!0[], int32)", Tier: "PreJIT"}
	if !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Pretty() != "N.L<int[]>..ctor(int[][], int)" {
		t.Errorf("got %s", got.Pretty())
	}
	if raw := (Symbol{Type: "A", Method: "M", Args: "(int32,,)"}); raw.Pretty() != raw.Raw() {
		t.Errorf("got %s, want %s", raw.Pretty(), raw.Raw())
	}
}

// The first six cases are those of UniversalSymbolParsingTest, without its null.
func TestNoSymbol(t *testing.T) {
	for _, s := range []string{
		"regular_symbol_name",
		"void System.Threading.ThreadPoolWorkQueue::Dispatch()",
		"",
		"void [System.Private.CoreLib] System.Threading.ThreadPoolWorkQueue::Dispatch()",
		"void System.Private.CoreLib System.Threading.ThreadPoolWorkQueue::Dispatch()[OptimizedTier1]",
		"]", "[]", " [m] T::M()[]", "void [] T::M()[t]", "void [m] M()[t]", "void [m] ::M()[t]", "void [m] T::()[t]", "void [m]  [t]",
		"LazyCompile:~foo file.js:1", "LazyCompile:*[Symbol.iterator] /srv/a.js:1:2", "Builtin:ArrayMap", "RegExp:[a-z]",
		"core::ptr::drop_in_place<[u8]>", "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "f [inlined] [clone]",
		"v8::internal::(anonymous namespace)::F(v8::Isolate*) [clone .constprop.0] [clone .part.0]",
		"void (anonymous namespace)::f() [clone .a] g::h() [clone .b]",
		"std::vector<int, std::allocator<int> >::operator[](unsigned long)", "operator new[]", "[vdso]", "[kernel.kallsyms]",
	} {
		if sym, ok := ParseSymbol(s); ok {
			t.Errorf("%q: mistaken for .NET: %+v", s, sym)
		}
		if got := prettySymbol(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestRaw(t *testing.T) {
	for _, c := range []struct {
		m    Method
		want string
	}{
		{Method{"A.B", "M", "instance void  (int32,string)"}, "A.B.M(int32,string)"},
		{Method{"A.B", "M", ""}, "A.B.M"},
		// TraceEvent truncates the signature at the first parenthesis.
		{Method{"A.B", "M", "fnptr void(int32)  ()"}, "A.B.M(int32)  ()"},
		{Method{"", "", ""}, "."},
	} {
		if got := c.m.Raw(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.m, got, c.want)
		}
	}
}

func TestShortModule(t *testing.T) {
	for in, want := range map[string]string{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/System.Private.CoreLib.dll": "System.Private.CoreLib",
		`C:\Windows\assembly\mscorlib.ni.dll`:                                               "mscorlib",
		`C:\Program Files\dotnet\Shop.EXE`:                                                  "Shop",
		`C:/mixed\a.DLL`:                                                                    "a",
		"System.Xml.Linq":                                                                   "System.Xml.Linq",
		"/usr/lib/libc.so.6":                                                                "libc.so.6",
		"/opt/shop/libcoreclr.so":                                                           "libcoreclr.so",
		"[heap]":                                                                            "[heap]",
		"":                                                                                  "",
		"/":                                                                                 "",
		".dll":                                                                              ".dll",
		"Anonymously Hosted DynamicMethods Assembly": "Anonymously Hosted DynamicMethods Assembly",
	} {
		if got := ShortModule(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// prettySymbol returns the name of a symbol for display, or s itself if it is not a .NET symbol.
func prettySymbol(s string) string {
	if sym, ok := ParseSymbol(s); ok {
		return sym.Pretty()
	}
	return s
}
