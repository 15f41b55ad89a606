package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// unknownField matches protoc's output for a field that is not in the schema.
var unknownField = regexp.MustCompile(`(?m)^ *[0-9]+(:| \{)`)

// protoc decodes every output of to perfetto, and finds as many slices, instants, values, samples and flows as the
// summary states. The schema is perfetto.proto; NTCONV_PERFETTO_PROTO selects another one, such as perfetto_trace.proto
// of Perfetto's repository.
func TestPerfettoSchema(t *testing.T) {
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("protoc is missing: install protobuf-compiler")
	}
	schema := os.Getenv("NTCONV_PERFETTO_PROTO")
	if schema == "" {
		schema = "perfetto.proto"
	}
	files, err := filepath.Glob("../testdata/*.nettrace.zst")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no traces")
	}
	for _, file := range files {
		for _, form := range []string{"streaming", "stack-sample"} {
			t.Run(filepath.Base(file)+"/"+form, func(t *testing.T) { decodePerfetto(t, schema, file, form) })
		}
	}
}

func decodePerfetto(t *testing.T, schema, file, form string) {
	out := filepath.Join(t.TempDir(), "out.perfetto-trace")
	r := run(t, command, "to", "perfetto", "--plain", "--samples", form, "--report", "json", file, "-o", out)
	if r.code == 4 {
		return // only rundown, so there is no output
	}
	var want struct{ Slices, Instants, Counters, Samples, Flows, Items int64 }
	if err := json.Unmarshal(r.stderr, &want); err != nil {
		t.Fatalf("%v: %s", err, r.stderr)
	}
	in, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	protoc := exec.Command("protoc", "--decode=perfetto.protos.Trace", "--proto_path="+filepath.Dir(schema), schema)
	protoc.Stdin, protoc.Stderr = in, os.Stderr
	text, err := protoc.Output()
	if err != nil {
		t.Fatal(err)
	}
	if unknown := unknownField.Find(text); unknown != nil {
		t.Errorf("the schema has no field %s", unknown)
	}
	count := func(pattern string) int64 {
		return int64(len(regexp.MustCompile(`(?m)^ +`+pattern).FindAll(text, -1)))
	}
	// An instant that only has a flow is the end of an arrow inside a slice.
	arrows := count(`type: TYPE_INSTANT(\n +[a-z_]+: [0-9]+)*\n +(terminating_)?flow_ids:`)
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"slices", count("type: TYPE_SLICE_BEGIN"), want.Slices},
		{"ends of slices", count("type: TYPE_SLICE_END"), want.Slices},
		{"values of counters", count("type: TYPE_COUNTER"), want.Counters},
		{"samples", count("timestamp_delta_us:") + count(`stack_sample \{`), want.Samples},
		{"begins of flows", count("flow_ids:"), want.Flows},
		{"ends of flows", count("terminating_flow_ids:"), want.Flows},
		{"instants and losses", count("type: TYPE_INSTANT") - arrows, want.Items - want.Slices - want.Counters - want.Samples},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
}
