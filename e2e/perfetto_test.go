package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// unknownField matches protoc's output for a field that is not in the schema.
var unknownField = regexp.MustCompile(`(?m)^ *[0-9]+(:| \{)`)

// protoc finds no field in any output of to perfetto that the schema does not have. The schema is perfetto.proto; NTCONV_PERFETTO_PROTO selects another one, such as perfetto_trace.proto
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
	r := run(t, command, "to", "perfetto", "--plain", "--samples", form, file, "-o", out)
	if r.code == 4 {
		return // only rundown, so there is no output
	}
	in, err := os.Open(out)
	must(t, err)
	defer in.Close()
	protoc := exec.Command("protoc", "--decode=perfetto.protos.Trace", "--proto_path="+filepath.Dir(schema), schema)
	protoc.Stdin, protoc.Stderr = in, os.Stderr
	text, err := protoc.Output()
	must(t, err)
	if unknown := unknownField.Find(text); unknown != nil {
		t.Errorf("the schema has no field %s", unknown)
	}
}
