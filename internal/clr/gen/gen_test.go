package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestTablesAreCurrent fails when a text was changed without go generate.
func TestTablesAreCurrent(t *testing.T) {
	want, err := tables(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tables.go is not what the texts give: run go generate ./internal/clr")
	}
}

// TestParseRefuses guards against a text that would give wrong tables in silence.
func TestParseRefuses(t *testing.T) {
	const head = "provider P 00000000-0000-0000-0000-000000000000\nkeyword K 0x1\n"
	const event = "event 1/0 E task=T(1) opcode=1 level=4 keywords=K : "
	for _, c := range []struct{ text, want string }{
		{"event 1/0 E", "no provider yet"},
		{head + "evnt 1", "unknown kind of line"},
		{head + "event 1/0 E task=T(1) : A:UInt8", "event"},
		{head + "event 70000/0 E task=T(1) opcode=1 level=4 keywords= : ", "out of range"},
		{head + "event 1/0 E task=T(1) opcode=1 level=4 keywords=L : ", `keyword "L" is not defined`},
		{head + event + "A:UInt24", "unknown type"},
		{head + event + "A", "has no type"},
		{head + event + "A:UInt8[B]", "no earlier field"},
		{head + event + "A:UInt8<M", "does not end"},
		{head + event + "A:UInt8\n" + event + "A:UInt8", "stands twice"},
	} {
		_, err := parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
