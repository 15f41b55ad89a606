package dotnet_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/events/dotnet"
)

func TestTypeName(t *testing.T) {
	for _, c := range []struct{ recorded, pretty, short string }{
		{"System.String", "string", "string"},
		{"System.Int32[]", "int[]", "int[]"},
		{"System.Int32[,]", "int[,]", "int[,]"},
		{"System.Byte[][]", "byte[][]", "byte[][]"},
		{"Shop.Order", "Shop.Order", "Order"},
		{"Shop.Line[]", "Shop.Line[]", "Line[]"},
		{"Shop.StockException`1[System.Int32]", "Shop.StockException<int>", "StockException"},
		{"Shop.Node`1[System.ValueTuple`2[System.Int32,System.String]]", "Shop.Node<(int, string)>", "Node"},
		{"System.Collections.Generic.Dictionary`2+Entry[System.String,System.Object][]",
			"System.Collections.Generic.Dictionary<string, object>.Entry[]", "Dictionary.Entry[]"},
		{"System.RuntimeType+RuntimeTypeCache", "System.RuntimeType.RuntimeTypeCache", "RuntimeType.RuntimeTypeCache"},
		{"Shop.Exceptions+<>c__DisplayClass0_0", "Shop.Exceptions.<>c__DisplayClass0_0", "Exceptions.<>c__DisplayClass0_0"},
		{"System.Nullable`1[System.Int32]", "System.Nullable<int>", "int?"},
		{"", "", ""},
		{"!0", "!0", "!0"},
		{"[", "[", "["},
		{"a b", "a b", "a b"},
	} {
		if got := dotnet.TypeName(c.recorded, false); got != c.pretty {
			t.Errorf("%q: %q, want %q", c.recorded, got, c.pretty)
		}
		if got := dotnet.TypeName(c.recorded, true); got != c.short {
			t.Errorf("%q, short: %q, want %q", c.recorded, got, c.short)
		}
	}
}
