package wiretext_test

import (
	"bytes"
	"encoding/hex"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/testing/wiretext"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

func disassemble(t testing.TB, b []byte) string {
	t.Helper()
	var sb strings.Builder
	if err := wiretext.Disassemble(&sb, b); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

// identity asserts that the text of b assembles to b, and returns the text.
func identity(t testing.TB, name string, b []byte) string {
	t.Helper()
	s := disassemble(t, b)
	got, err := wiretext.Assemble(s)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if !bytes.Equal(got, b) {
		t.Errorf("%s: the text of %d bytes assembles to %d other ones", name, len(b), len(got))
	}
	return s
}

// TestRealFiles: the text is exact and has few raw lines, because files of real writers can be parsed.
func TestRealFiles(t *testing.T) {
	for _, name := range wiretest.TestData(t) {
		checkFile(t, name)
	}
}

func TestSharedFiles(t *testing.T) {
	for _, name := range wiretest.Names(t) {
		checkFile(t, name)
	}
}

func checkFile(t *testing.T, name string) {
	b := wiretest.Read(t, name)
	if len(b) > 1<<20 {
		return // text is for small traces
	}
	s := identity(t, name, b)
	cut := strings.Contains(name, "stress-cut") || strings.Contains(name, "truncated")
	if !cut && !strings.HasPrefix(name, "vectors/") && strings.Contains(s, "raw") {
		t.Errorf("%s: not all of it can be parsed", name)
	}
}

// TestDoc: the example of the package comment assembles, and disassembles to the same text.
func TestDoc(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := strings.Cut(f.Doc.Text(), "\n\n\t")
	var example strings.Builder
	for line := range strings.Lines("\t" + doc) {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		example.WriteString(line[1:])
	}
	b, err := wiretext.Assemble(example.String())
	if err != nil {
		t.Fatal(err)
	}
	// The example contains a default value, which printing omits.
	want := strings.NewReplacer(" ticks=0", "", " first=1", "").Replace(example.String())
	if got := identity(t, "example", b); got != want {
		t.Errorf("the example's text is\n%s", got)
	}
	kinds := 0
	for b := range wiretest.Blocks(b) {
		if b.Kind == wire.KindEvent || b.Kind == wire.KindStack {
			kinds++
		}
	}
	if kinds != 2 {
		t.Errorf("the example has %d event and stack blocks", kinds)
	}
}

// TestDamage: text can describe corrupt traces.
func TestDamage(t *testing.T) {
	const trace4 = "nettrace 4\nTrace pointer=8\n"
	start6 := len(wire.AppendStreamHeader(nil, wire.StreamHeader{Version: wire.V6}))
	for _, tt := range []struct {
		name, text, want string
		skip             int // bytes before the compared ones
	}{
		{"block size", "nettrace 6\nBlock(99) size=9\n  raw 0102 03", "09000063010203", start6},
		{"rows and bytes", "nettrace 6\nRemoveThread # no sequence point\n  thread 300 seq=2\n  raw ff", "04000007ac0202ff", start6},
		{"row size", "nettrace 6\nThread\n  row 5 size=200 tid=7", "05000006c800050307", start6},
		{"count", "nettrace 6\nSequencePoint time=1 flags=3 count=7", "1000000401000000000000000300000007000000", start6},
		{"order of elements", "nettrace 6\nThread\n  row 5 tid=7 pid=1 tid=8 extra=09", "0a000006" + "0800" + "05" + "0307" + "0201" + "0308" + "09", start6},
		{"label list", "nettrace 6\nLabelList first=7\n  list level=4 num=\"k\":-1\n  list span=0102030405060708", "17000008" + "07000000" + "02000000" + "0904" + "86016b01" + "84" + "0102030405060708", start6},
		{"event payload size", "nettrace 6\nEvent flags=0 headersize=24 extra=aabb\n  event 1 payload=ff payloadsize=9 eventsize=3 cpu=2", "", 0},
		{"stack size", "nettrace 6\nStack first=3\n  stack bytes=aabb size=100", "0e000005030000000100000064000000aabb", start6},
		{"version 3 sizes", "netperf 3\nTrace\nEvent\n  event 1 payload=ff eventsize=-1 payloadsize=-2 stacksize=-3", "ffffffff", 124},
		{"object", trace4 + "SequencePoint version=3 minreader=9 time=1 size=1000 unclosed", "", 0},
		{"preview", trace4 + "Event preview min=5 max=5\n  event 5 seq=1 thread=3 stack=2", "0e0003030205", 152},
	} {
		b, err := wiretext.Assemble(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		identity(t, tt.name, b)
		if got := hex.EncodeToString(b[tt.skip:]); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzDisassemble: any bytes have a text that assembles to them.
func FuzzDisassemble(f *testing.F) {
	for _, in := range []string{
		"nettrace 6\nTrace pointer=8\n  kv \"k\" \"v\"\nMetadata\n  row 1 \"P\" 2 \"E\" level=3\n    field \"o\" Array(Object)\n      field \"x\" FixedLengthArray(Byte,3)\nThread\n  row 9 tid=3\nLabelList\n  list span=0102030405060708 num=\"n\":-1\nEvent\n  event 7 metadata=1 seq=1 thread=9 labels=1 payload=010203\nEndOfStream",
		"nettrace 4\nTrace pointer=4\nMetadata\n  event 0\n    row 1 \"P\" 2 \"E\" opcode=3 v2\n      v2field \"x\" Array(Int32)\nStack\n  stack 0x1 0x2\nEvent flags=0\n  event 7 metadata=1 padding=000000 payload=ff eventsize=80\nSequencePoint time=3\n  thread 7 seq=1\nEndOfStream",
		"netperf 3\nTrace\nEvent\n  event 1 metadata=1 thread=2 payload=ff\n    stack bytes=0102",
	} {
		b, err := wiretext.Assemble(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { identity(t, "input", b) })
}

// FuzzAssemble: accepted text round-trips, and errors contain a line number.
func FuzzAssemble(f *testing.F) {
	f.Add("nettrace 6\nTrace pointer=8 sync=1:2:3:4:5:6:7:8\n  kv \"k\" \"v\"\nEvent preview\n  event 1 sorted fields=0xff\n")
	f.Add("nettrace 4\nTrace\nMetadata\n  event 0 sorted\n    row 1 \"P\" 2 \"E\" headonly\n")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := wiretext.Assemble(s)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		identity(t, s, b)
	})
}
