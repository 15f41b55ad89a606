package scrub

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// Errors of a policy name the file and the line, also those that need the whole policy.
func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"class nope keep", `class "nope"`},
		{"class hots keep", `similar: host`},
		{"field A/B.C nope", `no class "nope"`},
		{"key attribute k nope", `no class "nope"`},
		{"key argumnet k text", `similar: argument`},
		{"class region", `class with 2 words`},
	} {
		_, err := NewPolicy([]string{"own.txt"}, []string{"# first\n" + c.line + "\n"})
		if !errors.Is(err, ErrPolicy) || !strings.Contains(err.Error(), "own.txt: line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s at line 2", c.line, err, c.want)
		}
	}
	if _, err := NewPolicy([]string{"own"}, []string{"class region one-of\nkey attribute cloud.region region\n"}); err != nil {
		t.Error(err)
	}
}

// Similar fields are those that differ in few letters from a pattern, in each of their parts.
func TestSimilarFields(t *testing.T) {
	n := newNames(true)
	for _, f := range []string{"Universal.System/ProcessSymbol.Name", "Universal.System/ProcessMapping.FileName", "Shop/Placed.Customer"} {
		provider, path, _ := strings.Cut(f, "/")
		n.providers[provider] = true
		n.addField(provider, path)
	}
	for pattern, want := range map[string][]string{
		"*/ProcessSymbol.Nmae": {"Universal.System/ProcessSymbol.Name"},
		"Shpo/Placed.Customer": {"Shop/Placed.Customer"},
		"Nope/Nope.Nope":       nil,
		"Universal.Sytem":      {"Universal.System"},
	} {
		if got := n.near(&rule{text: pattern}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// Names of mappings without a file stay with all options, because readers recognize them by their text. So does a label
// that profiles omit, and only this label.
func TestRecognizedTexts(t *testing.T) {
	s, err := New(Options{HashMethods: true, HashIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	module := s.policy.class(classMapped)
	for _, name := range []string{
		"[heap]", "[vdso]", "[stack]", "[vsyscall]", "[kernel.kallsyms]", "//anon", "/memfd:doublemapper",
		"/memfd:doublemapper (deleted)", "vmlinux",
	} {
		if got := s.words.string(name, module); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	for _, secret := range []string{"/opt/secret/secret.so", "[anon:secret]", "/memfd:secret (deleted)", "[secret]"} {
		if got := s.words.string(secret, module); strings.Contains(got, "secret") || len(got) != len(secret) {
			t.Errorf("%s became %s", secret, got)
		}
	}
	m := newModel(s.words, s.tally)
	for _, c := range []struct {
		label ntconv.Label
		same  bool
	}{
		{placeholderLabel, true},
		{ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual secrets"}, false},
		{ntconv.Label{Kind: ntconv.LabelString, Key: "Errors", Str: "Expected actual values"}, false},
	} {
		if got := m.createLabels(ntconv.NewLabels([]ntconv.Label{c.label})).List()[0]; (got == c.label) != c.same {
			t.Errorf("%v became %v", c.label, got)
		}
	}
}

// The name of a program has one replacement as the name of a process, of a mapping and in a command line, with and
// without its path. The names of libraries and assemblies stay.
func TestProgramsAndProcesses(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(class, text string) string { return s.words.string(text, s.policy.class(class)) }
	process := of(classProcess, "Acme.shop")
	if strings.Contains(strings.ToLower(process), "acme") || strings.Contains(process, "shop") {
		t.Fatalf("Acme.shop became %s", process)
	}
	for _, c := range [][2]string{
		{classMapped, "Acme.shop"}, {classMapped, "/usr/Acme.shop"}, {classMapped, "/usr/Acme.shop (deleted)"}, {classMapped, `\Users\Acme.shop.exe`},
		{"module", "/usr/Acme.shop"}, {"command-line", "/usr/Acme.shop"},
	} {
		if got, want := of(c[0], c[1]), strings.Replace(c[1], "Acme.shop", process, 1); got != want {
			t.Errorf("%s: %s became %s, want %s", c[0], c[1], got, want)
		}
	}
	for _, c := range [][2]string{
		{classMapped, "/lib/libc.so.6"}, {classMapped, "/usr/share/dotnet/dotnet"}, {classMapped, "/usr/lib/Acme.shop.dll"}, {"module", "/usr/Acme.shop.dll"},
		{"module", "Acme.shop"}, {"module", "Anonymously Hosted DynamicMethods Assembly"},
	} {
		if got := of(c[0], c[1]); got != c[1] {
			t.Errorf("%s: %s became %s", c[0], c[1], got)
		}
	}
}

// The patterns of a profile are texts, which stay regular expressions. If names of methods have pseudonyms, patterns have
// the same ones.
func TestPatternsOfProfiles(t *testing.T) {
	for _, hashed := range []bool{false, true} {
		s, err := New(Options{HashMethods: hashed})
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(s.words, s.tally)
		for _, pattern := range []string{`^acme\.(secret|shop)$`, `acme`, `\d+\wacme\bshop\x41`, `\pLacme\Qsecret`} {
			got := m.attrs("attributes", ntconv.Attrs{{Key: "pprof.drop_frames", Value: pattern}, {Key: "pprof.keep_frames", Value: pattern}})
			for _, a := range got {
				if _, err := regexp.Compile(a.Value); err != nil || strings.Contains(a.Value, "acme") || strings.Contains(a.Value, "secret") {
					t.Errorf("%s became %s (%v)", pattern, a.Value, err)
				}
			}
			if name := m.string("names", "acme.secret", classMethod); hashed && pattern[0] == '^' && !regexp.MustCompile(got[0].Value).MatchString(name) {
				t.Errorf("%s became %s, which does not match %s", pattern, got[0].Value, name)
			}
		}
	}
}
