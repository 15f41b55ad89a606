package command

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/secretgen"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// scrubKey is a key for tests.
const scrubKey = "00112233445566778899aabbccddeeff"

// plantedInputs writes inputs of several formats with secrets.
func plantedInputs(t *testing.T, dir string) (files []string, tr *secretgen.Trace) {
	t.Helper()
	tr = secretgen.New(secretgen.Keys(scrub.DefaultPolicy))
	var file bytes.Buffer
	sink, err := writer.New(&file, tr.Info, nil)
	must(t, err)
	named := symbol.SynthesizeTo(sink, &symbol.SynthesizeOptions{})
	if _, err := ntconv.Copy(named, ntconvtest.NewSource(tr.Info, tr.Events...)); err != nil {
		t.Fatal(err)
	}
	must(t, named.Close())
	put := func(name string, b []byte) {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		files = append(files, name)
	}
	put("planted.nettrace", file.Bytes())
	put("planted.pb.gz", plantedProfile(t, tr))
	put("planted.json", plantedTimeline(t, tr))
	put("planted.jsonl", plantedSpans(t, tr))
	put("planted.folded", []byte("/home/"+tr.Word("", "folded")+"/a.js;main "+tr.Word("", "folded")+"/b 3\n"))
	return files, tr
}

// plantedProfile returns a pprof profile with secrets.
func plantedProfile(t *testing.T, tr *secretgen.Trace) []byte {
	t.Helper()
	text := func(place string) string { return tr.Text("", "pprof "+place) }
	f := &profile.Function{ID: 1, Name: text("function"), SystemName: text("system name"), Filename: text("file")}
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x2000, File: text("mapping"), BuildID: text("build")}
	l := &profile.Location{ID: 1, Mapping: m, Address: 0x1010, Line: []profile.Line{{Function: f, Line: 3}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 5,
		Sample: []*profile.Sample{{
			Location: []*profile.Location{l}, Value: []int64{7},
			Label: map[string][]string{"tenant": {text("label")}, "url": {text("label")}}, NumLabel: map[string][]int64{"bytes": {5}},
		}},
		Function: []*profile.Function{f}, Mapping: []*profile.Mapping{m}, Location: []*profile.Location{l},
		Comments: []string{text("comment")}, DropFrames: text("drop"), KeepFrames: text("keep"), DocURL: text("url"), TimeNanos: 1e18,
	}
	var b bytes.Buffer
	must(t, p.Write(&b))
	return b.Bytes()
}

// plantedTimeline returns a timeline with secrets in members, args, metadata and an event that is divided into parts.
func plantedTimeline(t *testing.T, tr *secretgen.Trace) []byte {
	t.Helper()
	text := func(place string) string { return tr.Text("", "chrome "+place) }
	type object = map[string]any
	events := []object{
		{"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": object{"name": text("process")}},
		{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": object{"name": text("thread")}},
		{
			"ph": "X", "name": text("name"), "cat": text("cat"), "pid": 1, "tid": 1, "ts": 5, "dur": 2,
			"args":  object{text("member"): text("arg"), "list": []any{text("list"), 1, nil}, "o": object{"p": text("nested")}},
			"cname": text("color"),
		},
		{"ph": "b", "name": "a", "cat": "c", "id": text("id"), "pid": text("pid"), "tid": text("tid"), "ts": 6, "args": object{}},
		{"ph": "i", "name": "large", "pid": 1, "tid": 1, "ts": 7, "args": object{"text": strings.Repeat(text("large")+" ", 6000)}},
	}
	b, err := json.Marshal(object{"traceEvents": events, "otherData": object{"a": text("other")}})
	must(t, err)
	return b
}

// plantedSpans returns spans with secrets, of which one is divided into parts.
func plantedSpans(t *testing.T, tr *secretgen.Trace) []byte {
	t.Helper()
	text := func(place string) string { return tr.Text("", "otlp "+place) }
	type object = map[string]any
	value := func(v string) object { return object{"stringValue": v} }
	attributes := func() []object {
		return []object{
			{"key": text("key"), "value": value(text("value"))}, {"key": "http.request.method", "value": value(text("method"))},
			{"key": "list", "value": object{"arrayValue": object{"values": []object{value(text("list")), {"intValue": "12"}}}}},
			{"key": "map", "value": object{"kvlistValue": object{"values": []object{{"key": text("map key"), "value": value(text("map"))}}}}},
			{"key": "bytes", "value": object{"bytesValue": "c2VjcmV0"}}, {"key": "http.response.status_code", "value": object{"intValue": "404"}},
		}
	}
	span := func(id string, large string) object {
		return object{
			"traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "name": text("name") + large, "kind": 3, "traceState": text("state"),
			"startTimeUnixNano": "1544712660000000000", "endTimeUnixNano": "1544712661000000000", "attributes": attributes(),
			"events": []object{{"timeUnixNano": "1544712660500000000", "name": text("event"), "attributes": attributes()}},
			"links":  []object{{"traceId": "5b8efff798038103d269b633813fc60d", "spanId": "eee19b7ec3c1b175", "attributes": attributes()}},
			"status": object{"code": 2, "message": text("status")},
		}
	}
	b, err := json.Marshal(object{"resourceSpans": []object{{
		"resource": object{"attributes": attributes()},
		"scopeSpans": []object{{
			"scope": object{"name": text("scope"), "version": text("version"), "attributes": attributes()},
			"spans": []object{span("eee19b7ec3c1b174", ""), span("eee19b7ec3c1b176", strings.Repeat(" "+text("large"), 6000))},
		}},
	}}})
	must(t, err)
	return append(b, '\n')
}

// Under a policy that keeps no names, no output in any format contains a secret of any input, and neither does an
// output that is converted from a scrubbed trace. The outputs have contents.
func TestScrubbedOutputsOfAllFormats(t *testing.T) {
	dir := t.TempDir()
	inputs, tr := plantedInputs(t, dir)
	must(t, os.WriteFile(filepath.Join(dir, "policy"), []byte(secretgen.Strict(scrub.DefaultPolicy)), 0o600))
	for i, in := range inputs {
		base := filepath.Join("out", string(rune('a'+i)))
		must(t, os.MkdirAll(filepath.Join(dir, base), 0o700))
		flags := []string{"scrub", "--policy", "policy", "--key", scrubKey, "--methods", "hash", in}
		clean := filepath.Join(base, "clean.nettrace")
		succeed(t, dir, append(flags, clean)...)
		written := 0
		for n, to := range formats.Writable() {
			for k, args := range [][]string{append(flags, filepath.Join(base, "direct"+to.Exts[0])), {"convert", clean, filepath.Join(base, "later"+to.Exts[0])}} {
				if corpus.IsOmitted(i+n+k, 2) { // each input in every format, each format in both ways
					continue
				}
				r := invoke(t, dir, nil, args...)
				if r.code == 0 {
					written++
				} else if r.code != exitEmpty {
					t.Errorf("%s to %s (%d): code %d: %s", in, to.Name, k, r.code, r.stderr)
				}
			}
		}
		if written < 3 {
			t.Errorf("%s: %d outputs, which are too few", in, written)
		}
		r := invoke(t, dir, nil, "print", "--json", "--stacks", clean)
		must(t, os.WriteFile(filepath.Join(dir, base, "print.json"), []byte(r.stdout), 0o600))
	}
	searchSecrets(t, filepath.Join(dir, "out"), tr)
}

// searchSecrets reports the secrets in the files of a directory.
func searchSecrets(t *testing.T, dir string, tr *secretgen.Trace) {
	t.Helper()
	needles := []string{"planted"} // the names of the inputs
	for _, s := range tr.Secrets {
		needles = append(needles, s.Needles()...)
	}
	find := strings.NewReplacer(pairsOf(needles)...)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, part := range opened(t, path, b) {
			if text := find.Replace(part); text != part {
				at := strings.IndexByte(text, 0xff)
				for at >= 0 && !strings.HasPrefix(text[at:], marker) {
					next := strings.IndexByte(text[at+1:], 0xff)
					at += 1 + next
				}
				t.Errorf("%s: a secret after %q", path, text[max(0, at-80):at])
			}
		}
		return nil
	})
	must(t, err)
}

// marker replaces secrets that are found.
const marker = "\xff\xfesecret\xff"

func pairsOf(needles []string) (list []string) {
	for _, n := range needles {
		list = append(list, n, marker)
	}
	return list
}

// opened returns the contents of a file, decompressed and with the values of columns.
func opened(t *testing.T, path string, b []byte) []string {
	t.Helper()
	parts := []string{string(b)}
	add := func(r io.Reader, err error) {
		if err == nil {
			if b, err := io.ReadAll(r); err == nil || len(b) > 0 {
				parts = append(parts, opened(t, "member", b)...)
			}
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(b))
		add(r, err)
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(b))
		add(r, err)
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		must(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			add(r, err)
		}
	case bytes.HasPrefix(b, []byte("PAR1")):
		parts = append(parts, columnsOf(t, path, b))
	}
	return parts
}

// columnsOf returns the texts of all columns of a Parquet file.
func columnsOf(t *testing.T, path string, b []byte) string {
	t.Helper()
	f, err := parquetreader.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var all []int
	for i := range f.Columns() {
		all = append(all, i)
	}
	r := parquetreader.NewColumnsReader(f, all)
	defer r.Close()
	var rows parquetreader.Columns
	var text strings.Builder
	for left := f.Rows(); left > 0; left -= 100 {
		n := int(min(left, 100))
		if err := r.Read(&rows, n); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for row := range n {
			for c := range all {
				for _, v := range rows.Row(c, row) {
					text.WriteString(v.Text())
					text.WriteByte('\n')
				}
			}
		}
	}
	return text.String()
}
