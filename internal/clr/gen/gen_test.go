package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestTablesAreCurrent fails if a text file was changed without go generate.
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
		t.Error("tables.go is out of date: run go generate ./internal/clr")
	}
}

// TestParseRefuses checks that invalid text files are rejected, and do not produce wrong tables.
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
		{head + event + "A:UInt8[B]", "not an earlier field"},
		{head + event + "A:UInt8<M", "does not end"},
		{head + event + "A:UInt8\n" + event + "A:UInt8", "duplicate event"},
	} {
		_, err := parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
