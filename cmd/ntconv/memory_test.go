package main

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	encoder "github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// More memory in use than --max-memory ends every verb with 5; nothing is written, and the error names the flag and, if there
// is a word for it, what holds the memory.
func TestMaxMemory(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "gcdump")
	for _, args := range [][]string{
		{"to", "nettrace", "-o", "a.nettrace"}, {"filter", "-o", "b.nettrace"}, {"convert", "-o", "c.nettrace"}, {"info"}, {"print"}, {"verify", in},
	} {
		args = append(args, in, "--max-memory")
		got := invoke(t, dir, nil, append(args, "64KiB")...)
		if got.code != exitLimit || !strings.Contains(got.stderr, ": memory in use too large: limit 64 KiB, got ") || !strings.HasSuffix(got.stderr, "; raise --max-memory\n") {
			t.Errorf("%v: exit code %d, %s", args, got.code, got.stderr)
		}
		if left := files(t, dir); len(left) > 0 {
			t.Errorf("%v left %v", args, left)
		}
		if got := invoke(t, t.TempDir(), nil, append(args, "0")...); got.code != exitOK {
			t.Errorf("%v without limit: exit code %d, %s", args, got.code, got.stderr)
		}
	}
}

// The holder of memory is the innermost own package that allocated it.
func TestHolderOf(t *testing.T) {
	for _, tt := range []struct {
		from any
		want string
	}{
		{symbol.New, "names of addresses"},
		{profile.New, "samples by stack and labels"},
		{pprof.New, "the samples and names of the profile that is read"},
		{encoder.New, "the profile that is written"},
		{writer.New, "definitions and blocks that are written"},
		{reader.New, "event types, threads, stacks and events that wait for their turn"},
		{run, ""},
		{os.Open, ""},
	} {
		var r runtime.MemProfileRecord
		r.Stack0[0] = reflect.ValueOf(strings.Repeat).Pointer() + 1 // a library allocated it
		r.Stack0[1] = reflect.ValueOf(tt.from).Pointer() + 1
		r.Stack0[2] = reflect.ValueOf(run).Pointer() + 1
		if got := holders[holderOf(&r)].what; got != tt.want {
			t.Errorf("%s: %s, want %s", runtime.FuncForPC(r.Stack0[1]).Name(), got, tt.want)
		}
	}
}
