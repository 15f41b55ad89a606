package command

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
)

// Every trace of testdata, rewritten in either order, is the same trace, gives the same profile, and is not changed by
// another rewriting. In file order not even the order of reading matters.
func TestRewriting(t *testing.T) {
	for _, f := range someTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			original := write(t, dir, "original.nettrace", f.Data)
			profile := convertedBy(t, dir, original, "to", "pprof")
			for _, order := range []string{"time", "file"} {
				out := filepath.Join(dir, order+".nettrace")
				rewritten := convertedBy(t, dir, original, "to", "nettrace", "--order", order)
				write(t, dir, order+".nettrace", rewritten)
				for _, reading := range []string{order, "time"} {
					r := invoke(t, dir, nil, "verify", "--ignore", "damage", "--order", reading, original, out)
					if r.code != exitOK || !strings.HasPrefix(r.stdout, "equal: ") || r.stderr != "" {
						t.Errorf("rewritten by %s, read by %s: code %d, %s%s", order, reading, r.code, r.stdout, r.stderr)
					}
				}
				if again := convertedBy(t, dir, out, "to", "nettrace", "--order", order); !bytes.Equal(again, rewritten) {
					t.Errorf("by %s: rewriting the rewritten trace changes it", order)
				}
				if p := convertedBy(t, dir, out, "to", "pprof"); !cutOff[f.Name] && !bytes.Equal(p, profile) {
					t.Errorf("by %s: the profile of the rewritten trace is another one", order)
				}
			}
		})
	}
}

// TestDefaultOrder: a trace is written in the order of the input unless the user asks for another one,
// and is not larger than its input: not at all with stacks, at most 2% larger without.
func TestDefaultOrder(t *testing.T) {
	for _, f := range someTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			dir := t.TempDir()
			original := write(t, dir, "original.nettrace", f.Data)
			byFile := convertedBy(t, dir, original, "to", "nettrace", "--order", "file")
			checkSize(t, f, len(byFile))
			for name, args := range map[string][]string{
				"to nettrace": {"to", "nettrace", "-o", "-", original}, "convert": {"convert", "--to", "nettrace", original, "-"}, "filter": {"filter", original, "-"},
			} {
				if r := invoke(t, dir, nil, args...); r.stdout != string(byFile) {
					t.Errorf("%s: %d bytes are not those of --order file, code %d: %s", name, len(r.stdout), r.code, r.stderr)
				}
			}
			byTime := convertedBy(t, dir, original, "to", "nettrace", "--order", "time")
			if r := invoke(t, dir, nil, "convert", "--order", "time", "--to", "nettrace", original, "-"); r.stdout != string(byTime) {
				t.Errorf("convert --order time: %d bytes, not the %d of to nettrace, code %d: %s", len(r.stdout), len(byTime), r.code, r.stderr)
			}
			if f.Name == "threads" && bytes.Equal(byFile, byTime) {
				t.Error("both orders are the same, which shows nothing")
			}
		})
	}
}

// TestSizeByDefault holds the law of sizes against the traces beside the checkout.
func TestSizeByDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("150 MB are not rewritten in short mode")
	}
	for _, f := range corpus.SharedTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			dir := t.TempDir()
			original := write(t, dir, "original.nettrace", f.Data)
			got := convertedBy(t, dir, original, "to", "nettrace", "--allow-prerelease")
			checkSize(t, f, len(got))
			// Those are always in time order, and known to be: memory for their stacks need not grow to the
			// end.
			if bytes.Contains(f.Data[:32], []byte("!FastSerialization")) && !bytes.HasPrefix(f.Data, []byte("Nettrace")) {
				if byTime := convertedBy(t, dir, original, "to", "nettrace", "--order", "time"); !bytes.Equal(got, byTime) {
					t.Errorf("%d bytes in file order and %d by time are not the same", len(got), len(byTime))
				}
			}
		})
	}
}

func checkSize(t *testing.T, f corpus.File, got int) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{AllowPrerelease: true})
	must(t, err)
	stacks := false
	for e := range ntconv.Events(src) {
		if stacks = e != nil && e.Stack != nil; stacks || e == nil {
			break
		}
	}
	n := len(f.Data)
	if got == 0 || stacks && got > n || got > n+n/50 {
		t.Errorf("%d bytes become %d; stacks: %v", n, got, stacks)
	}
}

// cutOff are truncated traces. The comments of their profiles state that; a rewritten trace has an
// end.
var cutOff = map[string]bool{"crash": true, "stress-cut": true}

// convertedBy returns the output of a command, nil if it is empty.
func convertedBy(t *testing.T, dir, in string, args ...string) []byte {
	t.Helper()
	r := invoke(t, dir, nil, append(args, "-q", "-o", "-", in)...)
	if r.code != exitOK && r.code != exitEmpty && r.code != exitIncomplete {
		t.Fatalf("%q: code %d, %s", args, r.code, r.stderr)
	}
	return []byte(r.stdout)
}

// disordered returns a trace with flags that events after them belie, in blocks of random sizes.
func disordered(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	s := wirestream.New(&b, wire.V6)
	s.Threads(wire.Thread{Index: 1, TID: 1, PID: 1})
	s.Types(wirestream.Type{ID: 1, Provider: "Prov", Event: 1, Name: "E"})
	block := s.Events()
	for i := range 40 {
		if r.IntN(4) == 0 {
			block.Flush()
		}
		block.Add(&wire.EventHeader{
			MetadataID: 1, CaptureThread: 1, Thread: 1, Sequence: uint32(i + 1), Time: uint64(1000 + 10*i + r.IntN(60)), Sorted: r.IntN(3) == 0,
		}, nil)
	}
	block.Flush()
	s.End()
	return b.Bytes()
}

// TestFalseFlags: a trace with flags that are wrong about the order of events is rewritten as it is, which is said, and
// verify finds both equal, in either order.
func TestFalseFlags(t *testing.T) {
	dir, otherwise := t.TempDir(), 0
	for seed := range uint64(30) {
		in, out := write(t, dir, "in.nettrace", disordered(seed)), filepath.Join(dir, "out.nettrace")
		r := invoke(t, dir, nil, "to", "nettrace", in, "-o", out, "--force")
		if r.code != exitOK || !strings.Contains(r.stderr, "out-of-order") || !strings.Contains(r.stderr, "flag") {
			t.Errorf("%d: code %d, nothing is said of the flags: %s", seed, r.code, r.stderr)
		}
		for _, order := range []string{"file", "time"} {
			r := invoke(t, dir, nil, "verify", "--order", order, in, out)
			if r.code != exitOK || !strings.HasPrefix(r.stdout, "equal: 40 events") {
				t.Errorf("%d: by %s: code %d: %s%s", seed, order, r.code, r.stdout, r.stderr)
			}
			if strings.Contains(r.stdout, "in file order") {
				otherwise++
			}
		}
		changed := disordered(seed)
		changed[bytes.Index(changed, []byte("Prov"))] = 'Q'
		if r := invoke(t, dir, changed, "verify", in, "-"); r.code != exitDifferent {
			t.Errorf("%d: another provider: code %d: %s%s", seed, r.code, r.stdout, r.stderr)
		}
		again := write(t, dir, "changed.nettrace", changed)
		if r := invoke(t, dir, nil, "verify", in, again); r.code != exitDifferent || !strings.Contains(r.stderr, "provider") {
			t.Errorf("%d: another provider: code %d: %s%s", seed, r.code, r.stdout, r.stderr)
		}
	}
	if otherwise == 0 {
		t.Error("no comparison by time found another order")
	}
}
