package dotnet

import (
	"strings"
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

// cutAngles removes the contents of angle brackets, except in types of function pointers.
func cutAngles(s string) string {
	var b strings.Builder
	var cut []bool // for each open bracket: whether its contents are removed
	removed := 0
	for i := range len(s) {
		switch s[i] {
		case '<':
			cut = append(cut, i == 0 || s[i-1] != '*')
			if cut[len(cut)-1] {
				removed++
			}
		case '>':
			if len(cut) == 0 {
				return s
			}
			last := cut[len(cut)-1]
			if cut = cut[:len(cut)-1]; last {
				removed--
				continue
			}
		}
		if removed == 0 {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// A short name is the pretty name without the namespace of the type and without the contents of angle brackets.
func TestShortIsPrettyWithCuts(t *testing.T) {
	cuts, namespaces := 0, 0
	for _, r := range readTable(t, "testdata/methods.tsv", 4) {
		m := Method{r[0], r[1], r[2]}
		want, outer := cutAngles(m.Pretty()), m.Namespace
		switch {
		case m.Pretty() == m.Raw(), strings.Contains(m.Pretty(), "<>"), strings.Contains(m.Pretty(), "<PrivateImplementationDetails>"):
			continue // an unknown notation, or a compiler-generated name that contains brackets
		case want != m.Pretty():
			cuts++
		}
		if i := strings.IndexAny(outer, "+`[<"); i > 0 {
			outer = outer[:i]
		}
		if i := strings.LastIndexByte(outer, '.'); i > 0 {
			want = strings.TrimPrefix(want, outer[:i+1])
			namespaces++
		}
		if got := m.Short(); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", m, got, want)
		}
	}
	if cuts < 30 || namespaces < 50 {
		t.Errorf("%d names with type arguments, %d with namespaces: too few for a test", cuts, namespaces)
	}
}
