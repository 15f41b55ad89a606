package folded_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/importers/folded"
	importpprof "github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/sample"
)

func open(t readable.Failer, text string, o folded.Options) ntconv.Source {
	t.Helper()
	src, err := folded.New(strings.NewReader(text), &o)
	readable.Must(t, err)
	return ntconvtest.Poison(src)
}

// fold writes the samples of a source as folded stacks.
func fold(t readable.Failer, src ntconv.Source, namer ntconv.Namer, o export.Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Kind, o.Annotate = sample.Imported, true
	sink := export.New(&out, src.Info(), namer, &o)
	readable.Copy(t, sink, src)
	return out.String()
}

// throughPprof writes a source as a pprof profile and folds what is imported.
func throughPprof(t readable.Failer, src ntconv.Source) string {
	t.Helper()
	var file bytes.Buffer
	readable.Copy(t, pprof.New(&file, src.Info(), nil, &pprof.Options{Uncompressed: true}), src)
	back, err := importpprof.New(&file, nil)
	readable.Must(t, err)
	return fold(t, back, nil, export.Options{})
}

// names are function names that are preserved; those with a suffix get it back with Annotate.
var names = rapid.SampledFrom([]string{
	"main", "a", "a b", "operator new(unsigned long)", "std::vector<int, std::allocator<int> >::push_back", "[unknown]", "Lérida→", "0x7f00", "libc.so.6+0x12",
	"vfs_read_[k]", "scan_[j]", "Program.Main(class System.String[])", "12", "#tag", "-", "a#1", "unix`idle", "\"worker 1\"",
})

// TestIdentity: text that is imported and exported is unchanged except for the order and merging of lines, directly,
// through a nettrace file, and, apart from annotations, through a pprof profile. The expected lines come from the
// generator, not from the parser.
func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roots := rapid.Bool().Draw(t, "roots")
		ends := rapid.SampledFrom([]string{"\n", "\r\n", " \n", "\n\n", "\n# comment 5\n"})
		var text strings.Builder
		sums, plain := map[string]int64{}, map[string]int64{}
		unmark := strings.NewReplacer("_[k]", "", "_[j]", "")
		for range rapid.IntRange(0, 30).Draw(t, "lines") {
			frames := rapid.SliceOfN(names, 1, 12).Draw(t, "frames")
			if rapid.IntRange(0, 9).Draw(t, "no stack") == 0 {
				frames = []string{"[no stack]"}
			}
			if roots {
				frames = append([]string{fmt.Sprintf("shop %d-%d", len(frames)%2, 40+len(frames)%2), fmt.Sprintf("till-%d", len(frames))}, frames...)
			}
			value := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, math.MaxInt64/64)).Draw(t, "value")
			line := strings.Join(frames, ";")
			fmt.Fprintf(&text, "%s %d%s", line, value, ends.Draw(t, "end"))
			sums[line] += value
			plain[unmark.Replace(line)] += value
		}
		o, eo := folded.Options{ProcessRoot: roots, ThreadRoot: roots}, export.Options{ProcessRoot: roots, ThreadRoot: roots}
		want := lines(sums)
		if got := sortLines(fold(t, open(t, text.String(), o), nil, eo)); got != want {
			t.Fatalf("direct:\n%s\nwant\n%s", got, want)
		}
		src, table := readable.ThroughNettrace(t, open(t, text.String(), o))
		if got := sortLines(fold(t, src, table, eo)); got != want {
			t.Fatalf("through nettrace:\n%s\nwant\n%s", got, want)
		}
		if got, want := sortLines(throughPprof(t, open(t, text.String(), folded.Options{}))), lines(plain); got != want {
			t.Fatalf("through pprof:\n%s\nwant\n%s", got, want)
		}
	})
}

// lines returns the lines with a value, sorted as text.
func lines(sums map[string]int64) string {
	var b strings.Builder
	for line, n := range maps.All(sums) {
		if n > 0 {
			fmt.Fprintf(&b, "%s %d\n", line, n)
		}
	}
	return sortLines(b.String())
}

func sortLines(text string) string {
	list := strings.SplitAfter(text, "\n")
	slices.Sort(list)
	return strings.Join(list, "")
}

// TestPprofTypes checks that a profile that is converted from folded stacks has the types that the options state.
func TestPprofTypes(t *testing.T) {
	src := open(t, "main;read 5\n", folded.Options{SampleType: "inuse_space", Unit: "bytes"})
	var file bytes.Buffer
	readable.Copy(t, pprof.New(&file, src.Info(), nil, nil), src)
	back, err := importpprof.New(&file, nil)
	readable.Must(t, err)
	var out bytes.Buffer
	text := export.New(&out, back.Info(), nil, nil)
	readable.Copy(t, text, back)
	if s := text.Summary(); s.Main != (sample.Type{Type: "inuse_space", Unit: "bytes"}) || s.Events != 1 || out.String() != "main;read 5\n" {
		t.Errorf("%+v, %s", s, &out)
	}
}
