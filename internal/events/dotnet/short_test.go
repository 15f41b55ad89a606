package dotnet

import (
	"testing"
)

func TestShort(t *testing.T) {
	const list = "System.Collections.Generic.List`1[System.__Canon]"
	for _, c := range []struct {
		m    Method
		want string
	}{
		{Method{"System.IO.FileStream", "Read", "instance int32  (value class System.Span`1<unsigned int8>)"}, "FileStream.Read(Span)"},
		{Method{list, "Add", "instance void  (!0)"}, "List.Add(T)"},
		{Method{"A.B`1[System.Int32]", "M", "instance void  (!0&,class C.D`1<!0>&)"}, "B.M(ref int, ref D)"},
		{Method{"A.B`1[" + list + "]", "M", "instance void  (!0&,!0)"}, "B.M(ref List, List)"},
		{Method{"A.B`1+C`1[System.Int32,System.String]", "M", "instance generic void  (!!0,!1)"}, "B.C.M(T, string)"},
		{Method{"A", "M[System.Int32]", "generic void  (!!0)"}, "A.M(int)"},
		{Method{"Shop.Cart+<FetchAsync>d__5`1[System.Int32]", "MoveNext", "instance void  ()"}, "Cart.FetchAsync [async]"},
		{Method{"A.B", "M", "void  (value class System.ValueTuple`2<int32,class C.D`1<bool>>)"}, "B.M((int, D))"},
		{Method{"A.B", "M", "void  (class [)"}, "A.B.M(class [)"},
	} {
		if got := c.m.Short(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
	s, ok := ParseSymbol("instance void [Asm] N.L`1[System.Int32[]]::.ctor(!0[], class [A]B.C`1<int32>)[PreJIT]")
	if got := s.Short(); !ok || got != "L..ctor(int[][], C)" {
		t.Errorf("symbol: %q", got)
	}
}
