package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// profilesAtHand returns profiles of Go, C++ and Java in all formats that google/pprof reads, of .NET, and hostile
// ones.
func profilesAtHand(t *testing.T, dir string) (list []string) {
	t.Helper()
	list = append(corpus.GoogleFiles(t), corpus.Path("go-cpu.pb.gz"))
	for _, name := range []string{"pprof-not-utf8.pb", "xss.pb"} {
		list = append(list, write(t, dir, name, corpus.Read(t, corpus.Path(filepath.Join("hostile", name+".zst")))))
	}
	return append(list, write(t, dir, "shop.pb.gz", testProfile(t, "shop")), write(t, dir, "timed.pb.gz", timedProfile(t)))
}

// timedProfile returns a profile whose samples have times in a label, and two samples of the same time and stack.
func timedProfile(t *testing.T) []byte {
	t.Helper()
	f := &profile.Function{ID: 1, Name: "main.main"}
	loc := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Function: []*profile.Function{f}, Location: []*profile.Location{loc}}
	for i, at := range []int64{30, 10, 30, 0, 20} {
		s := &profile.Sample{Location: []*profile.Location{loc}, Value: []int64{int64(1000 + i)}}
		if at > 0 {
			s.NumLabel = map[string][]int64{"timestamp": {at}}
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestVerifyProfiles: each profile equals what becomes of it by way of a nettrace file and back, and by writing it
// again, although samples are then added up and in another order. It differs from itself with a changed sample.
func TestVerifyProfiles(t *testing.T) {
	dir := t.TempDir()
	tested := 0
	for i, f := range profilesAtHand(t, dir) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && len(data) > 100_000 || corpus.IsOmitted(i, 3) {
			continue
		}
		p, err := profile.ParseData(data)
		if err != nil {
			continue // a text of google's tests
		}
		tested++
		out := func(ext string) string { return filepath.Join(dir, fmt.Sprint(i, ext)) }
		for _, args := range [][]string{
			{"to", "nettrace", f, "-o", out(".nettrace")}, {"to", "pprof", out(".nettrace"), "-o", out(".back.pb.gz")},
			{"to", "pprof", f, "-o", out(".again.pb.gz")},
		} {
			if r := invoke(t, dir, nil, args...); r.code != exitOK {
				t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
			}
		}
		for _, other := range []string{out(".back.pb.gz"), out(".again.pb.gz")} {
			r := invoke(t, dir, nil, "verify", f, other)
			if r.code != exitOK || !strings.HasPrefix(r.stdout, "equal: ") || !strings.Contains(r.stdout, " distinct sample") {
				t.Errorf("%s and %s: code %d: %s%s", f, other, r.code, r.stdout, r.stderr)
			}
		}
		p.Sample[0].Value[0]++
		var changed bytes.Buffer
		if err := p.Write(&changed); err != nil {
			t.Fatal(err)
		}
		r := invoke(t, dir, changed.Bytes(), "verify", f, "-")
		if r.code != exitDifferent || !strings.Contains(r.stderr, "differ: 1 of ") || strings.ContainsAny(r.stderr, "{}") {
			t.Errorf("%s with a changed sample: code %d: %s%s", f, r.code, r.stdout, r.stderr)
		}
	}
	if tested < 8 {
		t.Errorf("only %d profiles", tested)
	}
}

// TestVerifyFoldedStacks: folded stacks equal themselves in another order.
func TestVerifyFoldedStacks(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a.folded", []byte("main;f 3\nmain;g 4\n"))
	for content, code := range map[string]int{
		"main;g 4\nmain;f 1\nmain;f 2\n": exitOK, "main;g 4\nmain;f 2\n": exitDifferent, "main;g 4\n": exitDifferent,
	} {
		if r := invoke(t, dir, []byte(content), "verify", a, "-"); r.code != code {
			t.Errorf("%q: code %d, want %d: %s%s", content, r.code, code, r.stdout, r.stderr)
		}
	}
}
