package command

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagWords: each flag that proposed commands repeat has its value again when a shell and the flag parser have read
// the words. The values contain what shells and lists treat specially.
func TestFlagWords(t *testing.T) {
	command := func() *cobra.Command { return newApp(io.Discard, io.Discard).infoCmd() }
	n := 0
	command().Flags().VisitAll(func(f *pflag.Flag) {
		var values []string
		switch f.Value.Type() {
		case "bool":
			values = []string{"true", "false"}
		case "stringSlice":
			values = []string{`A*,"b,c"`, "d"}
		case "stringArray":
			values = []string{`name == "it's, $HOME"`, "a && !b"}
		case "stringToString":
			values = []string{"a b=c"}
		case "uintSlice":
			values = []string{"1,2", "3"}
		case "date":
			values = []string{"2026-11-21T06:52:53.5Z"}
		case "time":
			values = []string{"-2s"}
		case "string":
			values = []string{"fol'ded $x"}
		default:
			if values = formats.Choices(f); values == nil {
				values = []string{"12345", "0"}
			}
		}
		for i := range values {
			cmd := command()
			given := values[i:] // lists keep all, others the last
			for _, value := range given {
				if err := cmd.Flags().Set(f.Name, value); err != nil && value != "0" { // some limits cannot be lifted
					t.Fatalf("--%s %s: %v", f.Name, value, err)
				}
			}
			list := repeatedFlags(cmd)
			if len(list) == 0 {
				return
			}
			n++
			again := command()
			if err := again.Flags().Parse(shellWords(t, "ntconv "+list[0].words)); err != nil {
				t.Errorf("%s: %v", list[0].words, err)
				continue
			}
			want, got := cmd.Flags().Lookup(f.Name).Value, again.Flags().Lookup(f.Name).Value
			if want.String() != got.String() {
				t.Errorf("%s: %s, want %s", list[0].words, got, want)
			}
			if w, ok := want.(pflag.SliceValue); ok && !slices.Equal(w.GetSlice(), got.(pflag.SliceValue).GetSlice()) {
				t.Errorf("%s: %q, want %q", list[0].words, got, want)
			}
		}
	})
	if n < 20 {
		t.Errorf("%d values", n)
	}
}

// TestProposedCommands: where info needed flags to read the input, the commands that it and errors propose have them,
// too, and run.
func TestProposedCommands(t *testing.T) {
	dir := t.TempDir()
	data := string(unpacked(t, "activities"))
	header := len(data)<<3 | 1 // a raw block in a frame that needs a window of 256 MiB
	frame := "\x28\xb5\x2f\xfd\x00\x90" + string([]byte{byte(header), byte(header >> 8), byte(header >> 16)}) + data
	in := write(t, dir, "it's.zst", []byte(frame))
	flags := []string{"--max-zstd-window=256MiB", "--from", "nettrace", "--where", "$id >= 0", "--provider", "*"}
	r := invoke(t, dir, nil, append([]string{"info", "--json", in}, flags...)...)
	var info struct{ Extract []struct{ Command string } }
	if err := json.Unmarshal([]byte(r.stdout), &info); err != nil || len(info.Extract) == 0 {
		t.Fatalf("%v, code %d: %s", err, r.code, r.stderr)
	}
	const want = ` --from nettrace --max-zstd-window 256MiB --where '$id >= 0' '`
	for _, x := range info.Extract {
		if !strings.Contains(x.Command, want) {
			t.Errorf("%s: no %s", x.Command, want)
		}
		words := shellWords(t, x.Command)
		if words[0] == "view" { // it serves the profile until it is interrupted; top shows the same one
			words[0] = "top"
		}
		succeed(t, t.TempDir(), words...)
	}
	for _, args := range [][]string{{"to", "pprof", "--pid", "1"}, {"top", "--pid", "1"}} {
		args = append(args, "--max-zstd-window=256MiB", in)
		r := invoke(t, dir, nil, args...)
		_, proposed, ok := strings.Cut(r.stderr, "; for its ")
		if _, proposed, _ = strings.Cut(proposed, ": "); !ok {
			_, proposed, ok = strings.Cut(r.stderr, "; ntconv info")
			proposed, _, _ = strings.Cut("ntconv info"+proposed, " lists")
		}
		proposed, _, _ = strings.Cut(proposed, "; ")
		if r.code != exitEmpty || !ok || !strings.Contains(proposed, " --max-zstd-window 256MiB '") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
			continue
		}
		succeed(t, t.TempDir(), shellWords(t, proposed)...)
	}
}

// shellWords returns the arguments of an ntconv command as a shell splits them.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	command, ok := strings.CutPrefix(strings.TrimSpace(command), "ntconv ")
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+command).Output()
	if err != nil || !ok {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
