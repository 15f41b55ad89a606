package dotnet

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// readTable reads tab-separated columns; lines that begin with # are comments.
func readTable(t *testing.T, name string, columns int) (rows [][]string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		row := strings.Split(sc.Text(), "\t")
		if len(row) != columns {
			t.Fatalf("%s:%d: %d columns, want %d", name, n, len(row), columns)
		}
		rows = append(rows, row)
	}
	if sc.Err() != nil {
		t.Fatal(sc.Err())
	}
	return rows
}

func TestGoldenMethods(t *testing.T) {
	rows := readTable(t, "testdata/methods.tsv", 4)
	if len(rows) < 120 {
		t.Errorf("%d methods, want at least 120", len(rows))
	}
	for _, r := range rows {
		if got := (Method{r[0], r[1], r[2]}).Pretty(); got != r[3] {
			t.Errorf("%s | %s | %s\n got %s\nwant %s", r[0], r[1], r[2], got, r[3])
		}
	}
}

func TestGoldenSymbols(t *testing.T) {
	native := 0
	for _, r := range readTable(t, "testdata/symbols.tsv", 2) {
		if got := prettySymbol(r[0]); got != r[1] {
			t.Errorf("%s\n got %s\nwant %s", r[0], got, r[1])
		}
		if r[0] == r[1] {
			native++
		}
	}
	if native < 20 {
		t.Errorf("%d native symbols, want at least 20", native)
	}
}

// Cases that the real traces do not contain: each row is a spelling of Roslyn or the runtime.
func TestPretty(t *testing.T) {
	for _, c := range []struct{ typ, method, sig, want string }{
		// top-level statements, async Main
		{"Program", "<Main>$", "void  (class System.String[])", "Program.Main(string[])"},
		{"Program", "<Main>", "void  (class System.String[])", "Program.<Main>(string[])"},
		{"Program", "<<Main>$>g__Arg|0_0", "int32  (int32,value class <>c__DisplayClass0_0&)", "Program.Main.Arg(int)"},
		{"Program+<>c", "<<Main>$>b__0_3", "instance void  ()", "Program.Main.lambda_3()"},
		{"Program+<<Main>$>d__0", "MoveNext", "instance void  ()", "Program.Main [async]"},
		{"Program+<>c+<<<Main>$>b__0_1>d", "MoveNext", "instance void  ()", "Program.Main.lambda_1 [async]"},

		// state machines: only the return type shows their kind
		{"A.B+<M>d__4", "MoveNext", "", "A.B.M [MoveNext]"},
		{"A.B+<M>d__4", "MoveNext", "()", "A.B.M [MoveNext]"},
		{"A.B+<M>d__4`1[System.Int32]", "MoveNext", "instance bool  ()", "A.B.M<int> [iterator]"},
		{"A.B`1+<M>d__4[System.Int32]", "MoveNext", "instance bool  ()", "A.B<int>.M [iterator]"},
		{"A.B`1+<M>d__4`1[System.Int32,System.String]", "MoveNext", "instance void  ()", "A.B<int>.M<string> [async]"},
		{"A.B`1+<>c__DisplayClass4_0`1+<<M>b__1>d[System.__Canon,System.__Canon]", "MoveNext", "instance void  ()", "A.B<T1>.M<T2>.lambda_1 [async]"},
		{"A.B+<A-IFoo<T>-M>d__4", "MoveNext", "instance void  ()", "A.B.IFoo<T>.M [async]"},
		{"A.B+<M>d__4", "MoveNextAsync", "instance bool  ()", "A.B.M.MoveNextAsync()"},

		// Hot Reload numbers its additions
		{"A.B+<>c__DisplayClass5_0#1", "<M>b__0#2", "instance void  ()", "A.B.M.lambda_0#2()"},
		{"A.B", "<M>g__Local|5_0#3", "void  ()", "A.B.M.Local()"},

		// lambdas and local functions
		{"A.B+<>c__5`1[System.Int32]", "<M>b__5_0", "instance void  (!0)", "A.B.M<int>.lambda_0(int)"},
		{"A.B+<>c__5`1[System.Int32]", "<A.IFoo.M>b__5_0", "instance void  (!0)", "A.B.IFoo.M<int>.lambda_0(int)"},
		{"A.B+<>c", "<.ctor>b__0_0", "instance void  ()", "A.B..ctor.lambda_0()"},
		{"A.B+<>c", "<get_P>b__1_2", "instance void  ()", "A.B.get_P.lambda_2()"},
		{"A.B+<>c", "<A.IFoo.M>b__1_2", "instance void  ()", "A.B.IFoo.M.lambda_2()"},
		{"Interop+Sys", "<GetCwd>g____PInvoke|19_0", "unsigned int8*  (unsigned int8*,int32)", "Interop.Sys.GetCwd.__PInvoke(byte*, int)"},
		{"A.B+<>c__DisplayClass3_0", "M", "void  ()", "A.B.<>c__DisplayClass3_0.M()"},
		{"<>c", "<M>b__0", "void  ()", "<>c.M.lambda_0()"},

		// other generated members
		{"R", "<Clone>$", "instance class R  ()", "R.Clone()"},
		{"A.<Files_cs>F0F51E_not_hexadecimal__T", "M", "void  ()", "A.<Files_cs>F0F51E_not_hexadecimal__T.M()"},
		{"A.<Files_cs>F0F51E__T", "M", "void  (class <Files_cs>F0F51E__U)", "A.T.M(U)"},
		{"<>f__AnonymousType0#1`2", "get_X", "instance !0  ()", "AnonymousType0#1<T1, T2>.get_X()"},
		{"A", "M", "void  (class <>f__AnonymousType0`2<int32,!!0>)", "A.M<T>(AnonymousType0<int, T>)"},
		{"<>A{00000008}`3", "Invoke", "instance void  (!0,!1,!2)", "<>A{00000008}<T1, T2, T3>.Invoke(T1, T2, T3)"},
		{"<PrivateImplementationDetails>", "ComputeStringHash", "unsigned int32  (class System.String)", "<PrivateImplementationDetails>.ComputeStringHash(string)"},
		{"<Module>", ".cctor", "void  ()", "<Module>..cctor()"},
		{"E+<G>$8048A6C8BE30A622530249B904B537EB", "M", "instance void  ()", "E.<G>$8048A6C8BE30A622530249B904B537EB.M()"},

		// open types, instantiated methods, reflection's full names
		{"System.Collections.Generic.List`1", "Add", "instance void  (!0)", "System.Collections.Generic.List<T>.Add(T)"},
		{"D`2", "ConvertAll", "instance generic class D`2<!0,!!0>  (class F`2<!1,!!0>)", "D<T1, T2>.ConvertAll<U>(F<T2, U>)"},
		{"D`2[System.Int32,System.String]", "M", "generic void  (!!0,!!1)", "D<int, string>.M<T1, T2>(T1, T2)"},
		{"C", "Foo[System.__Canon]", "void  (!!0)", "C.Foo<T>(T)"},
		{"C", "Foo[System.Int32,A.B+C]", "void  (!!1,!!0[])", "C.Foo<int, B.C>(B.C, int[])"},
		{"C`1[System.__Canon]", "Foo[System.__Canon]", "void  (!0,!!0,!!0)", "C<T1>.Foo<T2>(T1, T2, T2)"},
		{"L`1[[System.Int32, System.Private.CoreLib, Version=10.0.0.0]]", "M", "void  (!0)", "L<int>.M(int)"},
		{"L`1[System.Int32[]]", "M", "void  (!0,!0[],!0&)", "L<int[]>.M(int[], int[][], ref int[])"},
		{"L`1[System.Int32[,]]", "M", "void  (int32[0...,0...],int32[,,])", "L<int[,]>.M(int[,], int[,,])"},
		{"A.B", "M", "void  (class G`1)", "A.B.M(G<T>)"},
		{"A.B", "M", "void  (!0,!1)", "A.B.M(T, T2)"},
		{"O`1+N`2+P[System.Int32,System.Byte,System.Char]", "M", "", "O<int>.N<byte, char>.P.M"},

		// other elements of signatures
		{"A", "M", "vararg void  (int32,...)", "A.M(int, __arglist)"},
		{"A", "M", "void  (native int,native unsigned int,unsigned int,int)", "A.M(nint, nuint, nuint, nint)"},
		{"A", "M", "void (class [System.Runtime]System.Func`2<int32, string> modreq([System.Runtime]System.X), typedref)", "A.M(Func<int, string>, TypedReference)"},
		{"A", "M", "void  (optional_modifier A.B int32&)", "A.M(ref int)"},
		{"A", "M", "fnptr int32(bool)  (method void *(int32,string)*)", "A.M(delegate*<int, string, void>*)"},
		{"A", "M", "void  (value class System.ValueTuple`2<int32,value class System.Nullable`1<value class System.Decimal>>)", "A.M((int, decimal?))"},
		{"A", "M", "void  (value class System.ValueTuple`1<int32>)", "A.M(ValueTuple<int>)"},
		{"A", "M", "void  (class int8x,class boolean,class System.Int32x)", "A.M(int8x, boolean, Int32x)"},
		{"A", "op_Implicit", "class A  (pMT: 00007FFE79FD1328<pMT: 00007FFE79F1CB98,wchar>[]&)", "A.op_Implicit(ref ?<?, char>[])"},

		// arbitrary names of DynamicMethod
		{"dynamicClass", "lambda_method12", "class System.Object  (class System.Runtime.CompilerServices.Closure)", "dynamicClass.lambda_method12(Closure)"},
		{"dynamicClass", "get a.b, (c) <d> [e", "void  ()", "dynamicClass.get a.b, (c) <d> [e()"},
		{"dynamicClass", "", "", "dynamicClass."},
		{"", "", "", ""},
		{"", "Main", "void  ()", "Main()"},
		{"Ünï.日本", "é", "void  (class Ünï.日本)", "Ünï.日本.é(日本)"},
	} {
		if got := (Method{c.typ, c.method, c.sig}).Pretty(); got != c.want {
			t.Errorf("%s | %s | %s\n got %s\nwant %s", c.typ, c.method, c.sig, got, c.want)
		}
	}
}

func TestNotUnderstoodIsRaw(t *testing.T) {
	for _, m := range []Method{
		{"A[", "M", "void  ()"},
		{"A`1[System.Int32", "M", "void  ()"},
		{"A`1[,]x", "M", "void  ()"},
		{"A B", "M", "void  ()"},
		{"A`1[B]&", "M", "void  (!0)"},
		{"A", "M", "void  (" + strings.Repeat("[a]", 100000) + "A)"},
		{"A", "M", "void  (int32,,int32)"},
		{"A", "M", "void  (int32,)"},
		{"A", "M", "void  (List`1<int32)"},
		{"A", "M", "void  (int32&&)"},
		{"A", "M", "void  (!x)"},
		{"A", "M", "void  (" + strings.Repeat("L`1<", 100) + "int32" + strings.Repeat(">", 100) + ")"},
		{"A`1[" + strings.Repeat("x", 1000) + "]", "M", "void  (" + strings.Repeat("!0,", 1000) + "!0)"},
		{"A", strings.Repeat("`255", 1000), "void  ()"},
	} {
		if got := m.Pretty(); got != m.Raw() {
			t.Errorf("%.80q: got %.80q, want the raw name", m, got)
		}
	}
}

func BenchmarkPretty(b *testing.B) {
	m := Method{"System.Collections.Generic.Dictionary`2[System.__Canon,System.ValueTuple`2[System.Boolean,System.__Canon]]", "TryInsert",
		"instance bool  (!0,!1,value class System.Collections.Generic.InsertionBehavior)"}
	b.ReportAllocs()
	for b.Loop() {
		if m.Pretty() == "" {
			b.Fatal("no name")
		}
	}
}
