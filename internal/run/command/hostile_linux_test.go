package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// An attack is a run of the command on an adversarial input, and bounds on its cost. IN in args represents
// the input, OUT for an output in an empty directory, @NAME for another input.
type attack struct {
	file string // of testdata/hostile
	args string
	code int
	out  int64  // most bytes on standard output and in files
	mib  int64  // most memory, in MiB resident at any time
	says string // part of standard error
}

// attacks has at least one run for every file of testdata/hostile.
var attacks = slices.Concat(attacksOnMemory, attacksOnPrinting, attacksOnSymbols, attacksOnFiles, attacksOnOutput,
	attacksOnGrowth, attacksOnViews, attacksOnVerify)

// attacksOnPrinting are on commands that print or store payloads.
var attacksOnPrinting = []attack{
	{file: "locbomb.nettrace", args: "print IN", out: 16 << 10, mib: 100},
	{file: "locbomb.nettrace", args: "print --json IN", out: 16 << 10, mib: 100},
	{file: "locarray.nettrace", args: "print --json IN", out: 4 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "print --json IN", out: 4 << 20, mib: 120},
	{file: "locbomb.nettrace", args: "print --stats --by a --of a IN", out: 16 << 10, mib: 100},
	{file: "locarray.nettrace", args: "print --stats --by a IN", out: 4 << 20, mib: 120},
	{file: "dataloc.nettrace", args: "print --stats --json --by \"\" IN", out: 4 << 20, mib: 120},
}

// Adversarial inputs stay within bounds of memory and space, and end with the exit code that says what
// happened.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the race detector multiplies time and memory")
	}
	for _, tt := range attacks {
		t.Run(tt.file+"/"+tt.args, func(t *testing.T) {
			t.Parallel()
			tt.run(t)
		})
	}
}

func (tt *attack) run(t *testing.T) {
	in, work := t.TempDir(), t.TempDir()
	var args []string
	for _, arg := range strings.Fields(tt.args) {
		switch {
		case arg == "IN":
			arg = unpackHostile(t, in, tt.file)
		case strings.HasPrefix(arg, "@"):
			arg = unpackHostile(t, in, arg[1:])
		default:
			arg = strings.Replace(arg, "OUT", filepath.Join(work, "out"), 1)
		}
		args = append(args, arg)
	}
	cmd := command(t, work, args...)
	var out counter
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	peak, err := measure(t, cmd)
	if code := exitCode(t, err); code != tt.code || !strings.Contains(errs.String(), tt.says) {
		t.Errorf("exit code %d, want %d and %q: %s", code, tt.code, tt.says, errs.String())
	}
	if n := int64(out) + sizeOf(t, work); n > tt.out {
		t.Errorf("%d bytes of output, want at most %d", n, tt.out)
	}
	if peak > tt.mib {
		t.Errorf("%d MiB of memory, want at most %d", peak, tt.mib)
	}
	t.Logf("exit code %d, %d bytes of output, %d MiB: %s", cmd.ProcessState.ExitCode(), int64(out)+sizeOf(t, work), peak, errs.String())
}

// Every hostile input is part of an attack.
func TestAttacksAreComplete(t *testing.T) {
	for _, name := range corpus.HostileNames(t) {
		if !slices.ContainsFunc(attacks, func(a attack) bool { return a.file == name || strings.Contains(a.args, "@"+name) }) {
			t.Errorf("no attack with %s", name)
		}
	}
}

// counter is a writer that counts.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func unpackHostile(t *testing.T, dir, name string) string {
	t.Helper()
	return write(t, dir, name, corpus.Hostile(t, name).Data)
}

// sizeOf returns the bytes of all files below a directory.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	must(t, err)
	return n
}
