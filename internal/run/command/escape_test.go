package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// evil is text that a terminal acts on, in all ways: bytes of C1 and others that are not UTF-8, characters of C0, C1
// and DEL, changes of direction, separators of lines and columns, spaces without width, and what is special in
// messages, patterns and formats.
const evil = "x\x9b31m\xff\u009b2J\x1b[31m\x07\u202e\u2066\u2028\u2029\u200b\ufeff\x7f\tt\nl\rq\"'\\%s$é"

// evilTrace is a trace of version 6 in which every string is evil.
func evilTrace() []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, wire.V6)
	kv := []wire.KeyValue{{Key: evil, Value: evil}}
	m := wire.Metadata{
		ID: 1, Provider: evil, EventID: 5, Name: evil, Message: evil, Description: evil, KeyValues: kv,
		Has: 1<<wire.OptMessage | 1<<wire.OptDescription,
		Fields: []wire.Field{
			{Name: evil, Type: wire.Type{Code: wire.TypeUTF16String}},
			{Name: evil, Type: wire.Type{Code: wire.TypeArray, Elem: &wire.Type{Code: wire.TypeUTF8CodeUnit}}},
			{Name: "Long", Type: wire.Type{Code: wire.TypeUTF16String}},
		},
	}
	row, err := wire.AppendMetadata(wire.AppendMetadataHeader(nil, nil), &m)
	if err != nil {
		panic(err)
	}
	s.Block(wire.KindMetadata, row)
	name := 1<<wire.ThreadName | 1<<wire.ThreadPID | 1<<wire.ThreadTID
	thread := wire.Thread{Index: 1, Name: evil, PID: 7, TID: 8, Has: wire.ThreadSet(name), KeyValues: []wire.KeyValue{
		{Key: evil, Value: evil}, {Key: "host.name", Value: evil}, {Key: "ntconv.process-name", Value: evil}, {Key: "ntconv.process." + evil, Value: evil},
	}}
	s.Threads(thread)
	s.Labels(1, []wire.Label{
		{Kind: wire.LabelString, Value: wire.Value{Key: evil, Str: evil}},
		{Kind: wire.LabelNumber, Value: wire.Value{Key: evil, Num: 3}},
		{Kind: wire.LabelString, Value: wire.Value{Key: evil + "#unit", Str: evil}},
	})
	s.Stacks(1, wirestream.Addresses(0x1000, 0x2000))
	payload := bin.AppendUTF16Z(nil, evil)
	payload = append(payload, 0, 0xd8, 0, 0) // a surrogate alone
	payload = append(append(bin.AppendU16(payload[:len(payload)-4], uint16(len(evil))), evil...), 0, 0xd8, 0, 0)
	b := s.Events()
	for i := range 3 {
		b.Add(&wire.EventHeader{
			MetadataID: 1, Sequence: uint32(2*i + 1), CaptureThread: 1, Thread: 1, Time: 1_000_000_000 + uint64(i), StackID: 1, LabelList: 1,
			PayloadSize: uint32(len(payload)), Sorted: true,
		}, payload)
	}
	b.Flush()
	s.Block(wire.Kind(77), []byte(evil))
	s.End()
	return out.Bytes()
}

// evilProfile is a profile in which every string is evil.
func evilProfile(t *testing.T) []byte {
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x2000, File: evil, BuildID: evil}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}, {Type: evil, Unit: evil}}, PeriodType: &profile.ValueType{Type: evil, Unit: evil},
		Mapping: []*profile.Mapping{m}, Comments: []string{evil}, DropFrames: evil, KeepFrames: evil, DocURL: evil,
	}
	for i := range uint64(3) {
		f := &profile.Function{ID: i + 1, Name: evil + string(rune('a'+i)), SystemName: evil, Filename: evil}
		l := &profile.Location{ID: i + 1, Mapping: m, Address: 0x1100 + i, Line: []profile.Line{{Function: f, Line: 3}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{
			Location: []*profile.Location{l}, Value: []int64{1e9, 2},
			Label: map[string][]string{evil: {evil}, "thread": {evil}}, NumLabel: map[string][]int64{evil + "n": {4}}, NumUnit: map[string][]string{evil + "n": {evil}},
		})
	}
	var b bytes.Buffer
	must(t, p.WriteUncompressed(&b))
	return b.Bytes()
}

// checkVisible reports whatever a terminal would act on.
func checkVisible(t *testing.T, what, text string, json bool) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8: %q", what, text)
	}
	for i, r := range text {
		bad := !unicode.IsPrint(r)
		if json {
			bad = unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
		}
		if bad && r != '\n' {
			t.Errorf("%s holds %q: %q", what, r, text[max(0, i-40):min(len(text), i+20)])
			return
		}
	}
}

// Strings of a trace, a profile or the command line never reach the terminal unescaped.
func TestNothingActsOnTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: two hundred runs of the command")
	}
	dir := t.TempDir()
	odd := "x\x9b31m\xff\u009b\x1b[31m\u202e\u2028\tt\nl"
	in := write(t, dir, odd+".nettrace", evilTrace())
	prof := write(t, dir, odd+".pb", evilProfile(t))
	folded := write(t, dir, odd+".folded", []byte(strings.ReplaceAll(evil, "\n", "")+";b 3\n"))
	for p, format := range map[string]string{prof: "pprof", folded: "folded"} {
		succeed(t, dir, "to", "nettrace", "--from", format, p, "-o", p+".nettrace")
	}
	runs := 0
	check := func(args ...string) {
		t.Helper()
		if runs++; corpus.IsOmitted(runs, 4) { // the inputs have a number of commands that is no multiple
			return
		}
		r := invoke(t, dir, nil, args...)
		json := strings.Contains(strings.Join(args, " "), "json")
		checkVisible(t, strings.Join(args[:1], " ")+" on standard error", r.stderr, json)
		checkVisible(t, strings.Join(args, " ")+" on standard output", r.stdout, json)
		if strings.Contains(r.stderr, "panic") || r.stdout+r.stderr == "" {
			t.Errorf("%q: code %d, %q", args, r.code, r.stderr)
		}
	}
	inputs := []string{in, prof, folded, prof + ".nettrace", folded + ".nettrace"}
	for _, name := range []string{"c1-info.nettrace", "info-tab.nettrace", "c1-stderr.in", "pprof-not-utf8.pb"} {
		inputs = append(inputs, write(t, dir, name, corpus.Hostile(t, name).Data))
	}
	for _, f := range inputs {
		check("info", f)
		check("info", "--json", f)
		check("print", "--stacks", "--hex", f)
		check("print", "--frames", "--order", "file", f)
		check("print", "--json", "--frames", f)
		check("top", f)
		check("top", "--report", "json", f)
		check("verify", f, f)
		check("verify", f, trace(t, "cpu-env"))
		check("filter", "--pid", "7", f, f+".part.nettrace")
		for _, format := range []string{"nettrace", "pprof", "folded", "chrome", "firefox", "speedscope", "perfetto", "parquet"} {
			check("to", format, "-f", f, "-o", filepath.Join(dir, odd+"."+format))
		}
		check("to", "nettrace", "--report", "json", "-f", f, "-o", f+"2")
	}
	for _, args := range [][]string{
		{"info", odd}, {"info", "--json", odd + "\xfe"}, {odd}, {"to", odd, in}, {"print", "--where", odd, in}, {"print", "--event", odd, in},
		{"print", "--where", `$provider == "` + odd + `"`, in}, {"top", "--kind", odd, in}, {"verify", "--ignore", odd, in, in}, {"--" + odd},
		{"print", "--from-time", odd, in}, {"to", "nettrace", "--order", odd, in}, {"convert", in, odd}, {"to", "nettrace", in, "-o", filepath.Join(dir, odd, odd)},
		{"dataset", "ls", odd}, {"dataset", "add", filepath.Join(dir, "set"), in, "--report", "json"}, {"dataset", "ls", filepath.Join(dir, "set")},
		{"dataset", "ls", "--json", filepath.Join(dir, "set")}, {"dataset", "verify", filepath.Join(dir, "set")}, {"dataset", "rm", filepath.Join(dir, "set"), odd},
		{"__complete", "verify", "--ignore", odd}, {"__complete", "to", odd}, {"help", odd}, {"sql", "--duckdb", odd, "x", in}, {"collect", odd},
	} {
		check(args...)
	}
	if r := invoke(t, dir, nil, "info", filepath.Join(dir, "info-tab.nettrace")); !strings.Contains(r.stdout, `vml\xffnux`+"\n  1  ") {
		t.Errorf("the table of processes is not a table: %s", r.stdout)
	}
	if runs < 100 {
		t.Errorf("only %d runs", runs)
	}
}

// Names that are not UTF-8 are made so where they are read: what is written of them does not change when it is written
// again.
func TestInvalidNamesAreStable(t *testing.T) {
	dir := t.TempDir()
	inputs := map[string][]byte{
		"a.nettrace": evilTrace(), "a.pb": evilProfile(t), "a.folded": []byte("a\xff;b\x9b 3\n"),
		"a.json":            []byte(`{"traceEvents":[{"name":"a` + "\xff" + `\ud800","ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"args":{"k` + "\xfe" + `":"\udc00"}}]}`),
		"a.speedscope.json": []byte(`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a` + "\xff" + `\ud800"}]},"profiles":[{"type":"sampled","name":"\udc00` + "\xfe" + `","unit":"milliseconds","startValue":0,"endValue":2,"samples":[[0]],"weights":[2]}]}`),
		"a.otlp.json":       []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"k\ud800","value":{"stringValue":"v` + "\xff" + `"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"n` + "\xff" + `\udc00","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}`),
	}
	for name, data := range inputs {
		path := write(t, dir, name, data)
		once, twice := filepath.Join(dir, name+".1.nettrace"), filepath.Join(dir, name+".2.nettrace")
		from := map[string]string{"a.nettrace": "nettrace", "a.pb": "pprof", "a.folded": "folded", "a.json": "chrome", "a.speedscope.json": "speedscope",
			"a.otlp.json": "otlp"}[name]
		for _, args := range [][]string{{"to", "nettrace", "--from", from, path, "-o", once}, {"to", "nettrace", once, "-o", twice}, {"verify", once, twice}} {
			if r := invoke(t, dir, nil, args...); r.code != exitOK && r.code != exitIncomplete {
				t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
			}
		}
		if r := invoke(t, dir, nil, "verify", once, twice); !strings.Contains(r.stdout+r.stderr, "equal") {
			t.Errorf("%s: %s", name, r.stderr)
		}
		a, b := contentAt(t, once), contentAt(t, twice)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: written again it has other bytes", name)
		}
	}
}
