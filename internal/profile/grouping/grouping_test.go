package grouping_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/grouping"
)

// Modules of the stacks in these tests.
var (
	corelib = &ntconv.Mapping{File: "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/System.Private.CoreLib.dll"}
	shop    = &ntconv.Mapping{File: "/opt/shop/shop.dll"}
	libc    = &ntconv.Mapping{Start: 0x7000, Limit: 0x8000, File: "/usr/lib/x86_64-linux-gnu/libc.so.6", BuildID: "1"}
	libcToo = &ntconv.Mapping{Start: 0x9000, Limit: 0xa000, File: "/usr/lib/x86_64-linux-gnu/libc.so.6", BuildID: "1"}
	plugin  = &ntconv.Mapping{Start: 0xb000, Limit: 0xc000, File: "/opt/shop/libplugin.so"}
	heap    = &ntconv.Mapping{Start: 0xd000, Limit: 0xe000, File: "[heap]"}
)

// functions are distinct functions by name.
var functions = map[string]*ntconv.Function{}

// frame returns a frame of the function with that name. Its address depends on the function and n.
func frame(name string, m *ntconv.Mapping, flags ntconv.FrameFlags, n uint64) ntconv.Frame {
	f := functions[name]
	if f == nil {
		f = &ntconv.Function{Name: name}
		functions[name] = f
	}
	return ntconv.Frame{Func: f, Mapping: m, PC: uint64(len(name))<<8 | n, Flags: flags}
}

// stack returns a stack from names, leaf first: the prefix of a name determines its module and flags.
func stack(names ...string) *ntconv.Stack {
	s := &ntconv.Stack{}
	for i, name := range names {
		var m *ntconv.Mapping
		var flags ntconv.FrameFlags
		switch kind, _, _ := strings.Cut(name, "."); {
		case strings.HasPrefix(name, "libc+"):
			m, flags = []*ntconv.Mapping{libc, libcToo}[i%2], ntconv.FrameUnresolved
		case strings.HasPrefix(name, "libplugin+"):
			m, flags = plugin, ntconv.FrameUnresolved
		case strings.HasPrefix(name, "heap+"):
			m, flags = heap, ntconv.FrameUnresolved
		case strings.HasPrefix(name, "0xffff"):
			flags = ntconv.FrameUnresolved | ntconv.FrameKernel
		case strings.HasPrefix(name, "0x"):
			flags = ntconv.FrameUnresolved
		case strings.HasPrefix(name, "label"):
			flags = ntconv.FrameLabel
		case kind == "System":
			m, flags = corelib, ntconv.FrameManaged
		case kind == "Shop":
			m, flags = shop, ntconv.FrameManaged
		}
		s.Frames = append(s.Frames, frame(name, m, flags, uint64(i)))
	}
	return s
}

// show returns the names of the frames that rules show for a stack.
func show(n *grouping.Namer, s *ntconv.Stack) (names []string) {
	for _, f := range n.AppendFrames(nil, nil, s, 0) {
		names = append(names, f.Func.Name)
	}
	return names
}

// must returns rules with the given folds and groups; those with an = are groups.
func must(t testing.TB, r grouping.Rules, expressions ...string) *grouping.Rules {
	t.Helper()
	for _, x := range expressions {
		add := r.AddFold
		if strings.Contains(x, "=") {
			add = r.AddGroup
		}
		if err := add(x); err != nil {
			t.Fatal(err)
		}
	}
	return &r
}

func TestRules(t *testing.T) {
	mine, native := grouping.Rules{JustMyCode: true}, grouping.Rules{Native: true}
	for _, c := range []struct {
		what        string
		rules       grouping.Rules
		expressions []string
		in, want    string // leaf first
	}{
		{"nothing", grouping.Rules{}, nil, "System.Wait Shop.Main", "System.Wait Shop.Main"},
		{"no stack", mine, []string{"."}, "", ""},

		{"framework called by the program", mine, nil, "System.Wait System.Lock Shop.Scan Shop.Main", "Shop.Scan Shop.Main"},
		{"framework between", mine, nil, "Shop.Compare System.Sort Shop.Main", "Shop.Compare Shop.Main"},
		{"framework without a caller", mine, nil, "Shop.Work System.Run System.Start __clone", "Shop.Work __clone"},
		{"only framework", mine, nil, "System.Wait System.Start", "[framework]"},
		{"kernel and libraries of the system", mine, nil, "0xffff1 libc+1 Shop.Main", "Shop.Main"},
		{"native code of the program", mine, nil, "libc+1 libplugin+1 libplugin+2 Shop.Main", "libplugin+1 libplugin+2 Shop.Main"},
		{"addresses belong to their caller", mine, nil, "0x1 heap+1 Shop.Main 0x2", "Shop.Main"},
		{"addresses and framework", mine, nil, "0x1 System.Run", "[framework]"},
		{"only addresses", mine, nil, "0x1 heap+1", "0x1 heap+1"},
		{"labels are not code", mine, nil, "label1 System.Wait label2", "label1 [framework] label2"},
		{"a group is kept", mine, []string{"^System.Wait=waits"}, "System.Wait System.Lock Shop.Main System.Start", "waits Shop.Main"},

		{"fold", grouping.Rules{}, []string{"^Shop.A"}, "Shop.B Shop.A1 Shop.A2 Shop.C", "Shop.B Shop.C"},
		{"fold by module", grouping.Rules{}, []string{"^System.Private.CoreLib!"}, "System.Wait Shop.Main", "Shop.Main"},
		{"fold of the leaf", grouping.Rules{}, []string{"Wait"}, "System.Wait Shop.Main", "Shop.Main"},
		{"fold of the root", grouping.Rules{}, []string{"Main"}, "System.Wait Shop.Main", "System.Wait"},
		{"fold of everything", grouping.Rules{}, []string{"Wait", "."}, "System.Wait Shop.Main", "[folded]"},
		{"fold of a group", grouping.Rules{}, []string{"Wait|Lock=sync", "^sync$"}, "System.Wait Shop.Main", "Shop.Main"},
		{"the name before the group is gone", grouping.Rules{}, []string{"Wait=sync", "Wait"}, "System.Wait Shop.Main", "sync Shop.Main"},

		{"group", grouping.Rules{}, []string{"^System=framework"}, "System.A System.B Shop.Main System.C", "framework Shop.Main framework"},
		{"the first group applies", grouping.Rules{}, []string{"A=one", "System=two"}, "System.A System.B System.C Shop.Main", "one two Shop.Main"},
		{"entry group", grouping.Rules{}, []string{"^System=>lib"}, "System.A System.B Shop.Main System.C", "lib <<System.B>> Shop.Main lib <<System.C>>"},
		{"group by module", grouping.Rules{}, []string{"^([^!]*)!=${1} code"}, "System.A System.B Shop.Main", "System.Private.CoreLib code shop code"},
		{"names differ", grouping.Rules{}, []string{`^System\.(.)=$1`}, "System.A1 System.A2 System.B Shop.Main", "A B Shop.Main"},
		{"a name that is empty", grouping.Rules{}, []string{`^System(\.A)?=$1`}, "System.A System.B Shop.Main", ".A System.B Shop.Main"},
		{"dollar sign", grouping.Rules{}, []string{`A=$$1`}, "System.A", "$1"},
		{"adjacent after a fold", grouping.Rules{}, []string{"System=lib", "Shop"}, "System.A Shop.Main System.B", "lib"},
		{"= in the expression", grouping.Rules{}, []string{"a==b=eq"}, "a==b Shop.Main", "eq Shop.Main"},

		{"modules", native, nil, "libc+1 libc+2 Shop.Main libc+3 libplugin+1 heap+1 0x1 0xffff1", "[libc.so.6] Shop.Main [libc.so.6] [libplugin.so] [heap] 0x1 [kernel]"},
		{"fold by the name of a module", native, []string{`^\[libc`}, "libc+1 Shop.Main", "Shop.Main"},
		{"fold by the name before", native, []string{`libc\+1`}, "libc+1 libc+2 Shop.Main", "[libc.so.6] Shop.Main"},
	} {
		n := must(t, c.rules, c.expressions...).Namer(new(ntconv.NoNames))
		s := stack(strings.Fields(c.in)...)
		if got := strings.Join(show(n, s), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if sum := n.Summary(); sum.Frames != int64(len(s.Frames)) || sum.Shown != int64(len(show(n, s))) {
			t.Errorf("%s: %+v", c.what, sum)
		}
	}
}

// Expressions that cannot be meant are rejected when they are added.
func TestInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"":             "want REGEXP=NAME",
		"x":            "want REGEXP=NAME",
		"x=":           "want REGEXP=NAME",
		"x=>":          "want REGEXP=NAME",
		"=x":           "want REGEXP=NAME",
		"(=x":          "missing closing )",
		"x=$1":         "$1: the expression has no such subexpression, only 0",
		"(x)=$1_y":     "$1_y: the expression has no subexpression of that name; write ${1} if text follows",
		"(x)=${2}":     "${2}: the expression has no such subexpression, only 1",
		"(?P<a>x)=$ab": "$ab: the expression has no subexpression of that name",
	} {
		var r grouping.Rules
		if err := r.AddGroup(text); err == nil || !strings.Contains(err.Error(), want) || !r.Empty() {
			t.Errorf("group %q: %v, want %s", text, err, want)
		}
	}
	var r grouping.Rules
	for _, text := range []string{"", "("} {
		if err := r.AddFold(text); err == nil || !r.Empty() {
			t.Errorf("fold %q: %v", text, err)
		}
	}
	if err := r.AddGroup("(?P<a>x)=$a $1 ${a}"); err != nil || r.Empty() {
		t.Error(err)
	}
}

// An inlined function whose caller is removed or replaced is no longer inlined: the frame has its own location. Its
// address stays.
func TestInlined(t *testing.T) {
	chain := func(names ...string) *ntconv.Stack {
		s := stack(names...)
		for i := range s.Frames {
			s.Frames[i].PC = 0x42
			if i < len(names)-1 {
				s.Frames[i].Flags |= ntconv.FrameInlined
			}
		}
		return s
	}
	in := chain("Shop.A", "Shop.B", "Shop.C")
	in.Frames = append(in.Frames, stack("Shop.Main").Frames...)
	for rule, want := range map[string]string{
		"Shop.C":         "Shop.A+ Shop.B Shop.Main",
		"Shop.B":         "Shop.A+ Shop.C Shop.Main",
		"Shop.[BC]":      "Shop.A Shop.Main",
		"Shop.C|Main":    "Shop.A+ Shop.B",
		"Shop.C=x":       "Shop.A+ Shop.B x Shop.Main",
		"Shop.B=x":       "Shop.A x Shop.C Shop.Main",
		"Shop.[BC]|Ma=x": "Shop.A x",
		"Shop.A=x":       "x Shop.B+ Shop.C Shop.Main",
	} {
		var got []string
		for _, f := range must(t, grouping.Rules{}, rule).Namer(new(ntconv.NoNames)).AppendFrames(nil, nil, in, 0) {
			name := f.Func.Name
			if f.Flags&ntconv.FrameInlined != 0 {
				name += "+"
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", rule, text, want)
		}
	}
}

// words are the names of the frames of generated stacks.
var words = []string{
	"System.A", "System.B", "Shop.A", "Shop.B", "Shop.Main", "main", "libc+1", "libc+2", "libplugin+1", "heap+1", "0x1", "0xffff1", "label1",
}

// drawRules returns arbitrary rules and a function that says whether a name matches a fold.
func drawRules(t *rapid.T) (rules *grouping.Rules, folds func(string) bool) {
	r := grouping.Rules{JustMyCode: rapid.Bool().Draw(t, "mine"), Native: rapid.Bool().Draw(t, "native")}
	var list []*regexp.Regexp
	for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"A", "^Shop", "libc", "Main$", "."}), 0, 2).Draw(t, "folds") {
		if err := r.AddFold(text); err != nil {
			t.Fatal(err)
		}
		list = append(list, regexp.MustCompile(text))
	}
	for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"B=b", "^System=>s", `(\w)$=group $1`}), 0, 2).Draw(t, "groups") {
		if err := r.AddGroup(text); err != nil {
			t.Fatal(err)
		}
	}
	return &r, func(name string) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(name) })
	}
}

// For any rules and stacks: a stack with frames keeps at least one; frames that are not replaced are those of the
// stack, in order, with all labels; adjacent frames of a module are one; the flags of inlined functions fit the next
// frame; and the same stack gives the same frames again.
func TestAnyRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, _ := drawRules(t)
		n := rules.Namer(new(ntconv.NoNames))
		for range rapid.IntRange(1, 5).Draw(t, "stacks") {
			s := stack(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "names")...)
			inline(t, s)
			got := n.AppendFrames(nil, nil, s, 0)
			if again := n.AppendFrames(nil, nil, s, 0); !slices.Equal(got, again) {
				t.Fatalf("%v, then %v", got, again)
			}
			checkShown(t, s.Frames, got)
			if rules.Empty() && !slices.Equal(got, s.Frames) {
				t.Fatalf("%v, want %v", got, s.Frames)
			}
		}
	})
}

// inline makes some frames inlined into the next one.
func inline(t *rapid.T, s *ntconv.Stack) {
	for i := len(s.Frames) - 2; i >= 0; i-- {
		if f := &s.Frames[i]; f.Flags&ntconv.FrameLabel == 0 && s.Frames[i+1].Flags&ntconv.FrameLabel == 0 && rapid.IntRange(0, 3).Draw(t, "inlined") == 0 {
			f.PC, f.Mapping = s.Frames[i+1].PC, s.Frames[i+1].Mapping
			f.Flags |= ntconv.FrameInlined
		}
	}
}

func checkShown(t *rapid.T, recorded, shown []ntconv.Frame) {
	isLabel := func(f ntconv.Frame) bool { return f.Flags&ntconv.FrameLabel != 0 }
	code := func(list []ntconv.Frame) []ntconv.Frame { return slices.DeleteFunc(slices.Clone(list), isLabel) }
	if (len(code(recorded)) == 0) != (len(code(shown)) == 0) {
		t.Fatalf("%v is shown as %v", recorded, shown)
	}
	rest := recorded
	for i, f := range shown {
		if f.Flags&ntconv.FrameFolded != 0 {
			if i > 0 && shown[i-1].Func == f.Func {
				t.Fatalf("%s twice", f.Func.Name)
			}
			continue
		}
		at := slices.IndexFunc(rest, func(r ntconv.Frame) bool {
			r.Flags, f.Flags = r.Flags&^ntconv.FrameInlined, f.Flags&^ntconv.FrameInlined
			return r == f
		})
		if at < 0 || slices.ContainsFunc(rest[:at], isLabel) {
			t.Fatalf("%v is not a part of %v, or a label is missing", shown, recorded)
		}
		rest = rest[at+1:]
		if shown[i].Flags&ntconv.FrameInlined != 0 && (i == len(shown)-1 || shown[i+1].PC != f.PC) {
			t.Fatalf("%s is inlined into nothing: %v", f.Func.Name, shown)
		}
	}
	if slices.ContainsFunc(rest, isLabel) {
		t.Fatalf("a label of %v is missing", recorded)
	}
}

// Without other rules, a fold is a filter.
func TestFoldFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, folds := drawRules(t)
		rules.JustMyCode, rules.Native = false, false
		if len(rules.Groups()) > 0 {
			return
		}
		names := rapid.SliceOfN(rapid.SampledFrom(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "label1" })), 1, 8).Draw(t, "names")
		want := slices.DeleteFunc(slices.Clone(names), func(w string) bool {
			// libc+1 is in libc.so.6, and heap+1 in [heap], so expressions see no more in the module than in the name.
			return folds(w) || strings.HasPrefix(w, "Shop") && folds("shop!"+w) || strings.HasPrefix(w, "System") && folds("System.Private.CoreLib!"+w)
		})
		if len(want) == 0 {
			want = []string{"[folded]"}
		}
		if got := show(rules.Namer(new(ntconv.NoNames)), stack(names...)); !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", names, got, want)
		}
	})
}

// The counts of a Namer are of events.
func TestSummary(t *testing.T) {
	n := must(t, grouping.Rules{JustMyCode: true, Native: true}, "Scan", "Sort=sort", "nothing").Namer(new(ntconv.NoNames))
	for events, names := range map[int64]string{
		1:  "System.Wait Shop.Scan Shop.Main",
		10: "Shop.Sort System.Sort Shop.Main libplugin+1 libplugin+2",
	} {
		n.AppendGrouped(nil, nil, stack(strings.Fields(names)...).Frames, events)
	}
	want := grouping.Summary{
		Frames: 53, Shown: 31, JustMyCode: 1, Native: 20,
		Folds:  []grouping.Expression{{Text: "Scan", Frames: 1}, {Text: "nothing", Frames: 0}},
		Groups: []grouping.Expression{{Text: "Sort=sort", Frames: 20}},
	}
	if got := n.Summary(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Equal frames of unresolved modules are equal whichever mapping and address they have, so that stacks merge.
func TestModulesMerge(t *testing.T) {
	n := must(t, grouping.Rules{Native: true}).Namer(new(ntconv.NoNames))
	a := n.AppendFrames(nil, nil, stack("libc+1", "Shop.Main"), 0)
	b := n.AppendFrames(nil, nil, stack("libc+2", "Shop.Main"), 0)
	c := n.AppendFrames(nil, nil, &ntconv.Stack{Frames: []ntconv.Frame{frame("libc+3", libcToo, ntconv.FrameUnresolved, 9), b[1]}}, 0)
	if !slices.Equal(a, b) || !slices.Equal(b, c) {
		t.Errorf("%v\n%v\n%v", a, b, c)
	}
}

// A frame whose decision is known does not allocate.
func TestKnownDoesNotAllocate(t *testing.T) {
	n := must(t, grouping.Rules{JustMyCode: true, Native: true}, "Scan", "^Shop.B=>b").Namer(new(ntconv.NoNames))
	s := stack("libc+1", "System.Wait", "Shop.B", "Shop.Scan", "libplugin+1", "Shop.Main")
	dst := make([]ntconv.Frame, 0, 16)
	if got := testing.AllocsPerRun(100, func() { dst = n.AppendFrames(dst[:0], nil, s, 0) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
