package dotnet

import "testing"

func TestSplit(t *testing.T) {
	type method = Method
	for _, c := range []struct {
		in   method
		want Parts
	}{
		{method{"System.IO.FileStream", "Read", "instance int32  (unsigned int8[],int32,int32)"}, Parts{"System.IO", "FileStream", "Read"}},
		{method{"Program", "Main", "void  (class System.String[])"}, Parts{"", "Program", "Main"}},
		{method{"System.Collections.Generic.List`1[System.__Canon]", "Add", "instance void  (!0)"}, Parts{"System.Collections.Generic", "List<T>", "Add"}},
		{method{"System.Collections.Generic.List`1[System.Int32]", ".ctor", "instance void  (int32)"}, Parts{"System.Collections.Generic", "List<int>", ".ctor"}},
		{method{"System.Collections.Generic.Dictionary`2+Enumerator[System.Int32,System.__Canon]", "MoveNext", "instance bool  ()"},
			Parts{"System.Collections.Generic", "Dictionary<int, T>.Enumerator", "MoveNext"}},
		{method{"App.Outer+Inner", ".cctor", "void  ()"}, Parts{"App", "Outer.Inner", ".cctor"}},
		{method{"App.Worker+<>c__DisplayClass3_0", "<Run>b__0", "instance void  ()"}, Parts{"App", "Worker", "Run.lambda_0"}},
		{method{"App.Worker+<FetchAsync>d__5", "MoveNext", "instance void  ()"}, Parts{"App", "Worker", "FetchAsync [async]"}},
		{method{"System.Single", "System.IConvertible.ToChar", "instance wchar  (class System.IFormatProvider)"}, Parts{"System", "Single", "IConvertible.ToChar"}},
		{method{"Program", "<Main>$", "void  (class System.String[])"}, Parts{"", "Program", "Main"}},
	} {
		if got := Split(c.in.Pretty(), c.in.Raw()); got != c.want {
			t.Errorf("%s (%s): got %+v, want %+v", c.in.Pretty(), c.in.Raw(), got, c.want)
		}
		if got := Split(c.in.Pretty(), "System.Private.CoreLib!"+c.in.Raw()); got != c.want {
			t.Errorf("%s (%s with its module): got %+v, want %+v", c.in.Pretty(), c.in.Raw(), got, c.want)
		}
	}
	if got, want := Split("main", ""), (Parts{Method: "main"}); got != want {
		t.Errorf("main: got %+v, want %+v", got, want)
	}
	s := Symbol{Return: "void", Module: "app", Type: "App.Outer+Inner", Method: "Run", Args: "(int32)"}
	if got, want := Split(s.Pretty(), s.Raw()), (Parts{"App", "Outer.Inner", "Run"}); got != want {
		t.Errorf("%s: got %+v, want %+v", s.Raw(), got, want)
	}
}
