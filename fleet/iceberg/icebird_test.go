package iceberg

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
)

// Icebird, which shares no code with iceberg-go and with the writer of the files, reads the same rows.
func TestIcebird(t *testing.T) {
	script, err := filepath.Abs("../../e2e/icebird.mjs")
	must(t, err)
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "node_modules", "icebird")); err != nil {
		t.Skip("not installed (npm --prefix e2e ci): ", err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: ", err)
	}
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "jit", "cpu-env", "--service", "a/b c%")
	addTraces(t, set, "threads")
	l := openLake(t, directory(dir))
	_, err = publish(l, set)
	must(t, err)
	succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
	_, err = publish(l, set)
	must(t, err)
	s := stateOf(t, set)
	args := []string{script}
	var names []string
	for i := range s.Tables {
		if len(s.Tables[i].Files) > 0 {
			names = append(names, s.Tables[i].Name)
			args = append(args, tableOf(t, l, s.Tables[i].Name).MetadataLocation())
		}
	}
	var problems bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(names) || len(lines) < 20 {
		t.Fatalf("%d lines for %d tables", len(lines), len(names))
	}
	integers := 0
	for i, line := range lines {
		var got struct {
			Rows    int64
			Columns map[string]struct {
				Values int64
				Sum    int64 `json:",string"`
			}
		}
		must(t, json.Unmarshal(line, &got))
		table := s.Table(names[i])
		if got.Rows != table.Rows() {
			t.Errorf("%s: %d rows, want %d", names[i], got.Rows, table.Rows())
		}
		want := parquetSums(t, table.Files)
		for _, f := range tableOf(t, l, names[i]).Schema().Fields() {
			if _, ok := f.Type.(iceberg.PrimitiveType); !ok {
				continue
			}
			if has := got.Columns[f.Name].Values; has != want[f.Name].values {
				t.Errorf("%s: column %s: %d values, want %d", names[i], f.Name, has, want[f.Name].values)
			}
			if f.Type.Equals(iceberg.PrimitiveTypes.Int32) || f.Type.Equals(iceberg.PrimitiveTypes.Int64) {
				integers++
				if has := got.Columns[f.Name].Sum; has != want[f.Name].total {
					t.Errorf("%s: column %s: sum %d, want %d", names[i], f.Name, has, want[f.Name].total)
				}
			}
		}
	}
	t.Logf("%d tables, %d columns of integers", len(names), integers)
}
